package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A charge of a saved payment method is an order that pays the invoice, without a page. Its
// end is the outcome of the charge (docs/invoices.md, "Saved payment methods").

// Orders charges open invoices.
type Orders interface {
	// ChargeInvoice places an order that charges a saved payment method of a provider with
	// an open invoice. A repeat places no other.
	ChargeInvoice(ctx context.Context, cause domain.Metadata, id, invoice, method uuid.UUID, provider string) error
}

// chargeOrder is the id of the order that charges an invoice for the count-th time.
func chargeOrder(invoice uuid.UUID, count int) uuid.UUID {
	return uuid.NewSHA1(invoice, fmt.Appendf(nil, "charge/%d", count))
}

// charge places the order of a charge. One that cannot be placed has failed.
func (s *Service) charge(ctx context.Context, r eventstore.RecordedEvent, e billing.ChargeStarted) error {
	id := uuid.MustParse(r.Stream.ID)
	method, _, err := eventstore.Fold(ctx, s.Store, billing.PaymentMethods, billing.PaymentMethodStream(e.Method))
	if err != nil {
		return err
	}
	fail := billing.FailCharge{Order: id, Invoice: e.Invoice, Count: e.Count, At: s.Runner.Now(), Terms: s.Terms}
	if !method.Usable() {
		fail.Code, fail.Final = order.MethodGone, true
		return s.follow(ctx, r, "not charged", fail)
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("charge")), Actor: "system:billing"}
	err = s.Orders.ChargeInvoice(ctx, cause, chargeOrder(e.Invoice, e.Count), e.Invoice, e.Method, method.Provider)
	var refusal *domain.Error
	switch {
	case err == nil, errors.Is(err, billing.ErrNotOpen):
		return nil
	case errors.As(err, &refusal) && refusal.Code != domain.Unavailable && !errors.Is(err, eventstore.ErrConflict):
		fail.Code = cmp.Or(refusal.Reason, "not_charged")
		return s.follow(ctx, r, "not charged", fail)
	}
	return err
}

// chargeEnded records that the order of a charge was given up, and why. A method that its
// provider does not keep any more has ended.
func (s *Service) chargeEnded(ctx context.Context, r eventstore.RecordedEvent, e order.Cancelled) error {
	o, _, err := eventstore.Fold(ctx, s.Store, order.Decider, r.Stream)
	if err != nil || !o.Charges() || o.Status != order.StatusCancelled {
		return err
	}
	i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, billing.Pay{ID: o.Invoice}.Stream())
	if err != nil {
		return err
	}
	sub, _, err := eventstore.Fold(ctx, s.Store, billing.Subscriptions, billing.Advance{Order: i.Order}.Stream())
	if err != nil || sub.Open != o.Invoice || chargeOrder(o.Invoice, sub.Charges) != o.ID {
		return err
	}
	code := cmp.Or(o.Refused, string(o.Cause))
	commands := []domain.Command{billing.FailCharge{
		Order: i.Order, Invoice: o.Invoice, Count: sub.Charges, Code: code,
		Final: code == order.NeedsCustomer || code == order.MethodGone, Untried: untried(o, e),
		At: s.Runner.Now(), Terms: s.Terms,
	}}
	if code == order.MethodGone {
		commands = append(commands, billing.RemoveMethod{ID: o.Charge, Reason: billing.GoneAtProvider, At: s.Runner.Now()})
	}
	return s.follow(ctx, r, "charge ended", commands...)
}

// untried tells whether the time of a charge's order was over without a failure or a refusal.
func untried(o order.Order, e order.Cancelled) bool {
	late := e.Reason == order.NoSession || e.Reason == order.Expired || e.Reason == order.CaptureDeadline
	return late && o.Refused == "" && e.Note == ""
}

// follow appends what follows from an event, once.
func (s *Service) follow(ctx context.Context, r eventstore.RecordedEvent, what string, commands ...domain.Command) error {
	_, err := s.Store.Execute(ctx, domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte(what)), Actor: "system:reactions"}, commands...)
	return err
}
