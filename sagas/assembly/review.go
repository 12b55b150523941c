package assembly

import (
	"context"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// What operators ask for that changes nothing by itself is written into
// journals: one for each order, and one for the inbox (docs/operations.md).

// ReviewCategory is that of the journals "review-<order>" and "review-inbox".
const ReviewCategory = "review"

// ReviewStream is the journal of an order; that of the inbox: uuid.Nil.
func ReviewStream(order uuid.UUID) domain.Stream {
	if order == uuid.Nil {
		return domain.Stream{Category: ReviewCategory, ID: "inbox"}
	}
	return domain.Stream{Category: ReviewCategory, ID: order.String()}
}

// ReviewEventTypes lists every event of these journals.
var ReviewEventTypes = []domain.EventType{
	domain.Register[RecheckRequested](), domain.Register[WebhookReplayed](), domain.Register[WebhooksReplayed](),
}

type (
	// RecheckRequested: the provider is to be asked once more.
	RecheckRequested struct {
		Reason string    `json:"reason,omitempty"`
		At     time.Time `json:"at"`
	}
	// WebhookReplayed: a webhook is worked on anew. Before is its state until
	// then.
	WebhookReplayed struct {
		Webhook  int64     `json:"webhook"`
		Provider string    `json:"provider"`
		Event    string    `json:"event"`
		Type     string    `json:"type"`
		Before   string    `json:"before"`
		Reason   string    `json:"reason,omitempty"`
		At       time.Time `json:"at"`
	}
	// WebhooksReplayed: all webhooks that a filter leaves are worked on anew.
	WebhooksReplayed struct {
		Filter map[string]string `json:"filter"`
		Count  int64             `json:"count"`
		Reason string            `json:"reason,omitempty"`
		At     time.Time         `json:"at"`
	}
)

func (RecheckRequested) EventName() string { return "review.recheck_requested" }
func (WebhookReplayed) EventName() string  { return "review.webhook_replayed" }
func (WebhooksReplayed) EventName() string { return "review.webhooks_replayed" }

func (e RecheckRequested) Says() string {
	return "the payment provider is to be asked again" + wording.Around(" (", e.Reason, ")")
}

func (e WebhookReplayed) Says() string {
	return fmt.Sprintf("webhook %d of %s (%s), which was %s, is acted on again%s", e.Webhook, e.Provider, e.Type, e.Before, wording.Around(" (", e.Reason, ")"))
}

func (e WebhooksReplayed) Says() string {
	return wording.Count(e.Count, "webhook") + " are acted on again" + wording.Around(" (", e.Reason, ")")
}

// note writes a fact into a journal.
type note struct {
	stream domain.Stream
	fact   domain.Event
}

func (n note) Stream() domain.Stream { return n.stream }

// reviews have no state: whatever is noted, stands.
var reviews = domain.Decider[struct{}, note, domain.Event]{
	Decide: func(_ struct{}, n note) ([]domain.Event, error) { return []domain.Event{n.fact}, nil },
	Evolve: func(s struct{}, _ domain.Event) struct{} { return s },
}

// Recheck makes the provider be asked what it holds for true about an order.
func (s *Panel) Recheck(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if _, err := s.order(ctx, id); err != nil {
		return err
	}
	due := eventstore.TxStatement{
		Key: "payment_watch/" + id.String(),
		SQL: `insert into payment_watch as w (order_id, provider, reason, next_at) select id, payment_method, 'operator', now() from orders where id = $1
			on conflict (order_id) do update set next_at = least(w.next_at, now()), wakes = w.wakes + 1, reason = excluded.reason`,
		Args: []any{id}, WantRows: 1,
	}
	_, err := s.store.ExecuteWith(ctx, sagas.ByOperator(cause, id), []eventstore.TxStatement{due}, note{ReviewStream(id), RecheckRequested{reason, s.Now()}})
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
		Key: "webhook_inbox", SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = now(), error = null` + inboxWhere,
		Args: inboxArgs(f), WantRows: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, f.Order), []eventstore.TxStatement{back},
		note{ReviewStream(f.Order), WebhooksReplayed{described(f), n, reason, s.Now()}})
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
		Key: "webhook_inbox", SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = now(), error = null where id = $1`,
		Args: []any{id}, WantRows: 1,
	}
	commands := []domain.Command{note{ReviewStream(about), WebhookReplayed{w.ID, w.Provider, w.EventID, w.Type, w.State, reason, s.Now()}}}
	for _, kind := range []string{operations.WebhookUnmatched, operations.WebhookParked} {
		commands = append(commands, webhookTrouble(kind, w.ID, w.Provider).Settle("replayed", s.Now()))
	}
	_, err = s.store.ExecuteWith(ctx, sagas.ByOperator(cause, about), []eventstore.TxStatement{back}, commands...)
	if err == nil {
		s.Wake(inboxQueue)
	}
	return err
}
