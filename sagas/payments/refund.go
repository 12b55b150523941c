package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A refund is decided once, by the order. A run carries it out at the provider
// (rules T19, T21, T22, T25; docs/sagas.md, "Refunds"). Only the provider's
// books prove it: a refund that was sent makes a check due, and a pending one
// is polled.

// A RefundInput says which refund is carried out, and at which provider.
type RefundInput struct {
	Order    uuid.UUID `json:"order"`
	Refund   int       `json:"refund"` // the number of the decision
	Provider string    `json:"provider"`
}

// refunds give money back.
type refunds struct {
	runner     *sagas.Runner
	store      *eventstore.Store
	tables     *projections.Tables
	providers  providers
	times      Times
	definition sagas.Definition[RefundInput]
}

// register registers the saga that gives money back.
func (s *refunds) register() {
	s.definition = sagas.Register(s.runner, sagas.Saga[RefundInput]{
		Name: "refund", Definition: "refund/1",
		Parked: func(in RefundInput, _, code string) []domain.Command {
			return []domain.Command{order.FailRefund{ID: in.Order, N: in.Refund, Code: code, At: s.runner.Now()}}
		},
		Steps: []sagas.Step[RefundInput]{{
			Name: "refund", Says: "give the money back", Policy: s.times.refundPolicy(s.runner.Times().Quarantine),
			QueueOf: func(in RefundInput) string { return paymentQueue(in.Provider) },
			Effect:  &sagas.Effect[RefundInput]{Key: refundKey, Prepare: s.call},
		}},
	})
}

func refundKey(in RefundInput) string {
	return sagas.EffectKey(in.Order, fmt.Sprintf("refund/%d", in.Refund))
}

// start is the run that carries out one refund.
func (s *refunds) start(ctx context.Context, id uuid.UUID, ask order.Ask) (sagas.Start, error) {
	o, err := orderOf(ctx, s.tables, id)
	return s.definition.Start(fmt.Sprintf("%s/%d", id, ask.N), RefundInput{Order: id, Refund: ask.N, Provider: o.PaymentMethod}, id), err
}

func (s *refunds) call(ctx context.Context, job *RefundInput) (sagas.Call, error) {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(job.Order))
	if err != nil {
		return sagas.Call{}, err
	}
	p, err := s.providers.named(o.Provider)
	if err != nil {
		return sagas.Call{}, err
	}
	if job.Refund < 1 || job.Refund > len(o.Asked) {
		return sagas.Call{}, domain.Fail(domain.Permanent, "not_asked_for", errors.New("the refund was not requested"))
	}
	ask := o.Asked[job.Refund-1]
	call := order.RefundCall{
		Order: job.Order, Number: o.Number, Session: o.Payments[ask.Payment].Session, Payment: ask.Payment,
		Reference: ask.Reference(job.Order), Minor: ask.Minor, Currency: ask.Currency, Installation: s.runner.Installation,
	}
	known, err := s.runner.Effect(ctx, refundKey(*job))
	if err != nil || !o.IsDue(ask) && (known.State == "" || known.State == sagas.EffectAbsent) {
		return sagas.Call{}, err
	}
	return sagas.Call{
		Request: map[string]any{"reference": call.Reference, "payment": call.Payment, "minor": call.Minor, "currency": call.Currency},
		Lookup:  func(ctx context.Context) (sagas.Result, sagas.Found, error) { return refunded(ctx, p, call) },
		Under: func(ctx context.Context, generation int) (sagas.Result, error) {
			if !o.IsDue(ask) {
				return sagas.Result{}, nil // the look-up has found that nothing was sent, and nothing needs to be
			}
			call.Key = sagas.KeyOfGeneration(call.Reference, generation)
			r, err := p.Refund(ctx, call)
			return sagas.Result{External: r.ID}, err
		},
		Confirmed: func(sagas.Result) sagas.Work { return checkSoon(job.Order, "refunded") },
	}, nil
}

// endNeedless lets the parked runs of refunds go on that nothing is left to do
// for: the bank has taken the money back itself, or the refund was decided anew. They
// look once more what was sent, and end.
func (s *refunds) endNeedless(ctx context.Context, r eventstore.RecordedEvent) error {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, r.Stream)
	if err != nil {
		return err
	}
	for _, ask := range o.Asked {
		if !o.IsNeedless(ask) {
			continue
		}
		run, err := s.runner.RunNamed(ctx, fmt.Sprintf("refund:%s/%d", o.ID, ask.N))
		if errors.Is(err, sagas.ErrNoRun) || err == nil && run.Status != sagas.StatusParked {
			continue
		}
		if err != nil {
			return err
		}
		cause := domain.Metadata{
			ID: uuid.NewSHA1(r.ID, fmt.Appendf(nil, "needless/%d", ask.N)), Actor: "system:reactions",
			Correlation: o.ID,
		}
		err = s.runner.Operators.Overrule(ctx, cause, run, sagas.Retry{Key: run.Key, Reason: "nothing is left to give back"}, nil)
		if err != nil && domain.CodeOf(err) != domain.Conflict { // otherwise an operator was faster
			return err
		}
	}
	return nil
}

// refunded looks up our reference in the provider's books.
func refunded(ctx context.Context, p order.Provider, c order.RefundCall) (sagas.Result, sagas.Found, error) {
	truth, err := p.Fetch(ctx, c.Session)
	if err != nil {
		return sagas.Result{}, sagas.No, err
	}
	for _, pay := range truth.Payments {
		for _, r := range pay.Refunds {
			if r.Reference == c.Reference {
				return sagas.Result{External: r.ID}, sagas.Yes, nil
			}
		}
	}
	return sagas.Result{}, sagas.No, nil
}

// Refund gives money of an order back: an amount in its currency, or, with nil,
// all that is left. The provider's books are fetched first, so that nothing is
// refunded twice. If the provider does not answer, nothing is decided.
func (s *Service) Refund(ctx context.Context, cause domain.Metadata, id uuid.UUID, amount *decimal.Decimal, reason string) error {
	return s.decideAfterFetch(
		ctx, sagas.ByOperator(cause, id), id,
		order.RequestRefund{ID: id, Amount: amount, Reason: reason, At: s.runner.Now()},
	)
}

// Accept accepts a payment that differs from the order (rule T11), unless it was
// refunded meanwhile.
func (s *Service) Accept(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	return s.decideAfterFetch(ctx, sagas.ByOperator(cause, id), id, order.Accept{ID: id, Reason: reason, At: s.runner.Now()})
}

// decideAfterFetch carries out an operator's command on an order after it has
// fetched the provider's books. What is new in them is recorded first, whatever
// becomes of the command.
func (s *Service) decideAfterFetch(ctx context.Context, cause domain.Metadata, id uuid.UUID, decide order.Command) error {
	history, err := s.store.Read(ctx, order.Stream(id))
	if err != nil {
		return err
	}
	timeline := TimelineOf(history, s.runner.Now())
	if _, err := order.Decider.Decide(timeline.order, decide); domain.CodeOf(err) == domain.Invalid ||
		domain.CodeOf(err) == domain.NotFound {
		return err // the provider need not be asked
	}
	if timeline.order.Session != "" {
		if err := s.observeNow(ctx, timeline); err != nil {
			return err
		}
	}
	again := checkSoon(id, "operator")
	if _, err := s.store.ExecuteWith(ctx, cause, again.Rows, decide); err != nil {
		return err
	}
	s.runner.Wake(again.Wakes)
	return nil
}

// observeNow fetches and records the state of an order outside its schedule.
func (s *Service) observeNow(ctx context.Context, timeline Timeline) error {
	c := check{order: timeline.order.ID, provider: timeline.order.Provider}
	truths, err := s.fetch(ctx, c, timeline)
	if err != nil {
		s.runner.Log().WarnContext(
			ctx, "an order could not be decided on", "order", c.order, "provider", c.provider, "error",
			sagas.Scrub(err),
		)
		return errProviderAway
	}
	commands, booked, err := s.observe(ctx, c, timeline, truths)
	if err != nil {
		return err
	}
	cause := domain.Metadata{ID: uuid.New(), Actor: "provider:" + c.provider, Correlation: c.order}
	_, err = s.store.ExecuteWith(ctx, cause, booked, commands...)
	return err
}
