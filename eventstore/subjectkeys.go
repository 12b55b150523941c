package eventstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/sealing"
)

// A subjectKey names the key of one subject for one purpose. Purposes have keys
// of their own, so that contact data can be erased long before invoices.
type subjectKey struct {
	subject uuid.UUID
	purpose domain.Purpose
}

// subjectKeys keeps the keys of subjects. Opened keys are cached for a short
// time: a key that another process destroys is dropped here when it is over.
type subjectKeys struct {
	pool *pgxpool.Pool
	keys *sealing.Keyring // that wrap the subjects' keys

	mu    sync.Mutex
	known map[subjectKey]knownKey
	fresh map[uuid.UUID]bool // subjects that were made here and have had no key yet
}

type knownKey struct {
	key   []byte // nil: destroyed
	until time.Time
}

const (
	keysCachedFor = 5 * time.Second
	mostKeysKnown = 10_000
)

// use gets a key for the texts of a request, and creates it if the subject has
// none. The statement that stores a new key belongs to the transaction of the
// request, whose other events use the key as well.
func (c *subjectKeys) use(ctx context.Context, a *appendRequest, k subjectKey) error {
	if _, used := a.keys[k]; used {
		return nil
	}
	if a.keys == nil {
		a.keys, a.made = map[subjectKey][]byte{}, map[subjectKey][]byte{}
	}
	if !c.begins(k.subject) {
		known, err := c.load(ctx, []subjectKey{k})
		if err != nil {
			return err
		}
		if key, exists := known[k]; exists {
			a.keys[k] = key
			return nil
		}
	}
	key := sealing.Random(32)
	a.keys[k], a.made[k] = key, key
	a.rows = append(a.rows, TxStatement{
		Key: keyRow(k), Columns: "subject uuid, purpose text, key_id text, wrapped bytea, year int",
		SQL: `insert into subject_keys (subject, purpose, key_id, wrapped, year) select subject, purpose, key_id,
			wrapped, year from arg on conflict do nothing`,
		Args: c.row(k, key),
		// Another request about the subject was faster: decide again, with its key.
		WantRows: 1, ErrIfNot: errLost,
	})
	return nil
}

// begins tells, once, whether a subject was made here and has no key yet. Another process
// may have given it one meanwhile: then the request is decided again.
func (c *subjectKeys) begins(subject uuid.UUID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := c.fresh[subject]
	delete(c.fresh, subject)
	return fresh
}

// row is the row of a new key.
func (c *subjectKeys) row(k subjectKey, key []byte) []any {
	id, wrapped := c.wrap(k, key)
	return []any{k.subject, string(k.purpose), id, wrapped, k.purpose.Year()}
}

// wrap seals the key of a subject with the first secret key, which id names.
func (c *subjectKeys) wrap(k subjectKey, key []byte) (id string, wrapped []byte) {
	box := c.keys.Seal("subject key", k.subject.String()+"/"+string(k.purpose), key)
	return box.KeyID, append(box.Nonce, box.Box...)
}

func (c *subjectKeys) unwrap(k subjectKey, id string, wrapped []byte) ([]byte, error) {
	return c.keys.Open(
		"subject key", k.subject.String()+"/"+string(k.purpose),
		sealing.Sealed{KeyID: id, Nonce: wrapped[:12], Box: wrapped[12:]},
	)
}

// load returns the subjects' keys that exist; nil are those that have been
// destroyed.
func (c *subjectKeys) load(ctx context.Context, wanted []subjectKey) (map[subjectKey][]byte, error) {
	found, missing := c.cached(wanted)
	if len(missing) == 0 {
		return found, nil
	}
	rows := c.query(ctx, missing)
	var k subjectKey
	var keyID string
	var wrapped []byte
	_, err := pgx.ForEachRow(rows, []any{&k.subject, &k.purpose, &keyID, &wrapped}, func() error {
		if len(wrapped) == 0 {
			found[k] = nil
			return nil
		}
		key, err := c.unwrap(k, keyID, wrapped)
		found[k] = key
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of subjects: %w", Unavailable(err))
	}
	c.cache(found)
	return found, nil
}

// query asks for all purposes of the subjects. For one subject, which is
// the usual case, Postgres keeps the plan; for a list it makes it anew.
func (c *subjectKeys) query(ctx context.Context, missing []subjectKey) pgx.Rows {
	const sql = `select subject, purpose, key_id, wrapped from subject_keys where subject = `
	if len(missing) == 1 {
		rows, _ := c.pool.Query(ctx, sql+`$1`, missing[0].subject)
		return rows
	}
	subjects := make([]uuid.UUID, len(missing))
	for i, k := range missing {
		subjects[i] = k.subject
	}
	rows, _ := c.pool.Query(ctx, sql+`any($1)`, subjects)
	return rows
}

func (c *subjectKeys) cached(wanted []subjectKey) (found map[subjectKey][]byte, missing []subjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, now := map[subjectKey][]byte{}, clock.Now()
	asked := map[subjectKey]bool{}
	for _, k := range wanted {
		if known, ok := c.known[k]; ok && now.Before(known.until) {
			found[k] = known.key
		} else if !asked[k] {
			asked[k] = true
			missing = append(missing, k)
		}
	}
	return found, missing
}

func (c *subjectKeys) forget(keys map[subjectKey][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range keys {
		delete(c.known, k)
	}
}

func (c *subjectKeys) cache(found map[subjectKey][]byte) {
	if len(found) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostKeysKnown {
		c.known = map[subjectKey]knownKey{}
	}
	for k, key := range found {
		c.known[k] = knownKey{key, clock.Now().Add(keysCachedFor)}
	}
}

func keyRow(k subjectKey) string {
	return "subject_keys/" + k.subject.String() + "/" + string(k.purpose)
}

// one is the key of one subject; nil: it was destroyed.
func (c *subjectKeys) one(ctx context.Context, k subjectKey) (key []byte, exists bool, err error) {
	found, err := c.load(ctx, []subjectKey{k})
	key, exists = found[k]
	return key, exists, err
}

// add gives a subject a key, unless there is one or it was destroyed.
func (c *subjectKeys) add(ctx context.Context, k subjectKey) error {
	_, err := c.pool.Exec(ctx, `insert into subject_keys (subject, purpose, key_id, wrapped, year) values ($1, $2, $3,
		$4, $5) on conflict do nothing`,
		c.row(k, sealing.Random(32))...)
	if err != nil {
		return fmt.Errorf("make the key of a subject: %w", Unavailable(err))
	}
	c.forget(map[subjectKey][]byte{k: nil})
	return nil
}
