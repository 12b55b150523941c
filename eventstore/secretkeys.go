package eventstore

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/sealing"
)

// ErrSecretKey means that a process does not have the secret keys of the database.
var ErrSecretKey = errors.New("wrong secret key")

// A SecretKey tells how a secret key is used in a database.
type SecretKey struct {
	ID        string
	Place     int       // in the list of this process, from 1; 0: not in it
	SealingAt time.Time // since when it is the first key of processes; zero: it never was
	Newest    bool      // the last one that became the first of a process
	People    int64     // subjects' keys that it wraps
	Webhooks  int64     // secrets of webhook endpoints that it seals
	Factors   int64     // secrets of second factors that it seals
	Logs      int64     // keys of the transparency log that it seals
	Transit   int64     // secrets on their way to an engine or into a mail
}

// Needed tells whether something would be lost without the key. Secrets in transit
// do not count: they expire, and their steps report it.
func (k SecretKey) Needed() bool {
	return k.Newest || k.People > 0 || k.Webhooks > 0 || k.Factors > 0 || k.Logs > 0
}

const keyUses = `
with keys as (
	select key_id from secret_keys union select unnest($1::text[])
	union select key_id from subject_keys where not exists (select from secret_keys) and key_id <> ''
)
select keys.key_id, coalesce(array_position($1, keys.key_id), 0), sealing_at, check_value,
	coalesce(keys.key_id = (select key_id from secret_keys order by sealing_at desc, key_id limit 1), false),
	(select count(*) from subject_keys s where s.key_id = keys.key_id and ($2 or keys.key_id <> all($1))),
	(select count(*) from endpoint_secrets s where s.key_id = keys.key_id),
	(select count(*) from second_factors s where s.key_id = keys.key_id),
	(select count(*) from log_origins s where s.key_id = keys.key_id),
	(select count(*) from secret_handoff s where s.key_id = keys.key_id)
from keys left join secret_keys using (key_id)
order by coalesce(array_position($1, keys.key_id), 1000), sealing_at desc,
	keys.key_id` // $2: count what is wrapped with this process's own keys, too

type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// SecretKeys lists the keys of this process and of the database.
func SecretKeys(ctx context.Context, db *pgxpool.Pool, keys *sealing.Keyring) ([]SecretKey, error) {
	return secretKeys(ctx, db, keys, true)
}

func secretKeys(ctx context.Context, db queryer, keys *sealing.Keyring, countAll bool) ([]SecretKey, error) {
	rows, err := db.Query(ctx, keyUses, keys.IDs(), countAll)
	if err != nil {
		return nil, fmt.Errorf("read the use of secret keys: %w", Unavailable(err))
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (k SecretKey, err error) {
		var at *time.Time
		var check []byte
		err = r.Scan(&k.ID, &k.Place, &at, &check, &k.Newest, &k.People, &k.Webhooks, &k.Factors, &k.Logs, &k.Transit)
		if k.SealingAt = value(at); check != nil && k.Place > 0 && !hmac.Equal(check, keys.CheckValue(k.ID)) {
			k.Place = 0 // another key with the same id
		}
		return k, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the use of secret keys: %w", Unavailable(err))
	}
	return found, nil
}

// CheckSecretKeys refuses, with [ErrSecretKey], a process that could not open what
// the database holds, or what another process seals now. It records the first key.
func CheckSecretKeys(ctx context.Context, db *pgxpool.Pool, keys *sealing.Keyring) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('hostpanel secret keys'))`); err != nil {
			return fmt.Errorf("check the secret keys: %w", Unavailable(err))
		}
		found, err := secretKeys(ctx, tx, keys, false)
		if err != nil {
			return err
		}
		if err := missing(found); err != nil {
			return err
		}
		return recordFirst(ctx, tx, keys, found)
	})
}

// recordFirst records that the first key seals from now on, and deletes keys that
// nothing needs any more.
func recordFirst(ctx context.Context, tx pgx.Tx, keys *sealing.Keyring, found []SecretKey) error {
	_, err := tx.Exec(ctx, `delete from secret_keys where key_id <> all($1)`, keys.IDs())
	if first := found[0]; err == nil && !first.Newest {
		_, err = tx.Exec(ctx, `
			insert into secret_keys (key_id, check_value) values ($1, $2)
			on conflict (key_id) do update set sealing_at = excluded.sealing_at`, first.ID, keys.CheckValue(first.ID))
	}
	if err != nil {
		return fmt.Errorf("record the secret key: %w", Unavailable(err))
	}
	return nil
}

func missing(found []SecretKey) error {
	var ids, have []string
	for _, k := range found {
		switch {
		case k.Place > 0:
			have = append(have, k.ID)
		case k.Needed():
			ids = append(ids, k.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return fmt.Errorf("%w: this process has the key %s, and the database needs %s as well",
		ErrSecretKey, strings.Join(have, ", "), strings.Join(ids, ", "))
}

// A KeyLoss counts what was given up with a secret key.
type KeyLoss struct {
	People, Webhooks, Factors int64 // subjects' keys; secrets of webhook endpoints and of second factors
	Logs                      int64 // keys of the transparency log: it goes on under another one
}

// ForgetSecretKey gives up what is sealed with a key that is lost for good. The
// personal texts read as erased from then on. Users whose second factor is gone
// sign in with a recovery code.
func ForgetSecretKey(ctx context.Context, db *pgxpool.Pool, id string) (gone KeyLoss, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, forget := range []struct {
			sql   string
			count *int64
		}{
			{`update subject_keys set key_id = '', wrapped = '' where key_id = $1`, &gone.People},
			{`delete from endpoint_secrets where key_id = $1`, &gone.Webhooks},
			{`delete from second_factors where key_id = $1`, &gone.Factors},
			{`update log_origins set key_id = '', nonce = '', sealed = '' where key_id = $1`, &gone.Logs},
			{`delete from secret_handoff where key_id = $1`, new(int64)},
			{`delete from secret_keys where key_id = $1`, new(int64)},
		} {
			done, err := tx.Exec(ctx, forget.sql, id)
			if err != nil {
				return fmt.Errorf("forget a secret key: %w", Unavailable(err))
			}
			*forget.count = done.RowsAffected()
		}
		return nil
	})
	return gone, err
}

// A KeyProof names a secret key, with a keyed hash that proves it (see
// [sealing.Keyring.CheckValue]).
type KeyProof struct {
	ID    string `json:"id"`
	Check string `json:"check"`
}

// NeededKeys are the keys of this process without which something in the database
// would be lost.
func NeededKeys(ctx context.Context, db queryer, keys *sealing.Keyring) (needed []KeyProof, err error) {
	found, err := secretKeys(ctx, db, keys, true)
	for _, k := range found {
		if k.Needed() && k.Place > 0 {
			needed = append(needed, KeyProof{k.ID, hex.EncodeToString(keys.CheckValue(k.ID))})
		}
	}
	return needed, err
}

// Fit refuses, with [ErrSecretKey], a keyring without one of these keys.
func Fit(keys *sealing.Keyring, needed []KeyProof) error {
	for _, k := range needed {
		if keys.CheckValue(k.ID) == nil || hex.EncodeToString(keys.CheckValue(k.ID)) != k.Check {
			return fmt.Errorf("%w: this process has the key %s, and %s is needed", ErrSecretKey, strings.Join(keys.IDs(), ", "), k.ID)
		}
	}
	return nil
}
