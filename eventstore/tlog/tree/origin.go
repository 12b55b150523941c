package tree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/note"

	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog"
)

// keyPurpose is the sealing purpose of the keys of logs.
const keyPurpose = "log key"

// key opens the secret key of the origin.
func (o Origin) key(keys *sealing.Keyring) (string, error) {
	key, err := keys.Open(keyPurpose, o.Name, sealing.Sealed{KeyID: o.keyID, Nonce: o.nonce, Box: o.seal})
	if err != nil {
		return "", fmt.Errorf("the key of %s: %w", o.Name, err)
	}
	return string(key), nil
}

// Signer signs with the key of the origin. Nil: the key was given up.
func (o Origin) Signer(keys *sealing.Keyring) (note.Signer, error) {
	if o.keyID == "" {
		return nil, nil //nolint:nilnil // there is no key, which is no failure
	}
	key, err := o.key(keys)
	if err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(key)
	if err != nil {
		return nil, fmt.Errorf("the key of %s: %w", o.Name, err)
	}
	return signer, nil
}

// begin begins the next origin after the last one, with a new key.
func begin(ctx context.Context, tx pgx.Tx, keys *sealing.Keyring, last Origin, reason string) (Origin, error) {
	o := Origin{Number: last.Number + 1, Name: last.Name, Reason: reason}
	if o.Number > 1 {
		o.Name = fmt.Sprintf("%s/%d", strings.TrimSuffix(last.Name, fmt.Sprintf("/%d", last.Number)), o.Number)
	}
	secret, vkey, err := tlog.NewKey(o.Name)
	if err != nil {
		return o, fmt.Errorf("make a key for %s: %w", o.Name, err)
	}
	box := keys.Seal(keyPurpose, o.Name, []byte(secret))
	o.VKey, o.keyID, o.nonce, o.seal = vkey, box.KeyID, box.Nonce, box.Box
	_, err = tx.Exec(ctx, `
		insert into log_origins (number, origin, vkey, key_id, nonce, sealed, reason) values ($1, $2, $3, $4, $5, $6, $7)`,
		o.Number, o.Name, o.VKey, o.keyID, o.nonce, o.seal, o.Reason)
	return o, err
}

// BeginAnew begins a new origin with a new key, because the log is not what its
// checkpoints say any more. The old tree, its key and its policy stay.
func (s *Sealer) BeginAnew(ctx context.Context, reason string) (o Origin, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('hostpanel sealing'))`); err != nil {
			return err
		}
		last, err := current(ctx, tx)
		if errors.Is(err, ErrNone) {
			last, err = Origin{Name: s.name()}, nil
		}
		if err == nil {
			o, err = begin(ctx, tx, s.keys, last, reason)
		}
		return err
	})
	if err != nil {
		return o, fmt.Errorf("begin a new origin of the log: %w", err)
	}
	return o, nil
}

// Reseal seals keys of origins with the first secret key that are still sealed with a
// retired one. The keys themselves stay, and with them each vkey.
func Reseal(ctx context.Context, pool *pgxpool.Pool, keys *sealing.Keyring) error {
	rows, _ := pool.Query(ctx, `select `+originColumns+` from log_origins where key_id = any($1)`, keys.Retired())
	old, err := pgx.CollectRows(rows, scanOrigin)
	if err != nil {
		return fmt.Errorf("read the keys of the log: %w", err)
	}
	b := &pgx.Batch{}
	for _, o := range old {
		key, err := o.key(keys)
		if err != nil {
			return err
		}
		box := keys.Seal(keyPurpose, o.Name, []byte(key))
		b.Queue(
			`update log_origins set key_id = $3, nonce = $4, sealed = $5 where number = $1 and nonce = $2`, o.Number,
			o.nonce, box.KeyID, box.Nonce, box.Box,
		)
	}
	if err := pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("seal the keys of the log anew: %w", err)
	}
	return nil
}

// AcceptedBy is the policy that the checkpoints of the origin meet: the log has signed
// them, and the quorum of witnesses if there is one.
func (o Origin) AcceptedBy() string {
	if o.Policy == "" {
		return "log " + o.VKey + "\nquorum none\n"
	}
	return "log " + o.VKey + "\n" + withoutLogs(o.Policy)
}

// withoutLogs is a policy without its own lines about logs.
func withoutLogs(policy string) string {
	var b strings.Builder
	for line := range strings.Lines(policy) {
		if fields := strings.Fields(line); len(fields) == 0 || fields[0] != "log" {
			b.WriteString(line)
		}
	}
	return b.String()
}
