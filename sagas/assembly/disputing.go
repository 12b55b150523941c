package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/jackc/pgx/v5"
)

// disputeNews are the order's new webhooks about disputes that only an operator
// can confirm (rules P-6, P-9). They set a hold and raise an alarm, once each.
// At other providers a dispute is fetched with its payment.
func (s *Panel) disputeNews(ctx context.Context, c check) ([]domain.Command, []eventstore.TxStatement, error) {
	reporter, ok := s.payments[c.provider].(order.DisputeReporter)
	if !ok {
		return nil, nil, nil
	}
	found, _ := s.pool.Query(ctx, `
		select id from webhook_inbox where order_id = $1 and provider = $2 and state = 'done' and seen_at is null and starts_with(type, $3)`,
		c.order, c.provider, reporter.DisputeTypes())
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return nil, nil, sagas.SQLError(err, "look for disputes of order %s", c.order)
	}
	s.Alarm(ctx, "a provider tells of a dispute: confirm it there, then say how it stands", "order", c.order, "provider", c.provider, "webhooks", ids)
	seen := eventstore.TxStatement{
		Key: "webhook_inbox/" + c.order.String(), SQL: `update webhook_inbox set seen_at = business_now() where id = any($1)`,
		Args: []any{ids}, WantRows: eventstore.AnyRows,
	}
	return []domain.Command{order.ReportDispute{ID: c.order, At: s.Now()}}, []eventstore.TxStatement{seen}, nil
}

// overdue tells somebody of money that has been on its way back for too long:
// from then on only a person looks at it.
func (s *Panel) overdue(ctx context.Context, g paymentTimeline) {
	if g.moneyOnItsWay() && !g.at.Before(g.refunded.Add(s.times.RefundTTL)) {
		s.Alarm(ctx, "a refund has not come to an end", "order", g.order.ID, "provider", g.order.Provider)
	}
}
