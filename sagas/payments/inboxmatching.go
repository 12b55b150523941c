package payments

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// HandlingWebhook is the point where tests make the handling of a webhook fail.
const HandlingWebhook sagas.Point = "handling_webhook"

// matchedAtOnce is how many webhooks one statement matches with their orders.
const matchedAtOnce = 200

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

// process handles stored webhooks until ctx ends. It looks for them when it is woken,
// and at each poll (rule N-13).
func (s *Inbox) process(ctx context.Context) {
	woken := s.runner.Woken(inboxQueue)
	for ctx.Err() == nil {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = s.ProcessDue(ctx); return err })
		if err != nil && ctx.Err() == nil {
			s.runner.Log().WarnContext(ctx, "the inbox was not read", "error", err)
		}
		if !more || err != nil {
			clock.Pausing(ctx, sagas.Jittered(s.runner.Times().Poll), woken)
		}
	}
}

// ProcessDue matches webhooks that are due with their orders, many in one transaction.
// If that fails, each of them gets its own, so that one webhook stops no other. It tells
// whether others may be due; [sagas.Runner.Run] calls it until none is.
func (s *Inbox) ProcessDue(ctx context.Context) (more bool, err error) {
	group, err := s.processFirst(ctx, matchedAtOnce)
	if err == nil || len(group) < 2 || ctx.Err() != nil {
		return len(group) == matchedAtOnce, err
	}
	for range group {
		if _, err := s.processFirst(ctx, 1); err != nil {
			return true, err
		}
	}
	return true, nil
}

// processFirst matches the webhooks that are due first, at most limit. A single one that
// fails is postponed.
func (s *Inbox) processFirst(ctx context.Context, limit int) (group []queuedWebhook, err error) {
	var left []queuedWebhook // by the statement: without an order
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if group, err = lockDue(ctx, tx, limit); err != nil || len(group) == 0 {
			return err
		}
		for range group {
			if err := s.runner.FaultAt(HandlingWebhook, sagas.Run{}); err != nil {
				return err
			}
		}
		left, err = s.match(ctx, tx, group)
		return err
	})
	switch {
	case err == nil:
		return group, s.afterMatch(ctx, group, left)
	case len(group) == 1 && ctx.Err() == nil:
		return group, s.postpone(group[0].origin().With(ctx), group[0], err)
	}
	return group, sagas.SQLError(err, "read the inbox")
}

// lockDue locks and returns webhooks that are due.
func lockDue(ctx context.Context, tx pgx.Tx, limit int) ([]queuedWebhook, error) {
	rows, _ := tx.Query(ctx, `
		select id, provider, event_id, coalesce(object_ref, ''), coalesce(payment_ref, ''), order_id, attempts, extract(epoch from business_now() - received_at)::float8
		from webhook_inbox where state = 'stored' and next_at <= business_now() and not in_recovery() order by next_at, id limit $1 for update skip locked`, limit)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m queuedWebhook, err error) {
		var age float64
		err = row.Scan(&m.id, &m.provider, &m.event, &m.ref, &m.payment, &m.order, &m.attempts, &age)
		m.age = sagas.Seconds(age)
		return m, err
	})
}

// matchNews finds the orders of webhooks: by our own reference, by the session or by the
// payment. It makes the check of each order due, and marks the matched rows done. The
// watch rows are locked in the order of their keys, as everywhere.
var matchNews = `
with news as (
	select * from unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::interval[], $7::text[]) with ordinality
		as n(id, provider, own, session, payment, again, cause, nth)
), found as materialized (
	select news.*, f.order_id from news left join lateral (
		select order_id from payment_watch where provider = news.provider and order_id = news.own
		union all select order_id from payment_watch where provider = news.provider and provider_ref = news.session and news.session <> ''
		union all select order_id from payment_object where provider = news.provider and object_id = news.payment and news.payment <> ''
		limit 1
	) f on true
), due as materialized (
	select order_id from payment_watch where order_id in (select order_id from found) order by order_id for update
), hint as (
	update payment_watch w set ` + hinted("'webhook'", "first.cause") + `
	from (select distinct on (order_id) order_id, cause from found order by order_id, nth) first join due using (order_id)
	where w.order_id = first.order_id
)
update webhook_inbox i set
	state = case when found.order_id is null then 'stored' else 'done' end,
	order_id = coalesce(found.order_id, i.order_id), next_at = business_now() + found.again,
	attempts = case when found.order_id is null then 0 else i.attempts + 1 end
from found where i.id = found.id returning found.nth, i.state = 'stored'`

// match returns the webhooks whose order is not known. Waiting for an order is no failure
// and no attempt, and ends a row of failures. The pause doubles each time.
func (s *Inbox) match(ctx context.Context, tx pgx.Tx, group []queuedWebhook) (left []queuedWebhook, err error) {
	rows, _ := tx.Query(ctx, matchNews, s.matchColumns(group)...)
	var nth int
	var waits bool
	waiting := make([]bool, len(group))
	_, err = pgx.ForEachRow(rows, []any{&nth, &waits}, func() error { waiting[nth-1] = waits; return nil })
	if err != nil {
		return nil, fmt.Errorf("match %d webhooks from %d on: %w", len(group), group[0].id, err)
	}
	for i, m := range group { // in their order, which the rows are not in
		if waiting[i] {
			m.attempts = 0
			left = append(left, m)
		}
	}
	return left, nil
}

// matchColumns are the arguments of [matchNews]: an array for each column.
func (s *Inbox) matchColumns(group []queuedWebhook) []any {
	var ids []int64
	var providers, sessions, payments, causes []string
	var orders []*uuid.UUID
	var pauses []time.Duration
	for _, m := range group {
		ids, orders, pauses = append(ids, m.id), append(orders, m.order), append(pauses, s.pause(m))
		providers, sessions, payments = append(providers, m.provider), append(sessions, m.ref), append(payments, m.payment)
		causes = append(causes, m.origin().Cause.String())
	}
	return []any{ids, providers, orders, sessions, payments, pauses, causes}
}

// pause is the time until a webhook without an order is looked at again.
func (s *Inbox) pause(m queuedWebhook) time.Duration {
	return min(max(m.age, s.times.InboxBase), s.times.InboxCap)
}

// afterMatch wakes the checks once others can see them: one that is woken earlier finds
// nothing. A webhook that has waited too long for its order is set aside.
func (s *Inbox) afterMatch(ctx context.Context, group, left []queuedWebhook) error {
	if len(left) < len(group) {
		s.runner.Wake(watchQueue)
	}
	for _, m := range left {
		if m.age <= s.times.InboxMatch {
			s.runner.WakeLater(inboxQueue, s.pause(m))
			continue
		}
		ctx := m.origin().With(ctx)
		s.runner.Alarm(ctx, "a webhook belongs to no order", "webhook", m.id, "provider", m.provider)
		if err := s.runner.SetAside(ctx, operations.WebhookTrouble(operations.WebhookUnmatched, m.id, m.provider), m.inState("unmatched", "")); err != nil {
			return err
		}
	}
	return nil
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
