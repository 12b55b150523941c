package assembly

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
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
