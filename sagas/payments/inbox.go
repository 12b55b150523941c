package payments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// A webhook is stored first, answered second and handled third. It is a hint:
// all that follows from it is a check of its order (docs/sagas.md, "Webhooks").

// An Inbox stores the webhooks of payment providers and handles them.
type Inbox struct {
	runner    *sagas.Runner
	store     *eventstore.Store
	pool      *pgxpool.Pool
	providers map[string]order.Provider
	times     Times

	rejected atomic.Int64 // since this process started
}

func newInbox(d Deps) *Inbox {
	s := &Inbox{runner: d.Runner, store: d.Store, pool: d.Store.Pool(), providers: d.Providers, times: d.Times}
	for range readers {
		s.runner.Background(func(ctx, _ context.Context) { s.process(ctx) })
	}
	s.runner.Background(s.poll)
	s.runner.EachRound("bodies of webhooks were not swept", s.SweepBodies)
	return s
}

// Receive stores a webhook. It checks the signature over the raw body, and
// commits the row before it answers. A repeated webhook is accepted and changes
// nothing. A bad signature is refused with code Invalid. Without a secret, or
// while it cannot be checked or stored, the code is Unavailable.
func (s *Inbox) Receive(ctx context.Context, provider string, raw []byte, header map[string][]string) error {
	p, ok := s.providers[provider]
	if !ok {
		return domain.Refuse(domain.NotFound, "Not found.")
	}
	news, err := p.Verify(raw, header, clock.Now())
	if err != nil {
		s.rejected.Add(1)
		return err
	}
	if news.Live != p.Live() {
		s.runner.Alarm(ctx, "a webhook of the other mode is ignored: is a test account's address that of a live one?", "provider", provider, "event", news.EventID)
		news.Handled = false
	} else if simulated, ok := p.(simulator); ok { // it has no truth but what it is told
		if err := simulated.Apply(ctx, raw); err != nil {
			return fmt.Errorf("apply a webhook of %s: %w", provider, err)
		}
	}
	if err := s.keepWebhook(ctx, provider, news, raw, header); err != nil {
		return err
	}
	s.runner.Wake(inboxQueue)
	return nil
}

// A simulator is a provider without a bank behind it: a webhook with a correct
// signature is also what happened (rule X-1).
type simulator interface {
	Apply(ctx context.Context, raw []byte) error
}

// keepWebhook inserts a webhook into the inbox, once for ever.
func (s *Inbox) keepWebhook(ctx context.Context, provider string, n order.News, raw []byte, header map[string][]string) error {
	hash := sha256.Sum256(raw)
	state := "stored"
	if !n.Handled {
		state = "ignored"
	}
	stored, err := s.runner.Exec(ctx, "store a webhook", `
		insert into webhook_inbox (provider, event_id, transmission_id, type, object_ref, payment_ref, order_id, body, body_hash, headers, verified_by, state)
		values ($1, $2, nullif($3, ''), $4, nullif($5, ''), nullif($6, ''), nullif($7, '00000000-0000-0000-0000-000000000000'::uuid), $8, $9, $10::jsonb, $11, $12)
		on conflict do nothing`,
		provider, n.EventID, n.TransmissionID, n.Type, n.ObjectRef, n.Payment, n.Order, raw, hash[:], string(sagas.Encode(maskedHeaders(provider, header))), n.VerifiedBy, state)
	if err != nil || stored == 1 {
		return err
	}
	return s.compareRepeated(ctx, provider, n, hash[:])
}

// compareRepeated compares a repeated webhook with the one that is stored.
func (s *Inbox) compareRepeated(ctx context.Context, provider string, n order.News, hash []byte) error {
	var before []byte
	err := s.pool.QueryRow(ctx, `select body_hash from webhook_inbox where provider = $1 and event_id = $2`, provider, n.EventID).Scan(&before)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // so it was the transmission that came before
		s.runner.Alarm(ctx, "a transmission came with another event", "provider", provider, "event", n.EventID)
		return domain.Refuse(domain.Invalid, "Invalid signature.")
	case err != nil:
		return sagas.SQLError(err, "compare a webhook")
	case bytes.Equal(before, hash):
		return nil
	}
	s.runner.Alarm(ctx, "a webhook came again with another body; the first is kept", "provider", provider, "event", n.EventID)
	_, err = s.runner.Exec(ctx, "flag a webhook", `
		update webhook_inbox set error = 'came again with another body' where provider = $1 and event_id = $2`, provider, n.EventID)
	return err
}

// maskedHeaders are the headers of a webhook that are stored: the provider's
// own, without the values of signatures.
func maskedHeaders(provider string, header map[string][]string) map[string][]string {
	kept := map[string][]string{}
	for name, values := range header {
		lower := strings.ToLower(name)
		switch {
		case strings.Contains(lower, "signature"), strings.Contains(lower, "-sig"), lower == "authorization", lower == "cookie":
			kept[name] = []string{"***"}
		case lower == "content-type", lower == "user-agent", strings.HasPrefix(lower, provider+"-"):
			kept[name] = values
		}
	}
	return kept
}

// HandlingWebhook is the point where tests make the handling of a webhook fail.
const HandlingWebhook sagas.Point = "handling_webhook"

// A queuedWebhook is a webhook that is being handled.
type queuedWebhook struct {
	id       int64
	provider string
	event    string // the provider's id of it
	ref      string
	payment  string
	order    *uuid.UUID
	attempts int
	age      time.Duration
}

func (m queuedWebhook) origin() domain.Origin {
	o := domain.Origin{Cause: domain.WebhookCause(m.provider, m.event)}
	if m.order != nil {
		o.Correlation = *m.order
	}
	return o
}

// poll wakes one of the readers at each poll (rule N-13).
func (s *Inbox) poll(ctx, _ context.Context) {
	for ctx.Err() == nil {
		s.runner.WakeHere(inboxQueue)
		sagas.Pausing(ctx, sagas.Jittered(s.runner.Times().Poll), nil)
	}
}

// process handles stored webhooks, one transaction each, until ctx ends. It looks
// for them when it is woken.
func (s *Inbox) process(ctx context.Context) {
	woken := s.runner.Woken(inboxQueue)
	for ctx.Err() == nil {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = s.processNext(ctx); return err })
		if err != nil && ctx.Err() == nil {
			s.runner.Log().WarnContext(ctx, "the inbox was not read", "error", err)
		}
		if !more || err != nil {
			sagas.Woken(ctx, woken)
		} else {
			s.runner.WakeHere(inboxQueue) // there may be more, for another reader too
		}
	}
}

// processNext matches the webhook that is due first with its order.
func (s *Inbox) processNext(ctx context.Context) (more bool, err error) {
	var m queuedWebhook
	var then func() error // once others can see what was done
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var age float64
		err := tx.QueryRow(ctx, `
			select id, provider, event_id, coalesce(object_ref, ''), coalesce(payment_ref, ''), order_id, attempts, extract(epoch from business_now() - received_at)::float8
			from webhook_inbox where state = 'stored' and next_at <= business_now() and not in_recovery() order by next_at, id limit 1 for update skip locked`).
			Scan(&m.id, &m.provider, &m.event, &m.ref, &m.payment, &m.order, &m.attempts, &age)
		if err != nil {
			return err
		}
		m.age = sagas.Seconds(age)
		ctx = m.origin().With(ctx)
		if err := s.runner.FaultAt(HandlingWebhook, sagas.Run{}); err != nil {
			return err
		}
		then, err = s.match(ctx, tx, m)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil && m.id != 0 && ctx.Err() == nil {
		return true, s.postpone(ctx, m, err)
	}
	if err != nil {
		return false, sagas.SQLError(err, "read the inbox")
	}
	return true, then()
}

// matchNews finds the order of a webhook by our own reference, by the session
// or by the payment, makes its check due, and marks the row done.
var matchNews = `
with found as (
	select order_id from payment_watch where provider = $2 and order_id = $3
	union select order_id from payment_watch where provider = $2 and provider_ref = $4 and $4 <> ''
	union select order_id from payment_object where provider = $2 and object_id = $5 and $5 <> ''
	limit 1
), hint as (
	update payment_watch w set ` + hinted("'webhook'", "$7") + `
	from found where w.order_id = found.order_id
)
update webhook_inbox i set
	state = case when exists (select from found) then 'done' else 'stored' end,
	order_id = coalesce((select order_id from found), i.order_id), next_at = business_now() + $6::interval,
	attempts = case when exists (select from found) then i.attempts + 1 else 0 end
where i.id = $1 returning state`

// match returns what is to be done after the commit: a reader that is woken
// earlier finds nothing. Waiting for an order is no failure and no attempt, and ends
// a row of failures. The pause doubles each time. A webhook that has waited too long
// is set aside.
func (s *Inbox) match(ctx context.Context, tx pgx.Tx, m queuedWebhook) (then func() error, err error) {
	var state string
	again := min(max(m.age, s.times.InboxBase), s.times.InboxCap)
	err = tx.QueryRow(ctx, matchNews, m.id, m.provider, m.order, m.ref, m.payment, again, s.store.StoredCause(ctx)).Scan(&state)
	switch {
	case err != nil:
		return nil, fmt.Errorf("match webhook %d: %w", m.id, err)
	case state == "done":
		return func() error { s.runner.Wake(watchQueue); return nil }, nil
	case m.age > s.times.InboxMatch:
		return func() error {
			s.runner.Alarm(ctx, "a webhook belongs to no order", "webhook", m.id, "provider", m.provider)
			return s.runner.SetAside(ctx, operations.WebhookTrouble(operations.WebhookUnmatched, m.id, m.provider), m.inState("unmatched", ""))
		}, nil
	}
	return func() error { s.runner.WakeLater(inboxQueue, again); return nil }, nil
}

func (m queuedWebhook) key() string { return "webhook_inbox/" + strconv.FormatInt(m.id, 10) }

// inState puts the row into another state, with one more attempt.
func (m queuedWebhook) inState(state, problem string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: m.key(),
		SQL: `update webhook_inbox set state = $2, attempts = attempts + 1, error = coalesce(nullif($3, ''), error)
			where id = $1 and state = 'stored' and attempts = $4`,
		Args: []any{m.id, state, problem, m.attempts}, WantRows: 1, ErrIfNot: sagas.ErrSetAside,
	}
}

// inboxTries is how often in a row a webhook may fail before it needs an operator.
const inboxTries = 10

// postpone schedules another attempt, or parks the webhook for an operator. If
// another reader takes the row in between, both count as one attempt.
func (s *Inbox) postpone(ctx context.Context, m queuedWebhook, cause error) error {
	if m.attempts+1 >= inboxTries {
		s.runner.Alarm(ctx, "a webhook is parked", "webhook", m.id, "provider", m.provider)
		return s.runner.SetAside(ctx, operations.WebhookTrouble(operations.WebhookParked, m.id, m.provider), m.inState("parked", sagas.Scrub(cause)))
	}
	again := sagas.BackOff(s.runner.Times().Floor, s.times.InboxBase, s.times.InboxCap, m.attempts+1)
	_, err := s.runner.Exec(ctx, "postpone a webhook", `
		update webhook_inbox set attempts = attempts + 1, next_at = business_now() + $2::interval, error = $3
		where id = $1 and state = 'stored' and attempts = $4`,
		m.id, again, sagas.Scrub(cause), m.attempts)
	s.runner.WakeLater(inboxQueue, again)
	return err
}
