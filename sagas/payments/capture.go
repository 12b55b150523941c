package payments

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// At providers where approval and payment are two steps, a run captures the
// money (rules T5, P-8; docs/sagas.md, "Capture"). Its success is no event yet:
// it makes a check due, and the check records what the provider's books show.

// A CaptureInput says which order is captured, and at which provider.
type CaptureInput struct {
	Order    uuid.UUID `json:"order"`
	Provider string    `json:"provider"`
}

// captures collect money.
type captures struct {
	runner     *sagas.Runner
	store      *eventstore.Store
	tables     *projections.Tables
	providers  providers
	times      Times
	definition sagas.Definition[CaptureInput]
}

// register registers the saga that collects money.
func (s *captures) register() {
	s.definition = sagas.Register(s.runner,
		sagas.Saga[CaptureInput]{Name: "capture", Definition: "capture/1", Steps: []sagas.Step[CaptureInput]{{
			Name: "capture", Says: "collect the money that the customer has agreed to pay",
			Policy:  s.times.capturePolicy(s.runner.Times().Quarantine),
			QueueOf: func(in CaptureInput) string { return paymentQueue(in.Provider) },
			Effect: &sagas.Effect[CaptureInput]{
				Key: func(in CaptureInput) string { return sagas.EffectKey(in.Order, "capture") }, Prepare: s.call, Deferred: s.missed,
			},
		}}})
}

// start is the run that an approval starts.
func (s *captures) start(ctx context.Context, id uuid.UUID) (sagas.Start, error) {
	o, err := orderOf(ctx, s.tables, id)
	return s.definition.Start(id.String(), CaptureInput{Order: id, Provider: o.PaymentMethod}, id), err
}

func (s *captures) call(ctx context.Context, job *CaptureInput) (sagas.Call, error) {
	history, err := s.store.Read(ctx, order.Stream(job.Order))
	if err != nil {
		return sagas.Call{}, err
	}
	timeline := TimelineOf(history, s.runner.Now())
	p, err := s.providers.named(timeline.order.Provider)
	if err != nil {
		return sagas.Call{}, err
	}
	capturer, ok := p.(order.Capturer)
	if !ok {
		return sagas.Call{}, domain.Fail(domain.Permanent, "not_supported", errors.New("the provider captures by itself"))
	}
	saved, err := savedMethod(ctx, s.store, p, timeline.order.Charge)
	if err != nil {
		return sagas.Call{}, err
	}
	return sagas.Call{
		Request: map[string]any{
			"order": job.Order, "session": timeline.order.Session, "minor": timeline.order.Minor,
			"currency": timeline.order.Currency,
		},
		Lookup: func(ctx context.Context) (sagas.Result, sagas.Found, error) {
			return captured(ctx, p, timeline.order.Session)
		},
		Under: func(ctx context.Context, generation int) (sagas.Result, error) {
			if err := s.capturable(timeline); err != nil {
				return sagas.Result{}, err
			}
			key := sagas.KeyOfGeneration("order/"+job.Order.String()+"/capture", generation)
			return sagas.Result{External: timeline.order.Session}, capturer.Capture(
				ctx, order.CaptureCall{
					Order: job.Order, Session: timeline.order.Session, Key: key, Saved: saved, Installation: s.runner.Installation,
				},
			)
		},
		Confirmed: func(sagas.Result) sagas.Work { return checkSoon(job.Order, "captured") },
	}, nil
}

// capturable refuses a capture that is not due, or so late that the provider
// may have told the customer that nothing will be charged.
func (s *captures) capturable(timeline Timeline) error {
	switch {
	case timeline.order.Status != order.StatusPaymentProcessing:
		return domain.Fail(domain.Permanent, "not_due", errors.New("the order is not waiting for its payment"))
	case !s.runner.Now().Before(s.times.lastCapture(timeline)):
		return domain.Fail(domain.Permanent, string(order.CaptureDeadline), errors.New("the approval is too old"))
	}
	return nil
}

// captured looks up whether the money was captured, or is on its way.
func captured(ctx context.Context, p order.Provider, session string) (sagas.Result, sagas.Found, error) {
	truth, err := p.Fetch(ctx, session)
	if err != nil {
		return sagas.Result{}, sagas.No, err
	}
	for _, pay := range truth.Payments {
		if pay.State == order.StatePaid || pay.State == order.StatePending {
			return sagas.Result{External: pay.ID}, sagas.Yes, nil
		}
	}
	return sagas.Result{}, sagas.No, nil
}

// missed makes a check due, which asks the provider once more before the
// order is given up (rule T9).
func (s *captures) missed(job CaptureInput, _ sagas.FailedAttempt) sagas.Work {
	return checkSoon(job.Order, "not captured")
}
