// Package orders turns orders into services. [Service] places orders and
// sends their customers to pay. [Provisioner] makes what was paid for, compensates
// what was cancelled, and ends services (docs/sagas.md, "Provisioning").
package orders

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
)

// A Service places orders.
type Service struct {
	Options
	Places *Places
}

// Options are what a [Service] works with.
type Options struct {
	Tables   *projections.Tables
	Commands Commands
	Subjects Subjects
	Payments Payments
	Domains  Domains
	Offers   order.Offers
	TaxRate  decimal.Decimal // that of the single rate
	Tax      tax.Policy
	Rest     time.Duration    // of addresses of machines that have gone; 0: the usual one, below 0: none
	Now      func() time.Time // business time; nil: the real time
}

// Commands appends what is decided on, all or nothing.
type Commands interface {
	Execute(context.Context, domain.Metadata, ...domain.Command) (domain.Receipt, error)
}

// Subjects finds the person with an address, or makes one.
type Subjects interface {
	Subject(ctx context.Context, email string) (uuid.UUID, error)
}

// Domains tells which domains customers may have.
type Domains interface {
	// RefuseDomain says why a new customer may not have a domain that is free;
	// "": it may.
	RefuseDomain(ctx context.Context, name string) (refusal string, err error)
}

// Payments opens pages on which customers pay.
type Payments interface {
	// OpenSessionOf makes sure that a pending order has a page to be paid on. A
	// repeat answers with the same session. It ends within 20 seconds.
	OpenSessionOf(ctx context.Context, o projections.Order) (order.Session, error)
}

// New returns a service.
func New(o Options) *Service {
	o.Now = clock.Or(o.Now)
	return &Service{o, NewPlaces(o.Tables, o.Rest, o.Now)}
}

// Place puts a prepared order into the log. The function located is told its
// id before.
func (s *Service) Place(ctx context.Context, cause func() domain.Metadata, d *order.Draft, located func(id uuid.UUID)) (uuid.UUID, error) {
	subject, err := s.Subjects.Subject(ctx, d.Customer.Email)
	if err != nil {
		return uuid.Nil, err
	}
	command := d.Agreed
	command.ID, command.Subject, command.At = uuid.New(), subject, s.Now().UTC()
	if d.KeepMethod {
		command.KeepFor = subject
	}
	located(command.ID)
	m := cause()
	m.Correlation = command.ID // of all that will come of the order
	if command.Plan.VPS == nil || command.Bill != nil {
		return command.ID, s.place(ctx, m, command)
	}
	return command.ID, s.Places.Placed(ctx, command, func(command order.Place) error { return s.place(ctx, m, command) })
}

const numberTries = 5 // of 32^6 numbers a day

// place puts the order into the log. If its number is taken, it gets another.
func (s *Service) place(ctx context.Context, cause domain.Metadata, command order.Place) (err error) {
	for range numberTries {
		var random [6]byte
		_, _ = rand.Read(random[:]) // never fails
		command.Suffix = order.Suffix(random)
		var refusal *domain.Error
		if _, err = s.Commands.Execute(ctx, cause, command); !errors.As(err, &refusal) || refusal.Reason != "order_number_taken" {
			return err
		}
	}
	return err
}

// sessionTime is how long a payment provider may take to open a page, with a
// little room for recording the session. It does not end when the customer's
// connection does: what was begun is finished.
const sessionTime = 25 * time.Second

// ToPayment makes sure that a pending order can be paid, and tells where. If
// the provider opens no page, the error is an [order.ErrNoPaymentPage].
func (s *Service) ToPayment(ctx context.Context, id uuid.UUID) (order.Payable, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionTime)
	defer cancel()
	o, err := s.Tables.For(projections.System).Orders().Order(ctx, id)
	if err != nil {
		return order.Payable{}, err
	}
	placed := order.Payable{ID: id, Number: o.OrderNumber, PaymentURL: o.PaymentURL, Status: o.Status}
	if o.Status != order.StatusPending {
		return placed, nil
	}
	session, err := s.Payments.OpenSessionOf(ctx, o)
	if err != nil {
		return placed, fmt.Errorf("%w: %w", order.ErrNoPaymentPage, err)
	}
	placed.PaymentURL, placed.Status = session.URL, order.StatusPaymentProcessing
	return placed, nil
}
