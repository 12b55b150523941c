package credentials

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// ErrShredded means that a secret was taken, was deleted, or never existed.
var ErrShredded = errors.New("the secret is gone")

// HandOff seals a secret for one effect: an engine's password, a link in a mail.
// The row belongs to the transaction that requests the effect. A second row with
// the same key changes nothing, so that a retry sends the same secret.
func (v *Vault) HandOff(purpose, effectKey string, secret []byte, keep time.Duration) eventstore.TxStatement {
	box := v.keys.Seal("handoff "+purpose, effectKey, secret)
	return eventstore.TxStatement{
		Key: "secret_handoff/" + effectKey,
		SQL: `
			insert into secret_handoff (id, purpose, effect_key, key_id, nonce, sealed, expires_at)
			values ($1, $2, $3, $4, $5, $6, real_now() + $7::interval) on conflict (effect_key) do nothing`,
		Args:     []any{uuid.New(), purpose, effectKey, box.KeyID, box.Nonce, box.Box, keep},
		WantRows: eventstore.AnyRows,
	}
}

// OpenHandOff returns the secret of an effect, or [ErrShredded].
func (v *Vault) OpenHandOff(ctx context.Context, purpose, effectKey string) ([]byte, error) {
	var box sealing.Sealed
	err := v.pool.QueryRow(ctx, `select key_id, nonce, sealed from secret_handoff where effect_key = $1 and purpose = $2
		and expires_at > real_now()`,
		effectKey, purpose).Scan(&box.KeyID, &box.Nonce, &box.Box)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%s for %s: %w", purpose, effectKey, ErrShredded)
	}
	if err != nil {
		return nil, fmt.Errorf("take %s for %s: %w", purpose, effectKey, eventstore.Unavailable(err))
	}
	return v.keys.Open("handoff "+purpose, effectKey, box)
}

// resealHandOffs seals secrets in transit that an older secret key sealed with the
// first one, so that the older keys can be removed.
func (v *Vault) resealHandOffs(ctx context.Context) error {
	rows, _ := v.pool.Query(ctx, `select id, purpose, effect_key, key_id, nonce, sealed from secret_handoff
		where key_id = any($1) limit $2`,
		v.keys.Retired(), eventstore.RewrapAtOnce)
	var id uuid.UUID
	var purpose, effectKey string
	var old sealing.Sealed
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&id, &purpose, &effectKey, &old.KeyID, &old.Nonce, &old.Box}, func() error {
		secret, err := v.keys.Open("handoff "+purpose, effectKey, old)
		if err == nil {
			fresh := v.keys.Seal("handoff "+purpose, effectKey, secret)
			b.Queue(`update secret_handoff set key_id = $2, nonce = $3, sealed = $4 where id = $1`, id, fresh.KeyID, fresh.Nonce, fresh.Box)
		}
		return err
	})
	if err == nil {
		err = v.pool.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return fmt.Errorf("seal secrets in transit anew: %w", eventstore.Unavailable(err))
	}
	return nil
}

// ShownTo is the purpose of secrets that wait until a person's tenant is shown them, once.
func ShownTo(person uuid.UUID) string { return "shown to " + person.String() }

// ForgetShown deletes the secrets that wait to be shown in the tenants of these people.
func ForgetShown(people []uuid.UUID) eventstore.TxStatement {
	purposes := make([]string, len(people))
	for i, person := range people {
		purposes[i] = ShownTo(person)
	}
	return eventstore.TxStatement{
		Key: "secret_handoff/shown", SQL: `delete from secret_handoff where purpose = any($1)`,
		Args: []any{purposes}, WantRows: eventstore.AnyRows,
	}
}

// NewPassword draws a password of 130 bits or more, with letters of both cases and digits,
// which is what servers ask for.
func NewPassword() string {
	lower := strings.ToLower(rand.Text())
	password := []byte(rand.Text())
	for i := 1; i < len(password); i += 2 {
		password[i] = lower[i]
	}
	return "a" + string(password) + "Z7"
}

// Shred deletes the secret of an effect, in the transaction that records its
// delivery.
func Shred(effectKey string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "secret_handoff/" + effectKey, SQL: `delete from secret_handoff where effect_key = $1`,
		Args: []any{effectKey}, WantRows: eventstore.AnyRows,
	}
}

// ShredBelow deletes the secrets of all effects whose keys begin with a text.
func ShredBelow(begin string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "secret_handoff/" + begin, SQL: `delete from secret_handoff where starts_with(effect_key, $1)`,
		Args: []any{begin}, WantRows: eventstore.AnyRows,
	}
}

const (
	purposeForm = "form"
	keptForms   = time.Hour
)

func formKey(user int64) string { return fmt.Sprintf("form/%d", user) }

// KeepForm seals what a user has typed, for an hour, in place of what was kept before.
func (v *Vault) KeepForm(ctx context.Context, user int64, typed []byte) error {
	b := &pgx.Batch{}
	for _, row := range []eventstore.TxStatement{Shred(formKey(user)), v.HandOff(purposeForm, formKey(user), typed, keptForms)} {
		b.Queue(row.SQL, row.Args...)
	}
	if err := v.pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("keep a form: %w", eventstore.Unavailable(err))
	}
	return nil
}

// KeptForm returns what a user has typed; nil: nothing is kept.
func (v *Vault) KeptForm(ctx context.Context, user int64) ([]byte, error) {
	typed, err := v.OpenHandOff(ctx, purposeForm, formKey(user))
	if errors.Is(err, ErrShredded) {
		return nil, nil
	}
	return typed, err
}
