package eventstore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/sealing"
)

// addresses is the key of the hashes of addresses. It is wrapped like the keys of
// subjects, so that a secret key can be removed although nothing tells the addresses.
var addresses = subjectKey{uuid.Nil, "address"}

// of returns the subject of an e-mail address; see [Store.Subject].
func (c *subjectKeys) of(ctx context.Context, email string) (uuid.UUID, error) {
	key, err := c.addressKey(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(account.PlainAddress(email)))
	mac := h.Sum(nil)
	made := uuid.New()
	for {
		var subject uuid.UUID
		err := c.pool.QueryRow(ctx, findOrMakeSubject, mac, made).Scan(&subject)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // another request has made it meanwhile
		case err != nil:
			return uuid.Nil, fmt.Errorf("find a subject: %w", Unavailable(err))
		default:
			if subject == made {
				c.note(made)
			}
			return subject, nil
		}
	}
}

const findOrMakeSubject = `
with found as materialized (
	select subject from subjects where address_mac = $1
), made as (
	insert into subjects (address_mac, subject) select $1, $2 where not exists (select from found) on conflict do nothing returning subject
)
select subject from found union all select subject from made`

// note remembers a subject that was made now.
func (c *subjectKeys) note(fresh uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fresh == nil || len(c.fresh) >= mostKeysKnown {
		c.fresh = map[uuid.UUID]bool{}
	}
	c.fresh[fresh] = true
}

// addressKey is made by the first process that needs it, and made anew after
// `hostpanel secrets forget`.
func (c *subjectKeys) addressKey(ctx context.Context) ([]byte, error) {
	for {
		found, err := c.load(ctx, []subjectKey{addresses})
		if err != nil || len(found[addresses]) > 0 {
			return found[addresses], err
		}
		c.forget(found)
		id, wrapped := c.wrap(addresses, sealing.Random(32))
		_, err = c.pool.Exec(ctx, `
			insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, $3, $4)
			on conflict (subject, purpose) do update set key_id = $3, wrapped = $4 where subject_keys.wrapped = ''`,
			addresses.subject, string(addresses.purpose), id, wrapped)
		if err != nil {
			return nil, fmt.Errorf("make the key of addresses: %w", Unavailable(err))
		}
	}
}

// EraseRows destroy the keys of people's contact data, the way from their
// addresses to them, and stored evidence packs that open their texts. They belong to the transaction of the event that says so,
// whose statements blank the read tables. Keys for other purposes are kept. A
// mark stays in place of a key, so that nothing is sealed for the same subject
// again: a person who comes back is a new subject (docs/log.md, "Erasure").
func EraseRows(subjects ...uuid.UUID) []TxStatement {
	var rows []TxStatement
	for _, subject := range subjects {
		rows = append(rows, TxStatement{
			Key: keyRow(subjectKey{subject, domain.Contact}),
			SQL: `
				insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, '', '')
				on conflict (subject, purpose) do update set key_id = '', wrapped = ''`,
			Args: []any{subject, string(domain.Contact)}, WantRows: 1,
		}, TxStatement{
			Key: "subjects/" + subject.String(), SQL: `delete from subjects where subject = $1`,
			Args: []any{subject}, WantRows: AnyRows,
		}, TxStatement{ // after the key: a pack that is being stored holds it
			Key: "subjects/" + subject.String() + "/packs", SQL: `delete from evidence_packs where subjects @> array[$1::uuid]`,
			Args: []any{subject}, WantRows: AnyRows,
		})
	}
	return rows
}

func keyRow(k subjectKey) string {
	return "subject_keys/" + k.subject.String() + "/" + string(k.purpose)
}

// SealFile seals a file with the key of a subject, who gets one if there is none. It is not
// ok if the key was destroyed.
func (s *Store) SealFile(
	ctx context.Context, subject uuid.UUID, purpose domain.Purpose, place sealing.Place, clear []byte,
) (sealed []byte, ok bool, err error) {
	k := subjectKey{subject, purpose}
	key, exists, err := s.reader.subjects.one(ctx, k)
	if err == nil && !exists {
		if err = s.reader.subjects.add(ctx, k); err == nil {
			key, _, err = s.reader.subjects.one(ctx, k)
		}
	}
	if err != nil || key == nil {
		return nil, false, err
	}
	return sealing.SealFile(key, subject, purpose, place, clear), true, nil
}

// OpenFile opens a file that [Store.SealFile] has sealed. It is not ok if the key was
// destroyed.
func (s *Store) OpenFile(
	ctx context.Context, subject uuid.UUID, purpose domain.Purpose, place sealing.Place, sealed []byte,
) (clear []byte, ok bool, err error) {
	key, _, err := s.reader.subjects.one(ctx, subjectKey{subject, purpose})
	if err != nil || key == nil {
		return nil, false, err
	}
	clear, err = sealing.OpenFile(key, subject, purpose, place, sealed)
	return clear, err == nil, err
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
