// Package credentials keeps what people and programs prove themselves with:
// hashes of passwords and recovery codes, second factors, sessions in browsers,
// refresh tokens, one-time links, and sealed secrets on their way to an engine, a mail or a webhook. These rows
// are no events: they are deleted when they expire.
package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// A Vault keeps credentials in Postgres.
type Vault struct {
	pool  *pgxpool.Pool
	keys  *sealing.Keyring
	times Times
	cost  Cost // of new hashes
}

// Open returns the vault in the database behind pool, which
// [eventstore.Migrate] has prepared.
func Open(pool *pgxpool.Pool, keys *sealing.Keyring) *Vault {
	return &Vault{pool, keys, Defaults, fullCost}
}

// Keeping is the vault with other times; zero: [Defaults].
func (v *Vault) Keeping(t Times) *Vault { return &Vault{v.pool, v.keys, cmp.Or(t, Defaults), v.cost} }

// Hashing is the vault with another cost of new hashes, for tests; zero: that of
// docs/security.md, "Passwords".
func (v *Vault) Hashing(c Cost) *Vault { return &Vault{v.pool, v.keys, v.times, cmp.Or(c, fullCost)} }

// SignOutRows delete all credentials of a user: password, second factor, one-time
// links, refresh tokens, sessions in browsers.
func SignOutRows(user int64) []eventstore.TxStatement {
	rows := append(DropFactorRows(user), Shred(formKey(user)))
	for _, table := range []string{"browser_sessions", "credentials", "one_time_tokens", "refresh_families"} {
		rows = append(rows, ofUser(table, user))
	}
	return rows
}

// ofUser deletes the rows of a user in a table.
func ofUser(table string, user int64) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("%s/%d", table, user), SQL: fmt.Sprintf(`delete from %s where user_id = $1`, table),
		Args: []any{user}, WantRows: eventstore.AnyRows,
	}
}

// expired are the conditions under which rows are deleted. A token that was
// used or revoked is kept until its expiry, so that a second use is recognised.
func (v *Vault) expired() []struct{ table, condition string } {
	return []struct{ table, condition string }{
		{"secret_handoff", `expires_at < real_now()`},
		{"one_time_tokens", `expires_at < real_now() - ` + interval(v.times.KeepLinks)},
		{"refresh_tokens", `expires_at < real_now()`},
		{"refresh_families", `expires_at < real_now()`},
		{"browser_sessions", `not (` + v.sessionLives() + `)`},
		{"endpoint_secrets", `expires_at < real_now()`},
		{"pending_sign_ins", `not (` + pendingLives + `)`},
		{"second_factors", `confirmed_at is null and not (` + proposalLives + `)`},
	}
}

// interval is a duration in SQL.
func interval(d time.Duration) string { return fmt.Sprintf(`interval '%d seconds'`, d/time.Second) }

// Sweep deletes expired rows. After a rotation of the secret key it seals the
// secrets of endpoints, of second factors, and those in transit, with the new key.
func (v *Vault) Sweep(ctx context.Context) error {
	for _, e := range v.expired() {
		if err := eventstore.DeleteExpired(ctx, v.pool, e.table, e.condition); err != nil {
			return err
		}
	}
	if len(v.keys.Retired()) == 0 {
		return nil
	}
	return errors.Join(v.resealEndpoints(ctx), v.resealHandOffs(ctx), v.resealFactors(ctx))
}
