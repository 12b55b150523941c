package payments

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// ReplayWebhooks puts the webhooks that a filter selects back into the queue,
// whatever became of them, and counts them. Their signatures were checked when
// they came. What was booked is not booked again (rule I-18).
func (s *Inbox) ReplayWebhooks(ctx context.Context, cause domain.Metadata, f operations.WebhookPick, reason string) (int64, error) {
	n, err := s.CountWebhooks(ctx, f)
	if err != nil {
		return 0, err
	}
	troubles, err := s.webhookIncidents(ctx, f)
	if err != nil {
		return 0, err
	}
	if err := s.runner.SettleIncidents(ctx, sagas.ByOperator(cause, f.Order), troubles, "replayed"); err != nil {
		return 0, err
	}
	back := eventstore.TxStatement{
		Key:  "webhook_inbox",
		SQL:  `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now(), error = null` + inboxWhere,
		Args: inboxArgs(f), WantRows: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, f.Order), []eventstore.TxStatement{back},
		operations.NoteReview{
			Order: f.Order,
			Event: operations.WebhooksReplayed{Filter: filterText(f), Count: n, Reason: reason, At: s.runner.Now()},
		})
	if err == nil {
		s.runner.Wake(inboxQueue)
	}
	return n, err
}

// ReplayWebhook puts one webhook back into the queue.
func (s *Inbox) ReplayWebhook(ctx context.Context, cause domain.Metadata, id int64, reason string) error {
	w, err := s.WebhookNumbered(ctx, id)
	if err != nil {
		return err
	}
	var about uuid.UUID
	if w.Order != nil {
		about = *w.Order
	}
	back := eventstore.TxStatement{
		Key:  "webhook_inbox",
		SQL:  `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now(), error = null where id = $1`,
		Args: []any{id}, WantRows: 1,
	}
	commands := []domain.Command{operations.NoteReview{Order: about, Event: operations.WebhookReplayed{
		Webhook: w.ID, Provider: w.Provider, Event: w.EventID, Type: w.Type, Before: w.State, Reason: reason, At: s.runner.Now(),
	}}}
	for _, kind := range []string{operations.WebhookUnmatched, operations.WebhookParked} {
		commands = append(commands, operations.WebhookTrouble(kind, w.ID, w.Provider).Settle("replayed", s.runner.Now()))
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, about), []eventstore.TxStatement{back}, commands...)
	if err == nil {
		s.runner.Wake(inboxQueue)
	}
	return err
}

// webhookIncidents are the open incidents about webhooks that a filter selects.
func (s *Inbox) webhookIncidents(ctx context.Context, f operations.WebhookPick) ([]uuid.UUID, error) {
	rows, _ := s.pool.Query(ctx, `select i.id from incidents i join (select id from webhook_inbox`+inboxWhere+
		`) w on w.id = (i.about ->> 'webhook')::bigint
		where not i.is_settled and i.kind in ('webhook_unmatched', 'webhook_parked')`, inboxArgs(f)...)
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	return found, sagas.SQLError(err, "look for incidents about webhooks")
}
