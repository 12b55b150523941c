package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Recheck makes the provider be asked what it holds for true about an order.
func (s *Panel) Recheck(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if _, err := s.order(ctx, id); err != nil {
		return err
	}
	due := eventstore.TxStatement{
		Key: "payment_watch/" + id.String(),
		SQL: `insert into payment_watch as w (order_id, provider, reason, next_at) select id, payment_method, 'operator', business_now() from orders where id = $1
			on conflict (order_id) do update set next_at = least(w.next_at, business_now()), wakes = w.wakes + 1, reason = excluded.reason`,
		Args: []any{id}, WantRows: 1,
	}
	_, err := s.store.ExecuteWith(ctx, sagas.ByOperator(cause, id), []eventstore.TxStatement{due}, operations.NoteReview{Order: id, Event: operations.RecheckRequested{Reason: reason, At: s.Now()}})
	if err == nil {
		s.Wake(watchQueue)
	}
	return err
}

// ReplayWebhooks puts webhooks back to be worked on, whatever became of them,
// and tells how many. Their signatures were checked when they came; what was
// booked is not booked again (rule I-18).
func (s *Panel) ReplayWebhooks(ctx context.Context, cause domain.Metadata, f operations.WebhookPick, reason string) (int64, error) {
	n, err := s.CountWebhooks(ctx, f)
	if err != nil {
		return 0, err
	}
	troubles, err := s.webhookIncidents(ctx, f)
	if err != nil {
		return 0, err
	}
	if err := s.settleIncidents(ctx, sagas.ByOperator(cause, f.Order), troubles, "replayed"); err != nil {
		return 0, err
	}
	back := eventstore.TxStatement{
		Key: "webhook_inbox", SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now(), error = null` + inboxWhere,
		Args: inboxArgs(f), WantRows: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, f.Order), []eventstore.TxStatement{back},
		operations.NoteReview{Order: f.Order, Event: operations.WebhooksReplayed{Filter: described(f), Count: n, Reason: reason, At: s.Now()}})
	if err == nil {
		s.Wake(inboxQueue)
	}
	return n, err
}

// ReplayWebhook puts one webhook back to be worked on.
func (s *Panel) ReplayWebhook(ctx context.Context, cause domain.Metadata, id int64, reason string) error {
	w, err := s.WebhookNumbered(ctx, id)
	if err != nil {
		return err
	}
	var about uuid.UUID
	if w.Order != nil {
		about = *w.Order
	}
	back := eventstore.TxStatement{
		Key: "webhook_inbox", SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now(), error = null where id = $1`,
		Args: []any{id}, WantRows: 1,
	}
	commands := []domain.Command{operations.NoteReview{Order: about, Event: operations.WebhookReplayed{
		Webhook: w.ID, Provider: w.Provider, Event: w.EventID, Type: w.Type, Before: w.State, Reason: reason, At: s.Now(),
	}}}
	for _, kind := range []string{operations.WebhookUnmatched, operations.WebhookParked} {
		commands = append(commands, webhookTrouble(kind, w.ID, w.Provider).Settle("replayed", s.Now()))
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, about), []eventstore.TxStatement{back}, commands...)
	if err == nil {
		s.Wake(inboxQueue)
	}
	return err
}
