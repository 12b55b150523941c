package payments

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// reportedDisputes are the commands for new webhooks about disputes that only
// an operator can confirm (rules P-6, P-9). Each sets a hold and raises an
// alarm, once. At other providers a dispute is fetched with its payment.
func (s *Service) reportedDisputes(ctx context.Context, c check) ([]domain.Command, []eventstore.TxStatement, error) {
	reporter, ok := s.providers[c.provider].(order.DisputeReporter)
	if !ok {
		return nil, nil, nil
	}
	found, _ := s.pool.Query(ctx, `
		select id from webhook_inbox where order_id = $1 and provider = $2 and state = 'done' and seen_at is null
			and starts_with(type, $3)`,
		c.order, c.provider, reporter.DisputeTypes())
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return nil, nil, sagas.SQLError(err, "look for disputes of order %s", c.order)
	}
	s.runner.Alarm(
		ctx, "a provider tells of a dispute: confirm it there, then say how it stands", "order", c.order, "provider",
		c.provider, "webhooks", ids,
	)
	seen := eventstore.TxStatement{
		Key: "webhook_inbox/" + c.order.String(), SQL: `update webhook_inbox set seen_at = business_now() where id = any($1)`,
		Args: []any{ids}, WantRows: eventstore.AnyRows,
	}
	return []domain.Command{order.ReportDispute{ID: c.order, At: s.runner.Now()}}, []eventstore.TxStatement{seen}, nil
}

// alarmOverdueRefund raises an alarm about a refund that has been pending for
// too long. From then on it is not polled any more.
func (s *Service) alarmOverdueRefund(ctx context.Context, timeline Timeline) {
	if timeline.moneyOnItsWay() && !timeline.at.Before(timeline.refunded.Add(s.times.RefundTTL)) {
		s.runner.Alarm(ctx, "a refund has not come to an end", "order", timeline.order.ID, "provider", timeline.order.Provider)
	}
}

// Dispute records an operator's decision about a dispute that cannot be fetched
// from the provider: it was opened, won or lost (rule P-9).
func (s *Service) Dispute(ctx context.Context, cause domain.Metadata, id uuid.UUID, outcome order.DisputeState, reason string) error {
	decide := order.DecideDispute{ID: id, Outcome: outcome, Reason: reason, At: s.runner.Now()}
	_, err := s.store.Execute(ctx, sagas.ByOperator(cause, id), decide)
	return err
}
