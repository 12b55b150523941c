package eventstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// A subject is a person; each purpose has a key of its own, so that contact
// data can be erased long before invoices.
type subjectKey struct {
	subject uuid.UUID
	purpose domain.Purpose
}

// subjectKeys remembers opened keys for a moment, so that a key that has been
// destroyed elsewhere is forgotten here too.
type subjectKeys struct {
	mu    sync.Mutex
	known map[subjectKey]knownKey
}

type knownKey struct {
	key   []byte // nil: destroyed
	until time.Time
}

const keysRememberedFor = 5 * time.Second

// sealedPrefix stands before a sealed text: "sealed:" and base64 of nonce and box.
const sealedPrefix = "sealed:"

// seal is the event of a fact as it is written: its personal texts are sealed.
// Those of somebody who has been erased are blanked, in the fact itself too, so
// that no read table gets them. A subject without a key gets one: the row that
// keeps it stands or falls with the request, whose other facts use it too.
func (s *Store) seal(ctx context.Context, a *addition, r *Recorded) (domain.Event, error) {
	fields := s.catalogue.Personal(r.Name)
	person, ok := r.Event.(domain.Personal)
	if !ok || len(fields) == 0 {
		return r.Event, nil
	}
	keys, erased := map[domain.Purpose][]byte{}, false
	for purpose := range purposesIn(r.Event, fields) {
		key, err := s.keyFor(ctx, a, subjectKey{person.Subject(), purpose})
		if err != nil {
			return nil, err
		}
		keys[purpose], erased = key, erased || key == nil
	}
	if erased {
		r.Event = rewritePersonal(r.Event, fields, func(purpose domain.Purpose, text string) string {
			if keys[purpose] == nil {
				return ""
			}
			return text
		})
	}
	return rewritePersonal(r.Event, fields, func(purpose domain.Purpose, text string) string {
		return sealText(keys[purpose], text, r.ID)
	}), nil
}

func sealText(key []byte, text string, id uuid.UUID) string {
	if text == "" {
		return ""
	}
	nonce := random(12)
	return sealedPrefix + base64.RawStdEncoding.EncodeToString(gcm(key).Seal(nonce, nonce, []byte(text), id[:]))
}

// keyFor is the key of a subject, new or old; nil: it has been destroyed.
func (s *Store) keyFor(ctx context.Context, a *addition, k subjectKey) ([]byte, error) {
	if key, used := a.keys[k]; used {
		return key, nil
	}
	known, err := s.loadKeys(ctx, []subjectKey{k})
	if err != nil {
		return nil, err
	}
	key, exists := known[k]
	if !exists {
		key = random(32)
		a.rows = append(a.rows, s.newKeyRow(k, key))
	}
	if a.keys == nil {
		a.keys = map[subjectKey][]byte{}
	}
	a.keys[k] = key
	return key, nil
}

// purposesIn are those under which the event has something to seal.
func purposesIn(event domain.Event, fields map[string]domain.Purpose) map[domain.Purpose]bool {
	found := map[domain.Purpose]bool{}
	value := reflect.ValueOf(event)
	for _, f := range personalFields(value.Type(), fields) {
		if value.FieldByIndex(f.index).String() != "" {
			found[f.purpose] = true
		}
	}
	return found
}

func (s *Store) newKeyRow(k subjectKey, key []byte) Row {
	id, wrapped := s.wrap(k, key)
	return Row{
		Key:  keyRow(k),
		SQL:  `insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, $3, $4) on conflict do nothing`,
		Args: []any{k.subject, string(k.purpose), id, wrapped},
		// Another request of the same person was faster: decide again, with its key.
		Touches: 1, Else: errLost,
	}
}

// wrap seals the key of a subject with the first secret key, which id names.
func (s *Store) wrap(k subjectKey, key []byte) (id string, wrapped []byte) {
	box := s.keys.Seal("subject key", k.subject.String()+"/"+string(k.purpose), key)
	return box.KeyID, append(box.Nonce, box.Box...)
}

func (s *Store) unwrap(k subjectKey, id string, wrapped []byte) ([]byte, error) {
	return s.keys.Open("subject key", k.subject.String()+"/"+string(k.purpose), Sealed{id, wrapped[:12], wrapped[12:]})
}

// open replaces the sealed texts of events by what they say, or by nothing
// where the key is gone.
func (s *Store) open(ctx context.Context, events []Recorded) error {
	var wanted []subjectKey
	for _, r := range events {
		if p, ok := r.Event.(domain.Personal); ok {
			for _, purpose := range s.catalogue.Personal(r.Name) {
				wanted = append(wanted, subjectKey{p.Subject(), purpose})
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	keys, err := s.loadKeys(ctx, wanted)
	if err != nil {
		return err
	}
	for i, r := range events {
		p, ok := r.Event.(domain.Personal)
		if !ok {
			continue
		}
		events[i].Event = rewritePersonal(r.Event, s.catalogue.Personal(r.Name), func(purpose domain.Purpose, text string) string {
			return openText(keys[subjectKey{p.Subject(), purpose}], text, r.ID)
		})
	}
	return nil
}

func openText(key []byte, text string, id uuid.UUID) string {
	boxed, sealed := strings.CutPrefix(text, sealedPrefix)
	if !sealed || key == nil {
		return ""
	}
	box, err := base64.RawStdEncoding.DecodeString(boxed)
	if err != nil || len(box) < 12 {
		return ""
	}
	clear, err := gcm(key).Open(nil, box[:12], box[12:], id[:])
	if err != nil {
		return "" // sealed with a key that has been destroyed since
	}
	return string(clear)
}

// loadKeys returns the subjects' keys that exist; nil are those that have been
// destroyed.
func (s *Store) loadKeys(ctx context.Context, wanted []subjectKey) (map[subjectKey][]byte, error) {
	found, missing := s.subjects.remembered(wanted)
	if len(missing) == 0 {
		return found, nil
	}
	rows := s.queryKeys(ctx, missing)
	var k subjectKey
	var keyID string
	var wrapped []byte
	_, err := pgx.ForEachRow(rows, []any{&k.subject, &k.purpose, &keyID, &wrapped}, func() error {
		if len(wrapped) == 0 {
			found[k] = nil
			return nil
		}
		key, err := s.unwrap(k, keyID, wrapped)
		found[k] = key
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of subjects: %w", Unavailable(err))
	}
	s.subjects.remember(found)
	return found, nil
}

// queryKeys asks for all purposes of the subjects. For one subject, which is
// the usual case, Postgres keeps the plan; for a list it makes it anew.
func (s *Store) queryKeys(ctx context.Context, missing []subjectKey) pgx.Rows {
	const sql = `select subject, purpose, key_id, wrapped from subject_keys where subject = `
	if len(missing) == 1 {
		rows, _ := s.pool.Query(ctx, sql+`$1`, missing[0].subject)
		return rows
	}
	subjects := make([]uuid.UUID, len(missing))
	for i, k := range missing {
		subjects[i] = k.subject
	}
	rows, _ := s.pool.Query(ctx, sql+`any($1)`, subjects)
	return rows
}

func (c *subjectKeys) remembered(wanted []subjectKey) (found map[subjectKey][]byte, missing []subjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, now := map[subjectKey][]byte{}, time.Now()
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

func (c *subjectKeys) remember(found map[subjectKey][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > 10_000 {
		c.known = map[subjectKey]knownKey{}
	}
	for k, key := range found {
		c.known[k] = knownKey{key, time.Now().Add(keysRememberedFor)}
	}
}
