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
	age      float64 // seconds since it came
}

func (m queuedWebhook) waited() time.Duration { return sagas.Seconds(m.age) }

func (m queuedWebhook) origin() domain.Origin {
	o := domain.Origin{Cause: domain.WebhookCause(m.provider, m.event)}
	if m.order != nil {
		o.Correlation = *m.order
	}
	return o
}

// handle handles stored webhooks, many in one transaction. One that fails ten times in a row is
// parked; replaying it is its retry.
func (s *Inbox) handle() {
	s.tasks = sagas.AddTasks(s.runner, sagas.Queue[queuedWebhook]{
		Name: inboxQueue, Failed: "a webhook was not handled", Batch: matchedAtOnce, KeyType: "bigint",
		Policy: sagas.TaskPolicy{Base: s.times.InboxBase, Cap: s.times.InboxCap, Attempts: inboxTries},
		Table: sagas.Table{
			Name: "webhook_inbox", Key: "id", Waits: "stored",
			Columns: `id, provider, event_id, coalesce(object_ref, ''), coalesce(payment_ref, ''), order_id,
				extract(epoch from business_now() - received_at)::float8`,
		},
		Together: s.match,
		Origin:   func(t *sagas.Task[queuedWebhook]) domain.Origin { return t.Row.origin() },
		Trouble: func(t *sagas.Task[queuedWebhook]) operations.Trouble {
			return operations.WebhookTrouble(operations.WebhookParked, t.Row.id, t.Row.provider)
		},
		Retry: func(ctx context.Context, cause domain.Metadata, key, reason string) error {
			id, err := strconv.ParseInt(key, 10, 64)
			if err != nil {
				return fmt.Errorf("read the number of a webhook: %w", err)
			}
			return s.ReplayWebhook(ctx, cause, id, reason)
		},
	}, func(m *queuedWebhook) []any {
		return []any{&m.id, &m.provider, &m.event, &m.ref, &m.payment, &m.order, &m.age}
	})
}

// ProcessDue handles the webhooks that are due first. It tells whether others may be due.
func (s *Inbox) ProcessDue(ctx context.Context) (more bool, err error) { return s.tasks.Round(ctx) }

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

// match matches webhooks with their orders. Waiting for an order is no failure and no attempt,
// and ends a row of failures. The pause doubles each time.
func (s *Inbox) match(ctx context.Context, tx pgx.Tx, group []*sagas.Task[queuedWebhook]) (after func(context.Context) error, err error) {
	for range group {
		if err := s.runner.FaultAt(HandlingWebhook, sagas.Run{}); err != nil {
			return nil, err
		}
	}
	rows, _ := tx.Query(ctx, matchNews, s.matchColumns(group)...)
	var nth int
	var waits bool
	waiting := make([]bool, len(group))
	_, err = pgx.ForEachRow(rows, []any{&nth, &waits}, func() error { waiting[nth-1] = waits; return nil })
	if err != nil {
		return nil, fmt.Errorf("match %d webhooks from %d on: %w", len(group), group[0].Row.id, err)
	}
	var left []queuedWebhook
	for i, task := range group { // in their order, which the rows are not in
		if waiting[i] {
			left = append(left, task.Row)
		}
	}
	return func(ctx context.Context) error { return s.afterMatch(ctx, len(group), left) }, nil
}

// matchColumns are the arguments of [matchNews]: an array for each column.
func (s *Inbox) matchColumns(group []*sagas.Task[queuedWebhook]) []any {
	var ids []int64
	var providers, sessions, payments, causes []string
	var orders []*uuid.UUID
	var pauses []time.Duration
	for _, task := range group {
		m := task.Row
		ids, orders, pauses = append(ids, m.id), append(orders, m.order), append(pauses, s.pause(m))
		providers, sessions, payments = append(providers, m.provider), append(sessions, m.ref), append(payments, m.payment)
		causes = append(causes, m.origin().Cause.String())
	}
	return []any{ids, providers, orders, sessions, payments, pauses, causes}
}

// pause is the time until a webhook without an order is looked at again.
func (s *Inbox) pause(m queuedWebhook) time.Duration {
	return min(max(m.waited(), s.times.InboxBase), s.times.InboxCap)
}

// afterMatch wakes the checks once others can see them: one that is woken earlier finds
// nothing. A webhook that has waited too long for its order is set aside.
func (s *Inbox) afterMatch(ctx context.Context, all int, left []queuedWebhook) error {
	if len(left) < all {
		s.runner.Wake(watchQueue)
	}
	for _, m := range left {
		if m.waited() <= s.times.InboxMatch {
			s.runner.WakeLater(inboxQueue, s.pause(m))
			continue
		}
		ctx := m.origin().With(ctx)
		s.runner.Alarm(ctx, "a webhook belongs to no order", "webhook", m.id, "provider", m.provider)
		if err := s.runner.SetAside(
			ctx, operations.WebhookTrouble(operations.WebhookUnmatched, m.id, m.provider), m.unmatched(),
		); err != nil {
			return err
		}
	}
	return nil
}

func (m queuedWebhook) key() string { return "webhook_inbox/" + strconv.FormatInt(m.id, 10) }

// unmatched sets the webhook aside, with one more attempt.
func (m queuedWebhook) unmatched() eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: m.key(),
		SQL: `update webhook_inbox set state = 'unmatched', attempts = attempts + 1
			where id = $1 and state = 'stored' and attempts = 0`,
		Args: []any{m.id}, WantRows: 1, ErrIfNot: sagas.ErrSetAside,
	}
}

// inboxTries is how often in a row a webhook may fail before it needs an operator.
const inboxTries = 10
