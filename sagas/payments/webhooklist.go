package payments

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// webhookTable says how webhooks are listed, without their bodies.
var webhookTable = projections.TableList{
	From: "webhook_inbox i", ID: "i.id", Search: "lower(i.event_id || ' ' || i.type)",
	Columns: webhookColumns + `, null::bytea as body`,
	Fields: map[string]string{
		"id": "i.id", "created_at": "i.received_at", "updated_at": "i.received_at", "received_at": "i.received_at",
		"provider": "i.provider", "state": "i.state", "type": "i.type", "event_id": "i.event_id", "order": "i.order_id",
		"attempts": "i.attempts",
	},
}

const (
	webhookColumns = `i.id, i.provider, i.event_id, i.type, i.state,
		(select o.id from orders o where o.id = i.order_id) as "order", i.attempts, coalesce(i.error, '') as error,
		i.received_at, i.headers`

	inboxWhere = ` where ($1::bigint[] is null or id = any($1)) and ($2 = '' or provider = $2) and ($3 = '' or state = $3)
	and ($4 = '' or type = $4) and ($5 = '' or event_id = $5) and ($6 = '00000000-0000-0000-0000-000000000000'::uuid or order_id = $6)
	and ($7::timestamptz is null or received_at >= $7) and ($8::timestamptz is null or received_at < $8)`
)

func inboxArgs(f operations.WebhookPick) []any {
	return []any{f.IDs, f.Provider, f.State, f.Type, f.EventID, f.Order, domain.OrNull(f.From), domain.OrNull(f.To)}
}

// filterText is a filter as the log keeps it, without what it leaves open.
func filterText(f operations.WebhookPick) map[string]string {
	all := map[string]string{"provider": f.Provider, "state": f.State, "type": f.Type, "event_id": f.EventID}
	if f.Order != uuid.Nil {
		all["order"] = f.Order.String()
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !at.IsZero() {
			all[name] = at.UTC().Format(time.RFC3339Nano)
		}
	}
	if len(f.IDs) > 0 {
		all["ids"] = strconv.Itoa(len(f.IDs))
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// WebhooksListed are the webhooks that operators ask for, without their
// bodies: by provider, state, type, event_id, order and received_at.
func (s *Inbox) WebhooksListed(ctx context.Context, l projections.Listing) (projections.Listed[operations.Webhook], error) {
	return projections.ListTable[operations.Webhook](ctx, s.pool, webhookTable, l)
}

// WebhookNumbered is one webhook with its body.
func (s *Inbox) WebhookNumbered(ctx context.Context, id int64) (operations.Webhook, error) {
	rows, _ := s.pool.Query(ctx, `select `+webhookColumns+`, i.body from webhook_inbox i where i.id = $1`, id)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[operations.Webhook])
	if err == nil && len(found) == 0 {
		err = domain.Refuse(domain.NotFound, "No WebhookEvent matches the given query.")
	}
	if err != nil {
		return operations.Webhook{}, sagas.SQLError(err, "read webhook %d", id)
	}
	return found[0], nil
}

// LatestWebhooks lists webhooks, newest first, without their bodies: 100 unless
// the filter has a limit.
func (s *Inbox) LatestWebhooks(ctx context.Context, f operations.WebhookPick) ([]operations.Webhook, error) {
	if f.Limit == 0 {
		f.Limit = 100
	}
	rows, _ := s.pool.Query(ctx, `select `+webhookTable.Columns+` from webhook_inbox i`+inboxWhere+` order by id desc limit $9`,
		append(inboxArgs(f), f.Limit)...)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[operations.Webhook])
	return list, sagas.SQLError(err, "list webhooks")
}

// CountWebhooks counts the webhooks that a filter selects.
func (s *Inbox) CountWebhooks(ctx context.Context, f operations.WebhookPick) (n int64, err error) {
	err = s.pool.QueryRow(ctx, `select count(*) from webhook_inbox`+inboxWhere, inboxArgs(f)...).Scan(&n)
	return n, sagas.SQLError(err, "count webhooks")
}

// SweepBodies deletes the bodies of webhooks that were handled long ago. The
// rows stay, so that a webhook that comes again is recognised.
func (s *Inbox) SweepBodies(ctx context.Context) error {
	return s.runner.Sweep(ctx, "webhooks", `
		update webhook_inbox set body = null where id in (select id from webhook_inbox
			where body is not null and state in ('done', 'ignored')
				and received_at < business_now() - $1::interval limit 1000)`, s.times.KeepBodies)
}

// ofPeople are the orders and setups of people, as the inbox names them.
const ofPeople = `(select id from orders where subject = any($1) union all select id from method_setups where subject = any($1))`

// ForgetCustomers deletes the bodies of webhooks about the orders of people. All
// that follows from such a webhook has been done, or stands in columns.
func ForgetCustomers(subjects []uuid.UUID) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "webhook_inbox", SQL: `update webhook_inbox set body = null where body is not null and order_id in ` + ofPeople,
		Args: []any{subjects}, WantRows: eventstore.AnyRows,
	}
}

// WebhooksAbout are those about the orders of people, with the bodies that are still
// kept, the oldest first.
func (s *Inbox) WebhooksAbout(ctx context.Context, subjects []uuid.UUID) ([]operations.Webhook, error) {
	rows, _ := s.pool.Query(ctx, `select `+webhookColumns+`, i.body from webhook_inbox i
		where i.order_id in `+ofPeople+` order by i.id`, subjects)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[operations.Webhook])
	return list, sagas.SQLError(err, "list webhooks about people")
}
