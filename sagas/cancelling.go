package sagas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// An order that is cancelled, or whose money has gone back before it ran, is
// taken back: its run turns round and undoes what it has made, last step first
// (docs/sagas.md, "Taking back").

// cancelRounds is how often a cancellation is decided anew while the order
// moves on beside it.
const cancelRounds = 10

// Cancel ends an order on an operator's word, whatever its status is. One that
// is not paid is cancelled, if its provider says so; one that is paid is taken
// back by its run and then refunded; of one that is active the service ends. An
// order that has ended is refused with domain.Conflict; a provider that does
// not answer with domain.Unavailable.
func (s *Sagas) Cancel(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	cause = byOperator(cause, id)
	refused := eventstore.ErrConflict
	for round := range cancelRounds {
		cause.ID = uuid.NewSHA1(cause.ID, fmt.Appendf(nil, "cancel/%d", round))
		again, err := s.cancelNow(ctx, cause, id, reason)
		if !again || ctx.Err() != nil {
			return err
		}
		refused = cmp.Or(err, refused)
	}
	return refused
}

// cancelNow cancels an order as it stands at this moment. It has to be asked
// again if the order moved meanwhile, or turns out to be paid.
func (s *Sagas) cancelNow(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) (again bool, err error) {
	history, err := s.store.Read(ctx, order.Stream(id))
	if err != nil {
		return false, err
	}
	g := lookAt(history, s.now())
	cancel := order.Cancel{ID: id, By: order.ByAdmin, Reason: reason, At: s.now()}
	switch g.order.Status {
	case order.StatusPaymentProcessing:
		err = s.cancelUnpaid(ctx, cause, g, cancel)
		again = err == nil
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed:
		err = s.cancelPaid(ctx, cause, cancel)
		again = domain.CodeOf(err) == domain.Conflict // its run may have come to its end at this very moment
	default:
		_, err = s.store.Execute(ctx, cause, cancel)
	}
	if err == nil && again { // what its provider says may be that it is paid
		o, _, folded := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(id))
		return o.Status != order.StatusCancelled && !o.CancelRequested, folded
	}
	return again || errors.Is(err, eventstore.ErrConflict), err
}

// cancelUnpaid makes sure that nobody can pay any more, and then takes the
// provider's word for whether somebody has (rule T10).
func (s *Sagas) cancelUnpaid(ctx context.Context, cause domain.Cause, g glance, cancel order.Cancel) error {
	c := check{order: g.order.ID, provider: g.order.Provider}
	g.late = true
	truths, err := s.fetch(ctx, c, g)
	if err != nil {
		s.log.WarnContext(ctx, "an order was not cancelled", "order", g.order.ID, "provider", g.order.Provider, "error", scrub(err))
		return errors.Join(errProviderAway, err)
	}
	g.late = false
	commands, rows, err := s.observe(ctx, c, g, truths)
	if err != nil {
		return err
	}
	cancel.Observe = commands[0].(order.Observe) //nolint:forcetypeassert // of the order's own session
	commands[0] = cancel
	if facts, err := order.Decider.Decide(g.order, cancel); err == nil && !slices.ContainsFunc(facts, isCancelled) {
		cause.Key = nil // somebody has paid: that is put on record first, and the caller's promise is kept with what follows from it
	}
	if _, err = s.store.ExecuteWith(ctx, cause, rows, commands...); err != nil {
		return err
	}
	s.wake(localQueue)
	return s.Hint(ctx, g.order.ID, "cancelled")
}

func isCancelled(fact order.Event) bool { _, is := fact.(order.Cancelled); return is }

// cancelPaid turns the order's run, in the append that asks for it (rule T16).
func (s *Sagas) cancelPaid(ctx context.Context, cause domain.Cause, cancel order.Cancel) error {
	run, err := s.run(ctx, "provision:"+cancel.ID.String())
	if err != nil {
		return err
	}
	if run.Status == Done { // it was done at this very moment: the order is active by now
		return eventstore.ErrConflict
	}
	if run.Direction == Undo {
		_, err = s.store.Execute(ctx, cause, cancel)
		return err
	}
	return s.turn(ctx, cause, run, cancel.Reason, cancel)
}

// turn lets the run of an order take back what it has made. Whoever works on
// it loses the lease: either the worker's step counts, or the turn does.
func (s *Sagas) turn(ctx context.Context, cause domain.Cause, run Run, reason string, before ...domain.Command) error {
	turn := s.turning(run, reason)
	commands := append(before, order.StartCompensation{ID: run.Order, At: s.now()})
	if turn.From < 0 { // there is nothing to take back
		commands = append(commands, order.CompleteCompensation{ID: run.Order, At: s.now()})
	}
	return s.overrule(ctx, cause, run, turn, nil, commands...)
}

// turning is the command that turns a run round at the step where it stands.
func (s *Sagas) turning(r Run, reason string) Turn {
	from := r.Step
	if s.steps[r.Place().Name].effect == nil {
		from-- // it has not happened yet, or changes nothing
	}
	return Turn{Key: r.Key, From: from, Reason: reason}
}

// turnBack turns the run of an order whose money has gone back before it was
// done, or that somebody has cancelled (rules T16, T19). It goes by how things
// are, so it may be asked any number of times.
func (s *Sagas) turnBack(ctx context.Context, r eventstore.Recorded, why string) error {
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, r.Stream)
	if err != nil || !o.TurnsBack() {
		return err
	}
	run, err := s.run(ctx, "provision:"+id.String())
	if err != nil || run.Over() || run.Direction == Undo {
		return err
	}
	cause := domain.Cause{
		ID: uuid.NewSHA1(r.ID, fmt.Appendf(nil, "turn back/%d", run.Version)), Actor: "system:reactions", Correlation: id, Causation: r.ID,
	}
	return s.turn(ctx, cause, run, why)
}

// undone tells the order that nothing is left of what its run had made, and
// stuck that a step cannot be taken back (rule T17).
func (s *Sagas) undone(j Job) []domain.Command {
	return []domain.Command{order.CompleteCompensation{ID: j.Order, At: s.now()}}
}

func (s *Sagas) stuck(j Job, step, code string) []domain.Command {
	return []domain.Command{order.ParkCompensation{ID: j.Order, Step: step, Code: code, At: s.now()}}
}
