package billing

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// mostRefunded is how many invoices the refund of unused time may be taken from.
const mostRefunded = 24

// refundUnused refunds an amount of a subscription that has ended, from the newest payments
// on. All parts are asked for in one append, so a repeat asks for no other. What was paid by
// other means than a provider, or has gone back, is for an operator.
func (s *Service) refundUnused(ctx context.Context, r eventstore.RecordedEvent, amount decimal.Decimal) error {
	if !amount.IsPositive() {
		return nil
	}
	asks, left, err := s.unusedParts(ctx, uuid.MustParse(r.Stream.ID), amount)
	if err != nil {
		return err
	}
	if len(asks) > 0 {
		err = s.follow(ctx, r, "refund unused time", asks...)
	}
	if code := domain.CodeOf(err); err != nil && code != domain.Conflict && code != domain.Invalid ||
		errors.Is(err, eventstore.ErrConflict) {
		return err
	}
	if err != nil || left.IsPositive() {
		s.Runner.Alarm(ctx, "unused time was not refunded as a whole", "subscription", r.Stream.ID, "left", left.String())
	}
	return nil
}

// unusedParts spread an amount over the payments of a subscription. left is what no payment
// covers.
func (s *Service) unusedParts(
	ctx context.Context, subscription uuid.UUID, amount decimal.Decimal,
) (asks []domain.Command, left decimal.Decimal, err error) {
	invoices, err := s.Tables.For(projections.System).Billing().Invoices(ctx, projections.Listing{
		Limit: mostRefunded,
		Filters: []projections.Filter{
			{Field: "order", Op: "=", Value: subscription}, {Field: "status", Op: "=", Value: string(billing.Paid)},
		},
	})
	left = amount
	for n, row := range invoices.Rows {
		if n == 0 {
			left = row.Without(amount, row.Currency)
		}
		i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, billing.Pay{ID: row.ID}.Stream())
		if err != nil {
			return nil, left, err
		}
		o, _, err := eventstore.Fold(ctx, s.Store, order.Decider, order.Stream(i.PaidBy))
		if err != nil {
			return nil, left, err
		}
		part := decimal.Min(left, money.Major(o.Left(o.Confirmed), o.Currency)).Truncate(o.Decimals)
		if !part.IsPositive() {
			continue
		}
		asks = append(
			asks,
			order.RequestRefund{ID: i.PaidBy, Amount: &part, Reason: "unused time", Why: order.RefundOfUnused, At: s.Runner.Now()},
		)
		if left = left.Sub(part); !left.IsPositive() {
			break
		}
	}
	return asks, left, err
}
