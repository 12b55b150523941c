package eventstore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
