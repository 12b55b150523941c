// Package webhookwriter writes webhooks into the inbox, those that come at once in one commit
// (docs/sagas.md).
package webhookwriter

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// A Writer inserts webhooks. Those that come while it writes share the next INSERT,
// and so one commit. Each sender is answered after the commit of its own webhook.
type Writer struct {
	pool *pgxpool.Pool

	mu      sync.Mutex
	waiting []*Webhook
	busy    bool
}

// A Webhook is a webhook that is not stored yet.
type Webhook struct {
	order.News
	Provider      string
	Body, Hash    []byte
	Headers       string // JSON
	State         string
	isStored      bool // and not known before
	whenCommitted chan error
}

// New returns a writer into the inbox of a database.
func New(pool *pgxpool.Pool) *Writer { return &Writer{pool: pool} }

const (
	storedAtOnce = 128              // most webhooks in one INSERT
	storeTimeout = 30 * time.Second // of one INSERT
)

// Add stores a webhook. It returns false for one that is stored already.
func (w *Writer) Add(ctx context.Context, n Webhook) (stored bool, err error) {
	n.whenCommitted = make(chan error, 1)
	w.mu.Lock()
	w.waiting = append(w.waiting, &n)
	lead := !w.busy
	w.busy = true
	w.mu.Unlock()
	if lead {
		go w.work()
	}
	select {
	case err := <-n.whenCommitted:
		return n.isStored, err
	case <-ctx.Done():
		return false, context.Cause(ctx) // the provider sends it again
	}
}

// work inserts groups until no webhook waits.
func (w *Writer) work() {
	for {
		w.mu.Lock()
		group := w.waiting[:min(len(w.waiting), storedAtOnce)]
		w.waiting = w.waiting[len(group):]
		if len(group) == 0 {
			w.waiting, w.busy = nil, false
		}
		w.mu.Unlock()
		if len(group) == 0 {
			return
		}
		w.store(group)
	}
}

// store inserts a group. If Postgres refuses it, each webhook is inserted by itself, so
// that one refused webhook stops no other.
func (w *Writer) store(group []*Webhook) {
	err := w.insert(group)
	if err == nil || len(group) == 1 || errors.Is(err, eventstore.ErrUnavailable) {
		for _, n := range group {
			n.whenCommitted <- err
		}
		return
	}
	for _, n := range group {
		n.whenCommitted <- w.insert([]*Webhook{n})
	}
}

const insertWebhooks = `
insert into webhook_inbox (provider, event_id, transmission_id, type, object_ref, payment_ref, order_id, body, body_hash,
	headers, verified_by, state)
select provider, event, nullif(transmission, ''), type, nullif(object, ''), nullif(payment, ''), nullif(about,
	'00000000-0000-0000-0000-000000000000'),
	body, hash, headers::jsonb, verified_by, state
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bytea[], $9::bytea[],
	$10::text[], $11::text[], $12::text[])
	as n(provider, event, transmission, type, object, payment, about, body, hash, headers, verified_by, state)
on conflict do nothing returning provider, event_id`

// insert inserts webhooks in the order of their keys, so that two processes do not
// deadlock. Of equal ones the first is stored.
func (w *Writer) insert(group []*Webhook) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	group = slices.Clone(group)
	slices.SortStableFunc(group, func(a, b *Webhook) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.EventID, b.EventID))
	})
	rows, err := w.pool.Query(ctx, insertWebhooks, webhookArrays(group)...)
	if err != nil {
		return sagas.SQLError(err, "store webhooks")
	}
	defer rows.Close()
	inserted := map[[2]string]bool{}
	for rows.Next() {
		var key [2]string
		if err := rows.Scan(&key[0], &key[1]); err != nil {
			return sagas.SQLError(err, "store webhooks")
		}
		inserted[key] = true
	}
	if err := rows.Err(); err != nil {
		return sagas.SQLError(err, "store webhooks")
	}
	for _, n := range group {
		key := [2]string{n.Provider, n.EventID}
		n.isStored = inserted[key]
		delete(inserted, key)
	}
	return nil
}

// webhookArrays are the arguments of [insertWebhooks]: an array for each column.
func webhookArrays(group []*Webhook) []any {
	var texts [9][]string
	var orders []uuid.UUID
	var bodies, hashes [][]byte
	for _, n := range group {
		for i, text := range []string{
			n.Provider, n.EventID, n.TransmissionID, n.Type, n.ObjectRef, n.Payment, n.Headers, n.VerifiedBy, n.State,
		} {
			texts[i] = append(texts[i], text)
		}
		orders, bodies, hashes = append(orders, n.Order), append(bodies, n.Body), append(hashes, n.Hash)
	}
	return []any{texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], orders, bodies, hashes, texts[6], texts[7], texts[8]}
}
