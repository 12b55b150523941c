// Package payments handles everything about money and payment providers:
// checkout, webhooks, polling, capture, refunds, disputes, credit notes, and the
// comparison of money with service. docs/sagas.md describes how it works,
// docs/orders.md what it means for an order.
package payments

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what payments need of the rest of the program.
type Deps struct {
	Runner    *sagas.Runner
	Store     *eventstore.Store
	Tables    *projections.Tables
	Providers map[string]order.Provider // by name
	PublicURL func() string             // where customers reach the panel, without a slash at the end
	Times     Times

	RefundLate bool // late payments go back; none reopens its order

	// Place is the place that the machine of a plan can have now, with a system. Needed tells
	// whether it needs one. Nil: the panel keeps no stock.
	Place func(ctx context.Context, plan order.Plan, system string) (place *compute.Placement, needed bool, err error)
}

// A Service carries out payments with all providers.
type Service struct {
	*Inbox
	Pages *Pages

	runner    *sagas.Runner
	store     *eventstore.Store
	pool      *pgxpool.Pool
	tables    *projections.Tables
	providers providers
	publicURL func() string
	times     Times

	refundLate bool
	place      func(context.Context, order.Plan, string) (*compute.Placement, bool, error)

	captures    *captures
	refunds     *refunds
	removals    *methodRemoval
	creditNotes creditNotes
	backoff     providerBackoff
	fetches     chan struct{} // semaphore

	checked atomic.Int64 // since this process started
}

// checksAtOnce and fetchesAtOnce are how many checks one process works on at once, and
// how many of them may ask a provider. callsAtOnce is how many calls of runs all processes
// make to one provider.
const (
	checksAtOnce  = 32
	fetchesAtOnce = 8
	callsAtOnce   = 4
)

// The queues whose wake-ups announce webhooks and due checks. No step waits in
// them.
const (
	inboxQueue = "inbox"
	watchQueue = "watch"
)

// New registers all that payments do with the runner.
func New(d Deps) *Service {
	if d.Place == nil {
		d.Place = func(context.Context, order.Plan, string) (*compute.Placement, bool, error) { return nil, false, nil }
	}
	s := &Service{
		Inbox: newInbox(d), runner: d.Runner, store: d.Store, pool: d.Store.Pool(), tables: d.Tables, providers: d.Providers,
		publicURL: d.PublicURL, times: d.Times,
		refundLate: d.RefundLate, place: d.Place,
		Pages: &Pages{
			runner: d.Runner, store: d.Store, tables: d.Tables, providers: d.Providers, publicURL: d.PublicURL, times: d.Times,
		},
		captures:    &captures{runner: d.Runner, store: d.Store, tables: d.Tables, providers: d.Providers, times: d.Times},
		refunds:     &refunds{runner: d.Runner, store: d.Store, tables: d.Tables, providers: d.Providers, times: d.Times},
		removals:    &methodRemoval{runner: d.Runner, store: d.Store, providers: d.Providers, times: d.Times},
		creditNotes: creditNotes{d.Store, d.Runner.Now},
		backoff:     newProviderBackoff(), fetches: make(chan struct{}, fetchesAtOnce),
	}
	for provider := range s.providers {
		s.runner.AddQueue(paymentQueue(provider), callsAtOnce)
	}
	s.runner.AddQueue(forgetQueue, callsAtOnce)
	s.captures.register()
	s.refunds.register()
	s.removals.register()
	s.runner.OnAppend(s.starts)
	s.runner.OnEvent(s.react, sagas.NamesOf(
		order.Placed{}, order.RefundCompleted{}, order.PartiallyRefunded{}, order.DisputeClosed{}, order.RefundFailed{},
		order.RefundRequested{}, billing.InvoiceIssued{},
		billing.MethodSetupStarted{}, billing.MethodSetupEnded{},
	)...)
	s.poll()
	s.runner.EachRound("money and service were not compared", s.ReconcileDaily)
	return s
}

// starts are the runs that begin with decisions about money: to collect it, to give it
// back, or to charge a method no more.
func (s *Service) starts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(s.runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
		switch e := r.Event.(type) {
		case order.PaymentApproved:
			run, err = s.captures.start(ctx, uuid.MustParse(r.Stream.ID))
			return run, true, err
		case order.RefundRequested:
			run, err = s.refunds.start(ctx, uuid.MustParse(r.Stream.ID), e.Refund)
			return run, true, err
		case billing.PaymentMethodRemoved:
			if e.Reason == billing.GoneAtProvider {
				return run, false, nil
			}
			id := uuid.MustParse(r.Stream.ID)
			return s.removals.definition.Start(id.String(), ForgetInput{Method: id}, uuid.Nil), true, nil
		case billing.MethodSetupDiscarded:
			id := uuid.MustParse(r.Stream.ID)
			return s.removals.definition.Start(id.String(), ForgetInput{Setup: id}, uuid.Nil), true, nil
		}
		return run, false, nil
	})
}

// react is the reaction of payments to an event of the log.
func (s *Service) react(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case order.Placed:
		if e.Charge != uuid.Nil {
			return s.watchCharge(ctx, e)
		}
		return watchPending(ctx, s.runner, e.Order, e.Provider, e.At.Add(s.times.PendingTTL))
	case order.RefundCompleted, order.PartiallyRefunded, order.DisputeClosed:
		return errors.Join(s.creditNotes.write(ctx, r), s.refunds.endNeedless(ctx, r))
	case order.RefundFailed, order.RefundRequested:
		return s.refunds.endNeedless(ctx, r)
	case billing.InvoiceIssued:
		return s.creditNotes.write(ctx, r)
	case billing.MethodSetupStarted:
		return watchPending(ctx, s.runner, uuid.MustParse(r.Stream.ID), e.Provider, e.At.Add(s.times.PendingTTL))
	case billing.MethodSetupEnded:
		return setups{s}.closeSession(ctx, uuid.MustParse(r.Stream.ID))
	}
	return nil
}

// paymentQueue is where calls to one payment provider wait for their turn.
func paymentQueue(provider string) string { return "payments:" + provider }

// providers are those of payments, by name.
type providers map[string]order.Provider

// named is the one with this name.
func (s providers) named(name string) (order.Provider, error) {
	p, ok := s[name]
	if !ok {
		return nil, domain.Fail(domain.Transient, "provider_not_configured", fmt.Errorf("no provider %s", name))
	}
	return p, nil
}

// orderOf is all that is known of an order, personal data included.
func orderOf(ctx context.Context, tables *projections.Tables, id uuid.UUID) (projections.Order, error) {
	return tables.For(projections.System).Orders().OrderForRun(ctx, id)
}
