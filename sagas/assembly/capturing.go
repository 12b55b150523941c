package assembly

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Where the customer's word and the money are two things, a run fetches the
// money (rules T5, P-8; docs/sagas.md, "Capture"). What it sends is not yet a
// fact: it makes the order be looked at, and the order takes the provider's
// books for what has happened.

// A CaptureInput says whose money is fetched, and where.
type CaptureInput struct {
	Order    uuid.UUID `json:"order"`
	Provider string    `json:"provider"`
}

// capture is the run that an approval starts.
func (s *Panel) capture(ctx context.Context, id uuid.UUID) (sagas.Start, error) {
	o, err := s.order(ctx, id)
	return s.captures.Start(id.String(), CaptureInput{Order: id, Provider: o.PaymentMethod}, id), err
}

func (s *Panel) captureCall(ctx context.Context, job *CaptureInput) (sagas.Call, error) {
	history, err := s.store.Read(ctx, order.Stream(job.Order))
	if err != nil {
		return sagas.Call{}, err
	}
	g := timelineOf(history, s.Now())
	p, err := s.provider(g.order.Provider)
	if err != nil {
		return sagas.Call{}, err
	}
	capturer, ok := p.(order.Capturer)
	if !ok {
		return sagas.Call{}, domain.Fail(domain.Permanent, "not_supported", errors.New("the provider captures by itself"))
	}
	return sagas.Call{
		Request: map[string]any{"order": job.Order, "session": g.order.Session, "minor": g.order.Minor, "currency": g.order.Currency},
		Lookup:  func(ctx context.Context) (sagas.Result, sagas.Found, error) { return captured(ctx, p, g.order.Session) },
		Under: func(ctx context.Context, generation int) (sagas.Result, error) {
			if err := s.capturable(g); err != nil {
				return sagas.Result{}, err
			}
			key := sagas.KeyOfGeneration("order/"+job.Order.String()+"/capture", generation)
			return sagas.Result{External: g.order.Session}, capturer.Capture(ctx, order.CaptureCall{Order: job.Order, Session: g.order.Session, Key: key})
		},
		Confirmed: func(sagas.Result) sagas.Work { return s.lookAgain(job.Order, "captured") },
	}, nil
}

// capturable refuses to fetch money that nobody owes, or so late that the
// provider may have told the customer that nothing will be taken.
func (s *Panel) capturable(g paymentTimeline) error {
	switch {
	case g.order.Status != order.StatusPaymentProcessing:
		return domain.Fail(domain.Permanent, "not_due", errors.New("the order is not waiting for its payment"))
	case !s.Now().Before(s.times.lastCapture(g)):
		return domain.Fail(domain.Permanent, string(order.CaptureDeadline), errors.New("the approval is too old"))
	}
	return nil
}

// captured looks whether the money has been fetched, or is on its way.
func captured(ctx context.Context, p Payments, session string) (sagas.Result, sagas.Found, error) {
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

// captureMissed leaves the order to its watch, which asks once more what the
// provider holds for true before it gives the order up (rule T9).
func (s *Panel) captureMissed(job CaptureInput, _ sagas.FailedAttempt) sagas.Work {
	return s.lookAgain(job.Order, "not captured")
}

// lookAgain makes an order be looked at as soon as this has happened.
func (s *Panel) lookAgain(id uuid.UUID, reason string) sagas.Work {
	return sagas.Work{
		Rows: []eventstore.TxStatement{{
			Key:  "payment_watch/" + id.String(),
			SQL:  `update payment_watch set next_at = least(next_at, business_now()), wakes = wakes + 1, reason = $2 where order_id = $1`,
			Args: []any{id, reason}, WantRows: eventstore.AnyRows,
		}},
		Wakes: watchQueue,
	}
}
