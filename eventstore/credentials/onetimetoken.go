package credentials

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// SetPassword is the purpose of the one-time links by which a user sets a
// password, and of their secrets on the way into a mail.
const SetPassword = "set_password"

// NewToken makes the secret of a one-time link: 256 random bits in URL form.
func NewToken() string { return base64.RawURLEncoding.EncodeToString(sealing.Random(32)) }

// TokenRows store a one-time link for a user; earlier ones for the same
// purpose end. Only the hash of the token is kept.
func TokenRows(token, purpose string, user int64, keep time.Duration) []eventstore.TxStatement {
	hash := hashOf(token)
	return []eventstore.TxStatement{
		{
			Key: fmt.Sprintf("one_time_tokens/%d/%s/1", user, purpose),
			SQL: `update one_time_tokens set expires_at = least(expires_at, real_now()) where user_id = $1
				and purpose = $2 and used_at is null and hash <> $3`,
			Args: []any{user, purpose, hash}, WantRows: eventstore.AnyRows,
		},
		{
			Key: fmt.Sprintf("one_time_tokens/%d/%s/2", user, purpose),
			SQL: `insert into one_time_tokens (hash, purpose, user_id, expires_at) values ($1, $2, $3,
				real_now() + $4::interval) on conflict do nothing`,
			Args: []any{hash, purpose, user, keep}, WantRows: eventstore.AnyRows,
		},
	}
}

// EndTokens ends all links of a user that are still out for a purpose.
func EndTokens(user int64, purpose string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("one_time_tokens/%d/%s/1", user, purpose),
		SQL: `update one_time_tokens set expires_at = least(expires_at, real_now()) where user_id = $1 and purpose = $2
			and used_at is null`,
		Args: []any{user, purpose}, WantRows: eventstore.AnyRows,
	}
}

// ExtendToken lets a link that still works live for another while: the time
// that its reader has begins when the mail was accepted.
func ExtendToken(token string, keep time.Duration) eventstore.TxStatement {
	hash := hashOf(token)
	return eventstore.TxStatement{
		Key: fmt.Sprintf("one_time_tokens/%x", hash[:8]), SQL: `update one_time_tokens
			set expires_at = real_now() + $2::interval where hash = $1 and used_at is null and expires_at > real_now()`,
		Args: []any{hash, keep}, WantRows: eventstore.AnyRows,
	}
}

// ErrLink means that a one-time link is used, expired or unknown.
var ErrLink = errors.New("this link is no longer valid")

// TokenUser tells whose link it is, without using it up, or [ErrLink].
func (v *Vault) TokenUser(ctx context.Context, token, purpose string) (int64, error) {
	hash := hashOf(token)
	var user int64
	err := v.pool.QueryRow(ctx, `select user_id from one_time_tokens where hash = $1 and purpose = $2
		and used_at is null and expires_at > real_now()`,
		hash, purpose).Scan(&user)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrLink
	}
	if err != nil {
		return 0, fmt.Errorf("look up a link: %w", eventstore.Unavailable(err))
	}
	return user, nil
}

// TokenPurpose tells whose one-time token it is and what for, without using it up, or
// [ErrLink].
func (v *Vault) TokenPurpose(ctx context.Context, token string) (user int64, purpose string, err error) {
	err = v.pool.QueryRow(ctx, `select user_id, purpose from one_time_tokens where hash = $1 and used_at is null
		and expires_at > real_now()`, hashOf(token)).Scan(&user, &purpose)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", ErrLink
	}
	if err != nil {
		return 0, "", fmt.Errorf("look up a token: %w", eventstore.Unavailable(err))
	}
	return user, purpose, nil
}

// UseToken uses a link up, in the transaction of what it allows.
func UseToken(token, purpose string) eventstore.TxStatement {
	hash := hashOf(token)
	return eventstore.TxStatement{
		Key: fmt.Sprintf("one_time_tokens/%x", hash[:8]),
		SQL: `update one_time_tokens set used_at = real_now() where hash = $1 and purpose = $2 and used_at is null
			and expires_at > real_now()`,
		Args: []any{hash, purpose}, WantRows: 1, ErrIfNot: ErrLink,
	}
}
