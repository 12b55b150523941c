package sagas

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/jackc/pgx/v5"
)

// disputeTypes begins the types of news about disputes that cannot be looked
// up: at PayPal only a person can confirm them, because a body can be forged
// (rules P-6, P-9). At the other providers a dispute stands in the truth.
const disputeTypes = "CUSTOMER.DISPUTE."

// disputeNews are the order's new webhooks about disputes: they set a hold and
// raise an alarm, once each, and nothing more.
func (s *Sagas) disputeNews(ctx context.Context, c check) ([]domain.Command, []eventstore.Row, error) {
	found, _ := s.pool.Query(ctx, `
		select id from webhook_inbox where order_id = $1 and provider = $2 and state = 'done' and seen_at is null and starts_with(type, $3)`,
		c.order, c.provider, disputeTypes)
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return nil, nil, sqlError(err, "look for disputes of order %s", c.order)
	}
	s.alarm(ctx, "a provider tells of a dispute: confirm it there, then say how it stands", "order", c.order, "provider", c.provider, "webhooks", ids)
	seen := eventstore.Row{
		Key: "webhook_inbox/" + c.order.String(), SQL: `update webhook_inbox set seen_at = now() where id = any($1)`,
		Args: []any{ids}, Touches: eventstore.AnyRows,
	}
	return []domain.Command{order.ReportDispute{ID: c.order, At: s.now()}}, []eventstore.Row{seen}, nil
}

// overdue tells somebody of money that has been on its way back for too long:
// from then on only a person looks at it.
func (s *Sagas) overdue(ctx context.Context, g glance) {
	if g.moneyOnItsWay() && !g.at.Before(g.refunded.Add(s.times.RefundTTL)) {
		s.alarm(ctx, "a refund has not come to an end", "order", g.order.ID, "provider", g.order.Provider)
	}
}
