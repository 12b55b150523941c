package credentials

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// A second factor is a secret that the panel shares with an app of the user. The
// app shows a code that follows from the secret and the time (TOTP, RFC 6238).

const (
	factorPurpose = "second factor" // sealing purpose of the secrets
	factorSize    = 20              // bytes of a secret, as RFC 4226 recommends for SHA-1
	stepSeconds   = 30
	stepsAside    = 1 // a code of so many steps earlier or later is accepted
)

// proposalLives is the condition of a secret that may still be confirmed.
const proposalLives = `confirmed_at is null and proposed_at > real_now() - interval '1 hour'`

// ErrProposal means that there is no secret to confirm: it was confirmed,
// replaced, or is older than an hour.
var ErrProposal = errors.New("no second factor is being set up")

// NewFactorSecret makes the secret of a second factor, in the form in which
// apps take it: base32.
func NewFactorSecret() string { return factorText(sealing.Random(factorSize)) }

func factorText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// ProposeFactor keeps the secret of a second factor that is being set up. It
// replaces an earlier proposal. Of a user who has a second factor, it returns
// [ErrProposal].
func (v *Vault) ProposeFactor(ctx context.Context, user int64, secret string) error {
	box := v.keys.Seal(factorPurpose, strconv.FormatInt(user, 10), []byte(secret))
	tag, err := v.pool.Exec(ctx, `
		insert into second_factors (user_id, key_id, nonce, sealed) values ($1, $2, $3, $4)
		on conflict (user_id) do update set key_id = excluded.key_id, nonce = excluded.nonce, sealed = excluded.sealed,
			proposed_at = real_now()
		where second_factors.confirmed_at is null`, user, box.KeyID, box.Nonce, box.Box)
	switch {
	case err != nil:
		return fmt.Errorf("keep the secret of a second factor: %w", eventstore.Unavailable(err))
	case tag.RowsAffected() == 0:
		return ErrProposal
	}
	return nil
}

// ProposedFactor returns the secret that is being set up, or [ErrProposal].
func (v *Vault) ProposedFactor(ctx context.Context, user int64) (secret string, err error) {
	secret, _, _, err = v.factor(ctx, user, proposalLives)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrProposal
	}
	return secret, err
}

// ConfirmFactor checks a code of the proposed secret. The statement that it
// returns puts the secret in force; the code is used up. It returns no
// statement for a wrong code, and [ErrProposal] if nothing is proposed.
func (v *Vault) ConfirmFactor(ctx context.Context, user int64, code string) ([]eventstore.TxStatement, error) {
	secret, box, now, err := v.factor(ctx, user, proposalLives)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrProposal
	}
	if err != nil {
		return nil, err
	}
	step, ok := stepOf(secret, code, now)
	if !ok {
		return nil, nil
	}
	return []eventstore.TxStatement{{
		Key: factorKey(user),
		SQL: `update second_factors set confirmed_at = real_now(), last_step = $3 where user_id = $1 and nonce = $2
			and confirmed_at is null`,
		Args: []any{user, box.Nonce, step}, WantRows: 1, ErrIfNot: ErrProposal,
	}}, nil
}

func factorKey(user int64) string { return fmt.Sprintf("second_factors/%d", user) }

// DropFactorRows delete the second factor of a user, with the recovery codes.
func DropFactorRows(user int64) (rows []eventstore.TxStatement) {
	for _, table := range []string{"pending_sign_ins", "recovery_codes", "second_factors"} {
		rows = append(rows, ofUser(table, user))
	}
	return rows
}

// UseFactorCode tells whether a code is right, and uses it up: of many uses at
// once one is right. An older code than the last one is wrong.
func (v *Vault) UseFactorCode(ctx context.Context, user int64, code string) (bool, error) {
	secret, _, now, err := v.factor(ctx, user, `confirmed_at is not null`)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	step, ok := stepOf(secret, code, now)
	if !ok {
		return false, nil
	}
	tag, err := v.pool.Exec(ctx, `update second_factors set last_step = $2 where user_id = $1 and last_step < $2`, user, step)
	if err != nil {
		return false, fmt.Errorf("use a code of a second factor: %w", eventstore.Unavailable(err))
	}
	return tag.RowsAffected() == 1, nil
}

// factor reads the secret of a user, with the time of the database, which all
// processes share.
func (v *Vault) factor(ctx context.Context, user int64, condition string) (secret string, box sealing.Sealed, now time.Time, err error) {
	err = v.pool.QueryRow(ctx, `select key_id, nonce, sealed, real_now() from second_factors where user_id = $1 and `+condition, user).
		Scan(&box.KeyID, &box.Nonce, &box.Box, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", box, now, err
	}
	if err != nil {
		return "", box, now, fmt.Errorf("read a second factor: %w", eventstore.Unavailable(err))
	}
	text, err := v.keys.Open(factorPurpose, strconv.FormatInt(user, 10), box)
	return string(text), box, now, err
}

// stepOf is the step of time that a code belongs to, if it is right at a moment.
func stepOf(secret, code string, at time.Time) (step int64, ok bool) {
	present := at.Unix() / stepSeconds
	for step := present - stepsAside; step <= present+stepsAside; step++ {
		right := codeAt(secret, step)
		if right != "" && subtle.ConstantTimeCompare([]byte(right), []byte(code)) == 1 {
			return step, true
		}
	}
	return 0, false
}

// codeAt is the code of a step; "": the secret cannot be read.
func codeAt(secret string, step int64) string {
	code, err := hotp.GenerateCodeCustom(secret, uint64(step), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return ""
	}
	return code
}

// resealFactors seals the secrets of older secret keys with the first one, so
// that the older keys can be removed.
func (v *Vault) resealFactors(ctx context.Context) error {
	rows, _ := v.pool.Query(
		ctx, `select user_id, key_id, nonce, sealed from second_factors where key_id = any($1) limit $2`,
		v.keys.Retired(), eventstore.RewrapAtOnce,
	)
	var user int64
	var old sealing.Sealed
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&user, &old.KeyID, &old.Nonce, &old.Box}, func() error {
		place := strconv.FormatInt(user, 10)
		secret, err := v.keys.Open(factorPurpose, place, old)
		if err == nil {
			fresh := v.keys.Seal(factorPurpose, place, secret)
			b.Queue(
				`update second_factors set key_id = $3, nonce = $4, sealed = $5 where user_id = $1 and nonce = $2`,
				user, old.Nonce, fresh.KeyID, fresh.Nonce, fresh.Box,
			)
		}
		return err
	})
	if err == nil {
		err = v.pool.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return fmt.Errorf("seal second factors anew: %w", eventstore.Unavailable(err))
	}
	return nil
}
