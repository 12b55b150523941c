package payments

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// A webhook that matches no order is matched by an operator. The provider's books have to
// agree, and what follows is a check of the order, as after every webhook.

var (
	errMatched = &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "Only a webhook that fits no order can be matched."}
	errUnknown = domain.RefuseField("order", "The webhook cannot be about this order: the provider does not know its session.")
)

// MatchWebhook takes an unmatched webhook for one about an order. The order refuses one
// that its provider's books show to be about something else.
func (s *Service) MatchWebhook(ctx context.Context, cause domain.Metadata, id int64, of uuid.UUID, reason string) error {
	m, err := s.unmatched(ctx, id)
	if err != nil {
		return err
	}
	match := order.MatchWebhook{ID: of, Webhook: id, News: m.event, Type: m.kind, Payment: m.payment, Reason: reason, At: s.runner.Now()}
	if match.Fetched, err = s.fetchNamed(ctx, m.provider, m.ref); err != nil {
		return err
	}
	done := eventstore.TxStatement{
		Key: m.key(),
		SQL: `update webhook_inbox set state = 'done', order_id = $2, attempts = attempts + 1, error = null
			where id = $1 and state = 'unmatched'`,
		Args: []any{id, of}, WantRows: 1, ErrIfNot: errMatched,
	}
	settle := operations.WebhookTrouble(operations.WebhookUnmatched, id, m.provider).Settle("matched", s.runner.Now())
	_, err = s.store.ExecuteWith(
		ctx, sagas.ByOperator(cause, of), []eventstore.TxStatement{done, hintRow(of, "webhook", eventstore.TheCause)}, match,
		settle,
	)
	if err == nil {
		s.runner.Wake(watchQueue)
	}
	return err
}

// A namedWebhook is a webhook with its type.
type namedWebhook struct {
	queuedWebhook
	kind string
}

func (s *Service) unmatched(ctx context.Context, id int64) (m namedWebhook, err error) {
	var state string
	err = s.pool.QueryRow(
		ctx,
		`select id, provider, event_id, type, coalesce(object_ref, ''), coalesce(payment_ref, ''), state from webhook_inbox where id = $1`,
		id,
	).
		Scan(&m.id, &m.provider, &m.event, &m.kind, &m.ref, &m.payment, &state)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return m, domain.Refuse(domain.NotFound, "No WebhookEvent matches the given query.")
	case err != nil:
		return m, sagas.SQLError(err, "read webhook %d", id)
	case state != "unmatched":
		return m, errMatched
	}
	return m, nil
}

// fetchNamed reads the session that a webhook names from the provider's books.
func (s *Service) fetchNamed(ctx context.Context, provider, session string) (order.Fetched, error) {
	p, err := s.providers.named(provider)
	if err != nil {
		return order.Fetched{}, errProviderAway
	}
	if err := s.runner.KeepRecovery(ctx); err != nil {
		return order.Fetched{}, err
	}
	if session == "" {
		return order.Fetched{Provider: provider, Live: p.Live()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.times.CheckCall)
	defer cancel()
	truth, err := p.Fetch(ctx, session)
	switch {
	case err == nil:
		return truth, nil
	case domain.ClassOf(err) == domain.Permanent:
		return truth, errUnknown
	}
	return truth, errProviderAway
}
