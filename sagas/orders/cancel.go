package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
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
func (p *Provisioner) Cancel(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	cause = sagas.ByOperator(cause, id)
	refused := eventstore.ErrConflict
	for round := range cancelRounds {
		cause.ID = uuid.NewSHA1(cause.ID, fmt.Appendf(nil, "cancel/%d", round))
		again, err := p.cancelNow(ctx, cause, id, reason)
		if !again || ctx.Err() != nil {
			return err
		}
		refused = cmp.Or(err, refused)
	}
	return refused
}

// cancelNow cancels an order as it stands at this moment. It has to be asked
// again if the order moved meanwhile, or turns out to be paid.
func (p *Provisioner) cancelNow(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) (again bool, err error) {
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, order.Stream(id))
	if err != nil {
		return false, err
	}
	cancel := order.Cancel{ID: id, By: order.ByAdmin, Reason: reason, At: p.deps.Runner.Now()}
	switch o.Status {
	case order.StatusPaymentProcessing:
		err = p.deps.CancelUnpaid(ctx, cause, cancel)
		again = err == nil
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed:
		if o.PaysInvoice() {
			_, err = p.deps.Store.Execute(ctx, cause, cancel)
			return false, err
		}
		err = p.cancelPaid(ctx, cause, cancel)
		again = domain.CodeOf(err) == domain.Conflict // its run may have come to its end at this very moment
	default:
		_, err = p.deps.Store.Execute(ctx, cause, cancel)
	}
	if err == nil && again { // what its provider says may be that it is paid
		o, _, folded := eventstore.Fold(ctx, p.deps.Store, order.Decider, order.Stream(id))
		return o.Status != order.StatusCancelled && !o.CancelRequested, folded
	}
	return again || errors.Is(err, eventstore.ErrConflict), err
}

// cancelPaid turns the order's run, in the append that asks for it (rule T16).
func (p *Provisioner) cancelPaid(ctx context.Context, cause domain.Metadata, cancel order.Cancel) error {
	run, err := p.deps.Runner.RunNamed(ctx, "provision:"+cancel.ID.String())
	if err != nil {
		return err
	}
	if run.Status == sagas.StatusDone { // it was done at this very moment: the order is active by now
		return eventstore.ErrConflict
	}
	if run.Direction == sagas.DirectionUndo {
		_, err = p.deps.Store.Execute(ctx, cause, cancel)
		return err
	}
	return p.compensate(ctx, cause, run, cancel.Reason, cancel)
}

// compensate makes the run of an order undo its steps. A worker on the run loses its
// lease: either the worker's step or the compensation is recorded.
func (p *Provisioner) compensate(ctx context.Context, cause domain.Metadata, run sagas.Run, reason string, before ...domain.Command) error {
	turn := p.deps.Runner.Operators.Compensation(run, reason)
	commands := append(before, order.StartCompensation{ID: run.Order, At: p.deps.Runner.Now()})
	if turn.From < 0 { // there is nothing to take back
		commands = append(commands, order.CompleteCompensation{ID: run.Order, At: p.deps.Runner.Now()})
	}
	return p.deps.Runner.Operators.Overrule(ctx, cause, run, turn, nil, commands...)
}

// compensateOrder compensates the run of an order that was refunded before it was
// done, or was cancelled (rules T16, T19). It acts on the present state, so it may
// be called any number of times.
func (p *Provisioner) compensateOrder(ctx context.Context, r eventstore.RecordedEvent, why string) error {
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, r.Stream)
	if err != nil || !o.TurnsBack() {
		return err
	}
	run, err := p.deps.Runner.RunNamed(ctx, "provision:"+id.String())
	if err != nil || run.Over() || run.Direction == sagas.DirectionUndo {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, fmt.Appendf(nil, "turn back/%d", run.Version)), Actor: "system:reactions"}
	return p.compensate(ctx, cause, run, why)
}

// orderCompensated tells the order that nothing is left of what its run had made.
// compensationParked tells it that a step cannot be undone (rule T17).
func (p *Provisioner) orderCompensated(j ProvisionInput) []domain.Command {
	return []domain.Command{order.CompleteCompensation{ID: j.Order, At: p.deps.Runner.Now()}}
}

func (p *Provisioner) compensationParked(j ProvisionInput, step, code string) []domain.Command {
	return []domain.Command{order.ParkCompensation{ID: j.Order, Step: step, Code: code, At: p.deps.Runner.Now()}}
}
