package orders

import (
	"cmp"
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

// PayInvoice sends the customer of an open invoice to pay. It goes on with a payment that has
// begun in the same way, so repeats and calls at the same time lead to one page. If the
// provider opens no page, the error is an [order.ErrNoPaymentPage].
func (s *Service) PayInvoice(ctx context.Context, cause func() domain.Metadata, p order.BillPayment) (order.Payable, error) {
	b, err := s.bill(ctx, p.Invoice)
	if err != nil {
		return order.Payable{}, err
	}
	offer, err := s.methodFor(b, p.Method)
	if err != nil {
		return order.Payable{}, err
	}
	if last := b.last(); mayBePaid(last.Status) {
		switch {
		case last.KeptMethod != nil:
			return order.Payable{}, errBeingCharged
		case !last.Total.Equal(b.invoice.AmountDue): // a part was paid otherwise: the rest needs another page
		case last.PaymentMethod == offer.Name && (p.Resumed || domain.OrZero(last.KeepFor) == p.KeepFor):
			return s.toOpenPayment(ctx, last.ID)
		}
	}
	place := s.paying(b, offer)
	place.ID, place.KeepFor = uuid.NewSHA1(p.Invoice, fmt.Appendf(nil, "payment/%d", len(b.earlier)+1)), p.KeepFor
	m := cause()
	m.Correlation = place.ID
	if err := s.place(ctx, m, place); err != nil {
		return order.Payable{}, err
	}
	return s.toOpenPayment(ctx, place.ID)
}

// errBeingCharged refuses a payment beside a charge, so that none pays twice.
var errBeingCharged = &domain.Error{
	Code: domain.Conflict, Reason: "payment_in_progress", Message: "The saved payment method is being charged.",
}

// errBeingPaid refuses a charge beside a payment that waits for a bank.
var errBeingPaid = &domain.Error{Code: domain.Conflict, Reason: "payment_in_progress", Message: "The invoice is being paid."}

// ChargeInvoice places an order that charges a saved payment method of a provider with an
// open invoice. The order goes on by itself. A repeat places no other.
func (s *Service) ChargeInvoice(ctx context.Context, cause domain.Metadata, id, invoice, method uuid.UUID, provider string) error {
	b, err := s.bill(ctx, invoice)
	if err != nil {
		return err
	}
	last := b.last()
	switch {
	case last.ID == id:
		return nil // placed already
	case last.Settling && mayBePaid(last.Status):
		return errBeingPaid
	}
	offer, err := s.methodFor(b, provider)
	if err != nil {
		return err
	}
	place := s.paying(b, offer)
	place.ID, place.Charge = id, method
	return s.place(ctx, cause, place)
}

// A bill is an open invoice, what it bills, and the orders that were placed to pay it.
type bill struct {
	invoice projections.Invoice
	bought  projections.Order
	earlier []projections.Order
}

// last is the newest order that was placed to pay the invoice; zero: there is none.
func (b bill) last() (o projections.Order) {
	if n := len(b.earlier); n > 0 {
		o = b.earlier[n-1]
	}
	return o
}

func (s *Service) bill(ctx context.Context, invoice uuid.UUID) (b bill, err error) {
	scope := s.Tables.For(projections.System)
	if b.invoice, err = scope.Billing().Invoice(ctx, invoice); err != nil {
		return b, err
	}
	if b.invoice.Status != billing.Open {
		return b, billing.ErrNotOpen
	}
	if b.bought, err = scope.Orders().Order(ctx, b.invoice.OrderID); err != nil {
		return b, err
	}
	b.earlier, err = scope.Orders().OrdersPaying(ctx, invoice)
	return b, err
}

// paying is an order that pays what is due of a bill with a method, without an id.
func (s *Service) paying(b bill, offer order.Offer) order.Place {
	i, bought := b.invoice, b.bought
	due := billing.Rest(billing.Sum{Total: i.Total, Subtotal: i.Subtotal, Tax: i.Tax}, i.AmountDue)
	return order.Place{
		Subject: bought.Subject,
		Customer: order.Customer{
			Name: bought.CustomerName, Email: bought.CustomerEmail, Company: bought.CustomerCompany,
			Details: bought.Details(),
		},
		Plan: bought.Plan, Period: bought.BillingPeriod, Price: due.Total, TaxRate: i.TaxRate, Tax: i.Treatment, Currency: i.Currency,
		Method: offer.Method, Test: !offer.Live, Language: bought.Language, At: s.Now().UTC(),
		Bill: &order.Bill{Invoice: i.ID, Total: due.Total, Subtotal: due.Subtotal, Tax: due.Tax},
	}
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
func (s *Service) methodFor(b bill, name string) (order.Offer, error) {
	name = cmp.Or(name, b.last().PaymentMethod, b.bought.PaymentMethod)
	offer, usable := s.Offers.Configured(name)
	if !usable || offer.Live == b.bought.Test {
		return offer, domain.RefuseField("payment_method", field.NotAChoice(name))
	}
	return offer, nil
}

func mayBePaid(s order.Status) bool {
	return s == order.StatusPending || s == order.StatusPaymentProcessing
}
