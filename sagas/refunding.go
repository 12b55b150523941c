package sagas

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// That money shall go back is decided once, in the order; a run brings it about
// (rules T19, T21, T22, T25; docs/sagas.md, "Refunds"). That it has gone only
// the provider's books tell, so a refund that was sent makes the order be
// looked at, and one that is pending waits for its watch.
const refundDef = "refund/1"

// moneySteps move money at a provider; their runs say whose queue they wait in.
func (s *Sagas) moneySteps() []step {
	return []step{s.captureStep(), s.lostStep(), {
		name: "refund", says: "give the money back", policy: s.policies.refund,
		effect: &effect{key: func(j Job) string { return effectKey(j.Order, fmt.Sprintf("refund/%d", j.Refund)) }, prepare: s.refundCall},
	}}
}

func (s *Sagas) moneySagas() []saga {
	return []saga{{name: "mail", def: lostDef}, {name: "capture", def: captureDef}, {
		name: "refund", def: refundDef,
		parked: func(j Job, _, code string) []domain.Command {
			return []domain.Command{order.FailRefund{ID: j.Order, N: j.Refund, Code: code, At: s.now()}}
		},
	}}
}

// refund is the run that brings one decision to give money back about.
func (s *Sagas) refund(ctx context.Context, id uuid.UUID, ask order.Ask) (Start, error) {
	o, err := s.order(ctx, id)
	return Start{
		Key: fmt.Sprintf("refund:%s/%d", id, ask.N), Def: refundDef, Steps: []Place{{Name: "refund", Queue: paymentQueue(o.PaymentMethod)}},
		Job: Job{Order: id, Refund: ask.N}, Order: id,
	}, err
}

func (s *Sagas) refundCall(ctx context.Context, job Job) (Call, error) {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(job.Order))
	if err != nil {
		return Call{}, err
	}
	p, err := s.provider(o.Provider)
	if err != nil {
		return Call{}, err
	}
	if job.Refund < 1 || job.Refund > len(o.Asked) {
		return Call{}, domain.Fail(domain.Permanent, "not_asked_for", errors.New("nobody has decided on this refund"))
	}
	ask := o.Asked[job.Refund-1]
	call := order.RefundCall{
		Order: job.Order, Number: o.Number, Session: o.Payments[ask.Payment].Session, Payment: ask.Payment,
		Reference: ask.Reference(job.Order), Minor: ask.Minor, Currency: ask.Currency,
	}
	needed, err := s.stillDue(ctx, o, job)
	if err != nil || !needed {
		return Call{}, err
	}
	return Call{
		Request: map[string]any{"reference": call.Reference, "payment": call.Payment, "minor": call.Minor, "currency": call.Currency},
		Lookup:  func(ctx context.Context) (Result, Found, error) { return refunded(ctx, p, call) },
		Under: func(ctx context.Context, generation int) (Result, error) {
			call.Key = ofGeneration(call.Reference, generation)
			r, err := p.Refund(ctx, call)
			return Result{External: r.ID}, err
		},
		Confirmed: func(Result) Work { return s.lookAgain(job.Order, "refunded") },
	}, nil
}

// stillDue tells whether a refund is still to be sent. It is not if it has been
// given up, or if nothing is left of its payment, unless it may have been sent:
// then that has to be found out.
func (s *Sagas) stillDue(ctx context.Context, o order.Order, job Job) (bool, error) {
	for _, open := range o.Open() {
		if open.N == job.Refund {
			return true, nil
		}
	}
	e, err := s.entry(ctx, s.steps["refund"].effect.key(job))
	return e.state != "" && e.state != absent, err
}

// refunded looks for our reference in the provider's books.
func refunded(ctx context.Context, p Payments, c order.RefundCall) (Result, Found, error) {
	truth, err := p.Fetch(ctx, c.Session)
	if err != nil {
		return Result{}, No, err
	}
	for _, pay := range truth.Payments {
		for _, r := range pay.Refunds {
			if r.Reference == c.Reference {
				return Result{External: r.ID}, Yes, nil
			}
		}
	}
	return Result{}, No, nil
}

// Refund gives money of an order back: an amount in its currency, or, with nil,
// all that is left. The provider is asked first, so that nothing goes back that
// has gone back already; if it does not answer, nothing is decided.
func (s *Sagas) Refund(ctx context.Context, cause domain.Cause, id uuid.UUID, amount *decimal.Decimal, reason string) error {
	return s.decideInTruth(ctx, byOperator(cause, id), id, order.RequestRefund{ID: id, Amount: amount, Reason: reason, At: s.now()})
}

// Accept takes money that came otherwise than ordered for the order's own (rule
// T11), unless it has gone back meanwhile.
func (s *Sagas) Accept(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	return s.decideInTruth(ctx, byOperator(cause, id), id, order.Accept{ID: id, Reason: reason, At: s.now()})
}

// decideInTruth carries out an operator's command on an order as its provider
// shows it now. What is new about it is put on record first, whatever becomes
// of the command.
func (s *Sagas) decideInTruth(ctx context.Context, cause domain.Cause, id uuid.UUID, decide order.Command) error {
	history, err := s.store.Read(ctx, order.Stream(id))
	if err != nil {
		return err
	}
	look := lookAt(history, s.now())
	if _, err := order.Decider.Decide(look.order, decide); domain.CodeOf(err) == domain.Invalid || domain.CodeOf(err) == domain.NotFound {
		return err // the provider need not be asked
	}
	if look.order.Session != "" {
		if err := s.bringUpToDate(ctx, look); err != nil {
			return err
		}
	}
	again := s.lookAgain(id, "operator")
	if _, err := s.store.ExecuteWith(ctx, cause, again.Rows, decide); err != nil {
		return err
	}
	for _, queue := range []string{again.Wakes, localQueue, paymentQueue(look.order.Provider)} {
		s.wake(queue)
	}
	return nil
}

// bringUpToDate asks the provider about an order outside its watch.
func (s *Sagas) bringUpToDate(ctx context.Context, look glance) error {
	c := check{order: look.order.ID, provider: look.order.Provider}
	truths, err := s.fetch(ctx, c, look)
	if err != nil {
		s.log.WarnContext(ctx, "an order could not be decided on", "order", c.order, "provider", c.provider, "error", scrub(err))
		return errProviderAway
	}
	commands, booked, err := s.observe(ctx, c, look, truths)
	if err != nil {
		return err
	}
	cause := domain.Cause{ID: uuid.New(), Actor: "provider:" + c.provider, Correlation: c.order}
	_, err = s.store.ExecuteWith(ctx, cause, booked, commands...)
	return err
}
