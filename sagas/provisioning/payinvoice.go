package provisioning

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// An open invoice is paid by an order of its own, so that sessions, webhooks, refunds and
// disputes work for it as for any other order (docs/invoices.md, "Paying").

// PayInvoice sends the customer of an open invoice to pay with a method; blank: that of
// the last payment. It goes on with a payment that has begun with the same method, so
// repeats and calls at the same time lead to one page. If the provider opens no page, the
// error is an [order.ErrNoPaymentPage].
func (s *Service) PayInvoice(ctx context.Context, cause func() domain.Metadata, invoice uuid.UUID, method string) (order.Payable, error) {
	scope := s.Tables.For(projections.System)
	i, err := scope.Invoice(ctx, invoice)
	if err != nil {
		return order.Payable{}, err
	}
	if i.Status != billing.Open {
		return order.Payable{}, billing.ErrNotOpen
	}
	bought, err := scope.Order(ctx, i.OrderID)
	if err != nil {
		return order.Payable{}, err
	}
	earlier, err := scope.OrdersPaying(ctx, invoice)
	if err != nil {
		return order.Payable{}, err
	}
	offer, err := s.methodFor(bought, earlier, method)
	if err != nil {
		return order.Payable{}, err
	}
	if n := len(earlier) - 1; n >= 0 && earlier[n].PaymentMethod == offer.Name && mayBePaid(earlier[n].Status) {
		return s.toOpenPayment(ctx, earlier[n].ID)
	}
	m := cause()
	place := order.Place{
		ID: uuid.NewSHA1(invoice, fmt.Appendf(nil, "payment/%d", len(earlier)+1)), Subject: bought.Subject,
		Customer: order.Customer{Name: bought.CustomerName, Email: bought.CustomerEmail, Company: bought.CustomerCompany, Details: bought.Details()},
		Plan:     bought.Plan, Period: bought.BillingPeriod, Price: i.Total, TaxRate: i.TaxRate, Tax: i.Treatment, Currency: i.Currency,
		Method: offer.Method, Test: !offer.Live, Language: bought.Language, At: s.Now().UTC(),
		Bill: &order.Bill{Invoice: invoice, Total: i.Total, Subtotal: i.Subtotal, Tax: i.Tax},
	}
	m.Correlation = place.ID
	if err := s.place(ctx, m, place); err != nil {
		return order.Payable{}, err
	}
	return s.toOpenPayment(ctx, place.ID)
}

// toOpenPayment is [Service.ToPayment] of an order that can still be paid. One that has
// ended meanwhile, or that a replica did not show, is refused with [eventstore.ErrConflict]: the next
// try places another.
func (s *Service) toOpenPayment(ctx context.Context, id uuid.UUID) (order.Payable, error) {
	placed, err := s.ToPayment(ctx, id)
	if err == nil && !mayBePaid(placed.Status) {
		err = eventstore.ErrConflict
	}
	return placed, err
}

// methodFor is the method by that name, or that of the last payment. Test money pays for
// what was bought with test money alone, and real money for what was not.
func (s *Service) methodFor(bought projections.Order, earlier []projections.Order, name string) (order.Offer, error) {
	if name == "" {
		name = bought.PaymentMethod
		if n := len(earlier); n > 0 {
			name = earlier[n-1].PaymentMethod
		}
	}
	offer, usable := s.Offers.Configured(name)
	if !usable || offer.Live == bought.Test {
		return offer, domain.RefuseField("payment_method", field.NotAChoice(name))
	}
	return offer, nil
}

func mayBePaid(s order.Status) bool {
	return s == order.StatusPending || s == order.StatusPaymentProcessing
}
