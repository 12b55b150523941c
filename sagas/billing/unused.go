package billing

import (
	"context"
	"errors"
	"slices"

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
	invoices, err := paidInvoices(ctx, s.Tables, subscription)
	left = amount
	for n, row := range invoices {
		if n == 0 {
			left = row.Without(amount, row.Currency)
		}
		i, _, err := s.invoice(ctx, row.ID)
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

// paidInvoices are the paid invoices of a subscription, the newest first.
func paidInvoices(ctx context.Context, tables *projections.Tables, subscription uuid.UUID) ([]projections.Invoice, error) {
	invoices, err := tables.For(projections.System).Billing().Invoices(ctx, projections.Listing{
		Limit: mostRefunded,
		Filters: []projections.Filter{
			{Field: "order", Op: "=", Value: subscription}, {Field: "status", Op: "=", Value: string(billing.Paid)},
		},
	})
	return invoices.Rows, err
}

// holdUnserved holds every payment of time that a service does not serve any more, because the
// money of its order has gone back: of a change of the plan, of a renewal. An operator refunds it
// or keeps it. What the credit balance has paid has no order to hold; the alarm names its invoice.
func (s *Service) holdUnserved(ctx context.Context, r eventstore.RecordedEvent, e billing.SubscriptionEnded) error {
	if e.Reason != billing.Refunded && e.Reason != billing.ChargedBack {
		return nil
	}
	subscription := uuid.MustParse(r.Stream.ID)
	invoices, err := paidInvoices(ctx, s.Tables, subscription)
	var holds []domain.Command
	var numbers []string
	for _, row := range invoices {
		if !slices.ContainsFunc(row.Lines, func(l billing.Line) bool { return l.PeriodEnd.After(e.At) }) {
			continue
		}
		i, _, err := s.invoice(ctx, row.ID)
		if err != nil {
			return err
		}
		if i.FromCredit.IsPositive() || i.PaidBy != uuid.Nil && i.PaidBy != subscription {
			numbers = append(numbers, row.Number)
		}
		if i.PaidBy != uuid.Nil && i.PaidBy != subscription {
			holds = append(holds, order.HoldPayment{ID: i.PaidBy, Service: subscription, Why: e.Reason, At: s.Runner.Now()})
		}
	}
	if err != nil || len(numbers) == 0 {
		return err
	}
	s.Runner.Alarm(
		ctx, "a refunded service has ended, and other payments of its time are left", "subscription", subscription, "invoices", numbers,
	)
	if len(holds) == 0 {
		return nil
	}
	return s.follow(ctx, r, "hold unserved payments", holds...)
}
