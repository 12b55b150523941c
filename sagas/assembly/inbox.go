package assembly

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Webhooks are stored first, answered second and acted on third. They are
// hints: all that follows from one is that its order is looked at
// (docs/sagas.md, "Webhooks").

// Receive takes a webhook: the signature is checked over the raw body, and the
// row is committed before the answer. One that came before is taken again and
// changes nothing. A bad signature is refused with code Invalid; without a
// secret, or while it cannot be checked or stored, with Unavailable.
func (s *Panel) Receive(ctx context.Context, provider string, raw []byte, header map[string][]string) error {
	p, ok := s.payments[provider]
	if !ok {
		return domain.Refuse(domain.NotFound, "Not found.")
	}
	news, err := p.Verify(raw, header, s.Now())
	if err != nil {
		s.rejected.Add(1)
		return err
	}
	if news.Live != p.Live() {
		s.Alarm(ctx, "a webhook of the other mode is ignored: is a test account's address that of a live one?", "provider", provider, "event", news.EventID)
		news.Handled = false
	} else if simulated, ok := p.(simulator); ok { // it has no truth but what it is told
		if err := simulated.Apply(ctx, raw); err != nil {
			return fmt.Errorf("apply a webhook of %s: %w", provider, err)
		}
	}
	if err := s.keep(ctx, provider, news, raw, header); err != nil {
		return err
	}
	s.Wake(inboxQueue)
	return nil
}

// A simulator is a provider without anything behind it: a webhook that is
// correctly signed is also what happened (rule X-1).
type simulator interface {
	Apply(ctx context.Context, raw []byte) error
}

// keep puts one webhook into the inbox, once for ever.
func (s *Panel) keep(ctx context.Context, provider string, n order.News, raw []byte, header map[string][]string) error {
	hash := sha256.Sum256(raw)
	state := "stored"
	if !n.Handled {
		state = "ignored"
	}
	stored, err := s.Exec(ctx, "store a webhook", `
		insert into webhook_inbox (provider, event_id, transmission_id, type, object_ref, payment_ref, order_id, body, body_hash, headers, verified_by, state)
		values ($1, $2, nullif($3, ''), $4, nullif($5, ''), nullif($6, ''), nullif($7, '00000000-0000-0000-0000-000000000000'::uuid), $8, $9, $10::jsonb, $11, $12)
		on conflict do nothing`,
		provider, n.EventID, n.TransmissionID, n.Type, n.ObjectRef, n.Payment, n.Order, raw, hash[:], string(sagas.Encode(masked(provider, header))), n.VerifiedBy, state)
	if err != nil || stored == 1 {
		return err
	}
	return s.compare(ctx, provider, n, hash[:])
}

// compare looks at what came under the same id before.
func (s *Panel) compare(ctx context.Context, provider string, n order.News, hash []byte) error {
	var before []byte
	err := s.pool.QueryRow(ctx, `select body_hash from webhook_inbox where provider = $1 and event_id = $2`, provider, n.EventID).Scan(&before)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // so it was the transmission that came before
		s.Alarm(ctx, "a transmission came with another event", "provider", provider, "event", n.EventID)
		return domain.Refuse(domain.Invalid, "Invalid signature.")
	case err != nil:
		return sagas.SQLError(err, "compare a webhook")
	case bytes.Equal(before, hash):
		return nil
	}
	s.Alarm(ctx, "a webhook came again with another body; the first is kept", "provider", provider, "event", n.EventID)
	_, err = s.Exec(ctx, "flag a webhook", `
		update webhook_inbox set error = 'came again with another body' where provider = $1 and event_id = $2`, provider, n.EventID)
	return err
}

// masked keeps the headers of a webhook that the provider has named after itself,
// without the values of signatures.
func masked(provider string, header map[string][]string) map[string][]string {
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

// HandlingWebhook is where tests let the handling of a webhook fail.
const HandlingWebhook sagas.Point = "handling_webhook"

// stored is a webhook that is being worked on.
type stored struct {
	id       int64
	provider string
	ref      string
	payment  string
	order    *uuid.UUID
	attempts int
	age      time.Duration
}

// readInbox works on stored webhooks, one transaction each, until ctx ends.
func (s *Panel) readInbox(ctx context.Context) {
	woken := s.Woken(inboxQueue)
	for ctx.Err() == nil {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = s.readOne(ctx); return err })
		if err != nil && ctx.Err() == nil {
			s.Log().WarnContext(ctx, "the inbox was not read", "error", err)
		}
		if !more || err != nil {
			sagas.Pausing(ctx, sagas.Jittered(s.times.Poll), woken)
		} else {
			s.WakeHere(inboxQueue) // there may be more, for another reader too
		}
	}
}

// readOne matches the webhook that is due first.
func (s *Panel) readOne(ctx context.Context) (more bool, err error) {
	var m stored
	var then func() error // once others can see what was done
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var age float64
		err := tx.QueryRow(ctx, `
			select id, provider, coalesce(object_ref, ''), coalesce(payment_ref, ''), order_id, attempts, extract(epoch from business_now() - received_at)::float8
			from webhook_inbox where state = 'stored' and next_at <= business_now() order by next_at, id limit 1 for update skip locked`).
			Scan(&m.id, &m.provider, &m.ref, &m.payment, &m.order, &m.attempts, &age)
		if err != nil {
			return err
		}
		m.age = time.Duration(age * float64(time.Second))
		if err := s.FaultAt(HandlingWebhook, sagas.Run{}); err != nil {
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
const matchNews = `
with found as (
	select order_id from payment_watch where provider = $2 and order_id = $3
	union select order_id from payment_watch where provider = $2 and provider_ref = $4 and $4 <> ''
	union select order_id from payment_object where provider = $2 and object_id = $5 and $5 <> ''
	limit 1
), hint as (
	update payment_watch w set next_at = least(w.next_at, business_now()), wakes = w.wakes + 1, reason = 'webhook'
	from found where w.order_id = found.order_id
)
update webhook_inbox i set
	state = case when exists (select from found) then 'done' else 'stored' end,
	order_id = coalesce((select order_id from found), i.order_id), next_at = business_now() + $6::interval,
	attempts = i.attempts + case when exists (select from found) then 1 else 0 end
where i.id = $1 returning state`

// match answers with what is to be done after the commit: who is woken
// before it finds nothing. To wait for an order is no failure, and no attempt:
// the next look comes when as much time has passed again. One that has waited
// too long is set aside.
func (s *Panel) match(ctx context.Context, tx pgx.Tx, m stored) (then func() error, err error) {
	var state string
	again := min(max(m.age, s.times.InboxBase), s.times.InboxCap)
	err = tx.QueryRow(ctx, matchNews, m.id, m.provider, m.order, m.ref, m.payment, again).Scan(&state)
	switch {
	case err != nil:
		return nil, fmt.Errorf("match webhook %d: %w", m.id, err)
	case state == "done":
		return func() error { s.Wake(watchQueue); return nil }, nil
	case m.age > s.times.InboxMatch:
		return func() error {
			s.Alarm(ctx, "a webhook belongs to no order", "webhook", m.id, "provider", m.provider)
			return s.SetAside(ctx, webhookTrouble(operations.WebhookUnmatched, m.id, m.provider), m.as("unmatched", ""))
		}, nil
	}
	return func() error { s.WakeLater(inboxQueue, again); return nil }, nil
}

// as is the row in another state, with one more attempt.
func (m stored) as(state, problem string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "webhook_inbox/" + strconv.FormatInt(m.id, 10),
		SQL: `update webhook_inbox set state = $2, attempts = attempts + 1, error = coalesce(nullif($3, ''), error)
			where id = $1 and state = 'stored' and attempts = $4`,
		Args: []any{m.id, state, problem, m.attempts}, WantRows: 1, ErrIfNot: sagas.ErrSetAside,
	}
}

// inboxTries is how often a webhook may fail before a person has to look.
const inboxTries = 10

// postpone leaves a webhook for later, or to a person. Between a failure and
// this another reader may have taken the row too: both count as one attempt.
func (s *Panel) postpone(ctx context.Context, m stored, cause error) error {
	if m.attempts+1 >= inboxTries {
		s.Alarm(ctx, "a webhook is parked", "webhook", m.id, "provider", m.provider)
		return s.SetAside(ctx, webhookTrouble(operations.WebhookParked, m.id, m.provider), m.as("parked", sagas.Scrub(cause)))
	}
	again := sagas.BackOff(s.times.Floor, s.times.InboxBase, s.times.InboxCap, m.attempts+1)
	_, err := s.Exec(ctx, "postpone a webhook", `
		update webhook_inbox set attempts = attempts + 1, next_at = business_now() + $2::interval, error = $3
		where id = $1 and state = 'stored' and attempts = $4`,
		m.id, again, sagas.Scrub(cause), m.attempts)
	s.WakeLater(inboxQueue, again)
	return err
}
