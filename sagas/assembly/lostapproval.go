package assembly

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Who has agreed to pay expects something to happen. If the money could not be
// fetched and the order is given up, the customer is told (rule T9).
// lostMail is the run that tells the customer; an order that nobody had agreed
// to pay needs none.
func (s *Panel) lostMail(id uuid.UUID, e order.Cancelled) (sagas.Start, bool) {
	if e.Reason != order.ApprovalReversed && e.Reason != order.CaptureDeadline {
		return sagas.Start{}, false
	}
	key := sagas.EffectKey(id, "lost")
	return s.approvalLost.Start(key, OrderMail{Order: id, Key: key}, id), true
}

func (s *Panel) lostCall(ctx context.Context, job *OrderMail) (sagas.Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	if o.CustomerEmail == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	l := notice.Letter{
		Occasion: notice.ApprovalLost, To: o.CustomerEmail, Name: o.CustomerName, Language: o.Language, Order: o.OrderNumber, Plan: o.PlanName,
	}
	user, to, err := s.recipient(ctx, o.Subject)
	if err == nil {
		l, err = s.branded(ctx, home(user), l)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	return s.mailCall(envelope{key: job.Key, letter: l, to: to, request: map[string]any{"subject": o.Subject}})
}

// moneyStarts are the runs that begin with decisions about money: to fetch
// it, to give it back, or to tell that it was never fetched.
func (s *Panel) moneyStarts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(s.Runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
		switch e := r.Event.(type) {
		case order.Approved:
			run, err = s.capture(ctx, uuid.MustParse(r.Stream.ID))
			begins = true
		case order.RefundRequested:
			run, err = s.refund(ctx, uuid.MustParse(r.Stream.ID), e.Refund)
			begins = true
		case order.Cancelled:
			run, begins = s.lostMail(uuid.MustParse(r.Stream.ID), e)
		}
		return run, begins, err
	})
}
