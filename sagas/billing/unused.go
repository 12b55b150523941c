package billing

import (
	"context"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// mostRefunded is how many invoices the refund of unused time may be taken from.
const mostRefunded = 24

// refundUnused refunds an amount of a subscription that has ended, from the newest payments
// on. What was paid by other means than a provider is for an operator to give back.
func (s *Service) refundUnused(ctx context.Context, r eventstore.RecordedEvent, amount decimal.Decimal) error {
	if !amount.IsPositive() {
		return nil
	}
	invoices, err := s.Tables.For(projections.System).Invoices(ctx, projections.Listing{
		Limit: mostRefunded, Filters: []projections.Filter{{Field: "order", Op: "=", Value: uuid.MustParse(r.Stream.ID)}, {Field: "status", Op: "=", Value: string(billing.Paid)}},
	})
	if err != nil {
		return err
	}
	for n, row := range invoices.Rows {
		if n == 0 {
			amount = row.Without(amount, row.Currency)
		}
		i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, billing.Pay{ID: row.ID}.Stream())
		if err != nil {
			return err
		}
		part := decimal.Min(amount, i.Total.Sub(i.Credited.Total))
		if !part.IsPositive() || i.PaidBy == uuid.Nil {
			continue
		}
		ask := order.RequestRefund{ID: i.PaidBy, Amount: &part, Reason: "unused time", Why: order.RefundOfUnused, At: s.Runner.Now()}
		cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, append([]byte("unused"), i.PaidBy[:]...)), Actor: "system:billing"}
		if _, err := s.Store.Execute(ctx, cause, ask); err != nil && domain.CodeOf(err) != domain.Conflict && domain.CodeOf(err) != domain.Invalid {
			return err
		} else if err != nil {
			continue // it has gone back already, or is disputed
		}
		if amount = amount.Sub(part); !amount.IsPositive() {
			return nil
		}
	}
	s.Runner.Alarm(ctx, "unused time was not refunded as a whole", "subscription", r.Stream.ID, "left", amount.String())
	return nil
}
