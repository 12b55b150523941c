// Package billing renews subscriptions: it bills the next period, follows an invoice that
// is not paid, and takes payments of open invoices (docs/invoices.md, "Renewals").
package billing

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what billing works with.
type Deps struct {
	Runner  *sagas.Runner
	Store   *eventstore.Store
	Tables  *projections.Tables
	Orders  Orders
	Terms   billing.Terms
	Seller  billing.Seller
	TaxRate decimal.Decimal // percent that prices include, in the mode of the single rate
	Tax     tax.Policy
	Look    time.Duration // between two looks at what is due

	RefundUnused bool // when a subscription is cancelled at once
	YearsKept    int  // of buyers' data, from the end of the year of issue

	Places  Places
	Writers Writers      // of documents; zero: none are made
	Offers  order.Offers // whose names documents show
}

// Places are the tenants' places at the hosting engine.
type Places interface {
	// Grants are the fields of a tenant's record that a plan sets.
	Grants(plan projections.Plan) field.Values
	// Overruns are the limits of a plan that are lower than what a tenant uses.
	Overruns(ctx context.Context, tenant int64, grants field.Values) ([]billing.Overrun, error)
	// EngineCalls are the calls that would bring what a plan grants to a tenant. Nothing
	// is changed.
	EngineCalls(ctx context.Context, tenant int64, grants field.Values) ([]hosting.EngineCall, error)
	// Resize is the command that reserves what the machine of an order needs with another plan;
	// nil: nothing is to be reserved. What cannot be is refused.
	Resize(ctx context.Context, order uuid.UUID, grants field.Values) (domain.Command, error)
}

// A Service bills subscriptions.
type Service struct {
	Deps

	renewals    *sagas.Tasks
	fiscalYears *sagas.Tasks
	documents   *sagas.Tasks
}

// New registers what billing does by itself with the runner.
func New(d Deps) *Service {
	s := &Service{Deps: d}
	s.renewals = sagas.AddTasks(d.Runner, s.renewalQueue(), nil)
	s.fiscalYears = sagas.AddTasks(d.Runner, s.fiscalYearQueue(), nil)
	if d.Writers.PDF != nil {
		s.documents = sagas.AddTasks(d.Runner, s.documentQueue(), nil)
	}
	d.Runner.OnEvent(s.react, sagas.NamesOf(
		order.PaymentConfirmed{}, order.Reopened{}, billing.SubscriptionEnded{}, billing.CancellationRequested{},
		billing.SubscriptionStarted{}, billing.ChargeStarted{}, billing.PaymentMethodRemoved{},
		order.PaymentMethodKept{}, order.Cancelled{},
		account.MembershipRevoked{}, account.SubjectErased{},
		billing.CancellationRevoked{}, billing.PlanChanged{}, billing.ChangeWithdrawn{}, billing.InvoiceIssued{},
		billing.CreditNoteIssued{}, billing.InvoicePaid{}, billing.PaymentBooked{},
	)...)
	return s
}

// policy repeats what fails for some hours, before an operator has to decide.
func (s *Service) policy() sagas.TaskPolicy {
	return sagas.TaskPolicy{Look: s.Look, Base: s.Look, Cap: time.Hour, Attempts: 12}
}

// react is the reaction of billing to an event of the log.
func (s *Service) react(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case billing.InvoiceIssued:
		s.Runner.WakeHere(documents)
		return s.applyCredit(ctx, billing.CreditAccount{Tenant: e.Tenant, Currency: e.Currency, Test: billing.IsTest(e.Ledger)})
	case billing.CreditNoteIssued:
		s.Runner.WakeHere(documents)
		if e.Closes {
			return s.giveBack(ctx, r, decimal.Zero, e.Refund)
		}
	case billing.InvoicePaid:
		if e.Returned.IsPositive() {
			return s.giveBack(ctx, r, e.Returned, billing.PaidOtherwise)
		}
	case billing.PaymentBooked:
		return s.applyCredit(ctx, e.CreditAccount)
	case order.PaymentConfirmed, order.Reopened:
		return s.settle(ctx, r)
	case billing.SubscriptionEnded:
		return errors.Join(s.withdraw(ctx, r, e.Open, e.Reason), s.refundUnused(ctx, r, e.Refund), s.holdUnserved(ctx, r, e))
	case billing.CancellationRequested:
		return s.withdraw(ctx, r, e.Open, billing.Cancelled)
	case billing.SubscriptionStarted:
		return s.save(ctx, r, e.Order)
	case order.PaymentMethodKept:
		return s.save(ctx, r, uuid.MustParse(r.Stream.ID))
	case billing.ChargeStarted:
		return s.charge(ctx, r, e)
	case order.Cancelled:
		return s.chargeEnded(ctx, r, e)
	case billing.PaymentMethodRemoved:
		return s.methodRemoved(ctx, r)
	case account.MembershipRevoked:
		return s.leftTenant(ctx, r, e.Tenant)
	case account.SubjectErased:
		return s.removeMethodsOf(ctx, r, billing.OwnerErased, 0, e.Subject)
	case billing.CancellationRevoked, billing.PlanChanged: // its next invoice may be due
		s.Runner.Wake(renewals)
	case billing.ChangeWithdrawn:
		s.Runner.Wake(renewals)
		return s.withdraw(ctx, r, e.Invoice, e.Reason)
	}
	return nil
}

// withdraw closes the invoice that a subscription leaves open; zero: there is none.
func (s *Service) withdraw(ctx context.Context, r eventstore.RecordedEvent, invoice uuid.UUID, reason string) error {
	if invoice == uuid.Nil {
		return nil
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("withdraw")), Actor: "system:reactions"}
	_, err := s.Store.Execute(ctx, cause, billing.Withdraw{Invoice: invoice, Reason: reason, At: s.Runner.Now()})
	return err
}

// settle takes the money of an order that was placed for an invoice: the invoice is paid
// and the period renewed, in one append. If the invoice is not open any more, or more is
// due, the money goes back.
func (s *Service) settle(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, s.Store, order.Decider, r.Stream)
	if err != nil || !o.PaysInvoice() || o.Status != order.StatusPaid {
		return err
	}
	now := s.Runner.Now()
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("settle")), Actor: "system:reactions"}
	renewed, err := s.paid(
		ctx,
		billing.Pay{ID: o.Invoice, By: id, Method: o.Provider, Reference: o.Confirmed, Amount: money.Major(o.Minor, o.Currency), At: now},
	)
	if err != nil {
		return err
	}
	commands := append(renewed, order.StartProvisioning{ID: id, At: now}, order.Activate{ID: id, At: now})
	_, err = s.Store.Execute(ctx, cause, commands...)
	if errors.Is(err, billing.ErrNotOpen) || errors.Is(err, billing.ErrPaidLess) {
		cause.ID = uuid.NewSHA1(r.ID, []byte("give back"))
		_, err = s.Store.Execute(ctx, cause, order.CompleteCompensation{ID: id, At: now})
	}
	return err
}

// paid are the commands that pay an invoice and renew its subscription.
func (s *Service) paid(ctx context.Context, pay billing.Pay) ([]domain.Command, error) {
	i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, pay.Stream())
	if err != nil {
		return nil, err
	}
	return []domain.Command{pay, billing.Renew{Order: i.Order, Invoice: pay.ID, At: pay.At, Terms: s.Terms}}, nil
}

// Waive withdraws an open invoice on an operator's word. The period that it bills is free.
func (s *Service) Waive(ctx context.Context, cause domain.Metadata, invoice uuid.UUID, reason string) error {
	withdraw := billing.Withdraw{Invoice: invoice, Reason: "waived", At: s.Runner.Now()}
	i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, withdraw.Stream())
	switch {
	case err != nil:
		return err
	case reason == "":
		return domain.RefuseField("reason", "This field is required.")
	case !i.Issued:
		return domain.Refuse(domain.NotFound, "No Invoice matches the given query.")
	case i.Status != billing.Open:
		return billing.ErrNotOpen
	}
	_, err = s.Store.Execute(
		ctx, cause, withdraw,
		billing.Renew{Order: i.Order, Invoice: invoice, Waived: reason, At: withdraw.At, Terms: s.Terms},
	)
	return err
}

// Cancel ends a subscription with the period that is paid for. KeepOn takes that back.
func (s *Service) Cancel(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error {
	_, err := s.Store.Execute(ctx, cause, billing.CancelAtEnd{Order: subscription, At: s.Runner.Now()})
	return err
}

// CancelNow ends a subscription and its service at once.
func (s *Service) CancelNow(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error {
	_, err := s.Store.Execute(ctx, cause, billing.CancelNow{Order: subscription, RefundUnused: s.RefundUnused, At: s.Runner.Now()})
	return err
}

// KeepOn takes the cancellation of a subscription back.
func (s *Service) KeepOn(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error {
	_, err := s.Store.Execute(ctx, cause, billing.KeepOn{Order: subscription, At: s.Runner.Now(), Terms: s.Terms})
	return err
}

// Extend gives the customer of an open invoice time until a day, for a reason.
func (s *Service) Extend(ctx context.Context, cause domain.Metadata, subscription uuid.UUID, until time.Time, reason string) error {
	_, err := s.Store.Execute(
		ctx, cause,
		billing.Extend{Order: subscription, Until: until, Reason: reason, At: s.Runner.Now(), Terms: s.Terms},
	)
	return err
}
