package notices

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// approvalLostMail is the run that tells a customer that an approved payment was
// not collected and the order has ended (rule T9). An order that ends for
// another reason needs none.
func (n *Notifier) approvalLostMail(id uuid.UUID, e order.Cancelled) (sagas.Start, bool) {
	if e.Reason != order.ApprovalReversed && e.Reason != order.CaptureDeadline {
		return sagas.Start{}, false
	}
	key := sagas.EffectKey(id, "lost")
	return n.approvalLostMails.Start(key, OrderMail{Order: id, Key: key}, id), true
}

func (n *Notifier) approvalLostCall(ctx context.Context, job *OrderMail) (sagas.Call, error) {
	o, err := n.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	if o.CustomerEmail == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	l := lostLetter(o)
	user, to, err := n.recipient(ctx, o.Subject)
	if err == nil {
		l, err = n.branded(ctx, homeTenant(user), l)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	return n.mailCall(envelope{key: job.Key, letter: l, to: to, request: map[string]any{"subject": o.Subject}})
}

// lostLetter tells the customer that nothing was collected, and where to order again.
func lostLetter(o projections.Order) notice.Letter {
	return notice.Letter{
		Occasion: notice.ApprovalLost, To: o.CustomerEmail, Name: o.CustomerName, Language: o.Language,
		Order: o.OrderNumber, Plan: o.PlanName,
		Link: order.ReturnPage(o.ID) + "?outcome=cancel",
	}
}
