package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Where the customer's word and the money are two things, a run fetches the
// money (rules T5, P-8; docs/sagas.md, "Capture"). What it sends is not yet a
// fact: it makes the order be looked at, and the order takes the provider's
// books for what has happened.
const captureDef = "capture/1"

func (s *Sagas) captureStep() step {
	return step{
		name: "capture", says: "collect the money that the customer has agreed to pay", policy: s.policies.capture,
		effect: &effect{key: keyed("capture"), prepare: s.captureCall, deferred: s.captureMissed},
	}
}

// capture is the run that an approval starts.
func (s *Sagas) capture(ctx context.Context, id uuid.UUID) (Start, error) {
	o, err := s.order(ctx, id)
	return Start{
		Key: "capture:" + id.String(), Def: captureDef, Steps: []Place{{Name: "capture", Queue: paymentQueue(o.PaymentMethod)}}, Job: Job{Order: id}, Order: id,
	}, err
}

func (s *Sagas) captureCall(ctx context.Context, job Job) (Call, error) {
	history, err := s.store.Read(ctx, order.Stream(job.Order))
	if err != nil {
		return Call{}, err
	}
	g := lookAt(history, s.now())
	p, err := s.provider(g.order.Provider)
	if err != nil {
		return Call{}, err
	}
	capturer, ok := p.(Capturer)
	if !ok {
		return Call{}, domain.Fail(domain.Permanent, "not_supported", errors.New("the provider captures by itself"))
	}
	return Call{
		Request: map[string]any{"order": job.Order, "session": g.order.Session, "minor": g.order.Minor, "currency": g.order.Currency},
		Lookup:  func(ctx context.Context) (Result, Found, error) { return captured(ctx, p, g.order.Session) },
		Under: func(ctx context.Context, generation int) (Result, error) {
			if err := s.capturable(g); err != nil {
				return Result{}, err
			}
			key := ofGeneration("order/"+job.Order.String()+"/capture", generation)
			return Result{External: g.order.Session}, capturer.Capture(ctx, order.CaptureCall{Order: job.Order, Session: g.order.Session, Key: key})
		},
		Confirmed: func(Result) Work { return s.lookAgain(job.Order, "captured") },
	}, nil
}

// capturable refuses to fetch money that nobody owes, or so late that the
// provider may have told the customer that nothing will be taken.
func (s *Sagas) capturable(g glance) error {
	switch {
	case g.order.Status != order.StatusPaymentProcessing:
		return domain.Fail(domain.Permanent, "not_due", errors.New("the order is not waiting for its payment"))
	case !s.now().Before(s.lastCapture(g)):
		return domain.Fail(domain.Permanent, string(order.CaptureDeadline), errors.New("the approval is too old"))
	}
	return nil
}

// captured looks whether the money has been fetched, or is on its way.
func captured(ctx context.Context, p Payments, session string) (Result, Found, error) {
	truth, err := p.Fetch(ctx, session)
	if err != nil {
		return Result{}, No, err
	}
	for _, pay := range truth.Payments {
		if pay.State == order.StatePaid || pay.State == order.StatePending {
			return Result{External: pay.ID}, Yes, nil
		}
	}
	return Result{}, No, nil
}

// captureMissed leaves the order to its watch, which asks once more what the
// provider holds for true before it gives the order up (rule T9).
func (s *Sagas) captureMissed(job Job, _ lapse) Work { return s.lookAgain(job.Order, "not captured") }

// lookAgain makes an order be looked at as soon as this has happened.
func (s *Sagas) lookAgain(id uuid.UUID, reason string) Work {
	return Work{
		Rows: []eventstore.Row{{
			Key:  "payment_watch/" + id.String(),
			SQL:  `update payment_watch set next_at = least(next_at, now()), wakes = wakes + 1, reason = $2 where order_id = $1`,
			Args: []any{id, reason}, Touches: eventstore.AnyRows,
		}},
		Wakes: watchQueue,
	}
}
