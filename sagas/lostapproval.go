package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Who has agreed to pay expects something to happen. If the money could not be
// fetched and the order is given up, the customer is told (rule T9).
const lostDef = "mail/3"

func (s *Sagas) lostStep() step {
	return step{
		name: "lost", says: "tell the customer that nothing was collected", queue: mailQueue, policy: s.policies.late,
		effect: &effect{key: func(j Job) string { return j.Effect }, prepare: s.lostCall, deferred: func(_ Job, l lapse) Work { return s.blame(l) }},
	}
}

// lostMail is the run that tells the customer; an order that nobody had agreed
// to pay needs none.
func (s *Sagas) lostMail(id uuid.UUID, e order.Cancelled) (Start, bool) {
	if e.Reason != order.ApprovalReversed && e.Reason != order.CaptureDeadline {
		return Start{}, false
	}
	key := effectKey(id, "lost")
	return Start{Key: "mail:" + key, Def: lostDef, Steps: s.places([]string{"lost"}), Job: Job{Order: id, Effect: key}, Order: id}, true
}

func (s *Sagas) lostCall(ctx context.Context, job Job) (Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Call{}, err
	}
	if o.CustomerEmail == "" {
		return Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	l := notice.Letter{
		Occasion: notice.ApprovalLost, To: o.CustomerEmail, Name: o.CustomerName, Language: o.Language, Order: o.OrderNumber, Plan: o.PlanName,
	}
	user, to, err := s.recipient(ctx, o.Subject)
	if err == nil {
		l, err = s.branded(ctx, home(user), l)
	}
	if err != nil {
		return Call{}, err
	}
	return s.mailCall(envelope{key: job.Effect, letter: l, to: to, request: map[string]any{"subject": o.Subject}})
}

// moneyStarts are the runs that begin with decisions about money: to fetch
// it, to give it back, or to tell that it was never fetched.
func (s *Sagas) moneyStarts(ctx context.Context, facts []eventstore.Recorded) (starts []eventstore.Start, err error) {
	for i, fact := range facts {
		var run Start
		begins := true
		switch e := fact.Event.(type) {
		case order.Approved:
			run, err = s.capture(ctx, uuid.MustParse(fact.Stream.ID))
		case order.RefundRequested:
			run, err = s.refund(ctx, uuid.MustParse(fact.Stream.ID), e.Refund)
		case order.Cancelled:
			run, begins = s.lostMail(uuid.MustParse(fact.Stream.ID), e)
		default:
			begins = false
		}
		if err != nil {
			return nil, err
		}
		if begins {
			starts = append(starts, eventstore.Start{Fact: i, Command: run, Rows: s.startRows(Decider.Evolve(Run{}, Started(run)))})
		}
	}
	return starts, nil
}
