package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Retry lets the parked provisioning of an order go on at the step where it
// stopped (rule T15). One that is being compensated goes on with that. Input
// corrects what the step works with: "domain" at site, "os_choice" at vm.
func (p *Provisioner) Retry(ctx context.Context, cause domain.Metadata, id uuid.UUID, input map[string]string, reason string) error {
	run, err := p.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	if run.Direction == sagas.DirectionUndo { // it could not be undone
		return p.deps.Runner.Operators.ResumeRun(ctx, cause, run, nil, reason)
	}
	resume := order.Resume{ID: id, Step: run.At().Name, How: order.Retry, Reason: reason, At: p.deps.Runner.Now()}
	if len(input) > 0 {
		resume.How = order.RetryWithInput
	}
	return p.deps.Runner.Operators.ResumeRun(ctx, cause, run, input, reason, resume)
}

// Skip completes the step where an order is parked, because an operator has done
// it by hand.
func (p *Provisioner) Skip(ctx context.Context, cause domain.Metadata, id uuid.UUID, name, external, reason string) error {
	run, err := p.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	resume := order.Resume{ID: id, Step: name, How: order.Skip, Reason: reason, Proof: external, At: p.deps.Runner.Now()}
	return p.deps.Runner.Operators.SkipStep(ctx, cause, run, name, external, reason, resume)
}

// provisioningOf is the provisioning of an order. One that has none cannot be
// provisioned yet, or any more.
func (p *Provisioner) provisioningOf(ctx context.Context, id uuid.UUID) (sagas.Run, error) {
	return p.runFor(ctx, "provision", id, "Nothing is being set up for the order.")
}

// runFor is the one run of its kind for an order. An order that has none is
// refused with what that means.
func (p *Provisioner) runFor(ctx context.Context, kind string, id uuid.UUID, none string) (sagas.Run, error) {
	run, err := p.deps.Runner.RunNamed(ctx, kind+":"+id.String())
	if errors.Is(err, sagas.ErrNoRun) {
		if _, err := p.order(ctx, id); err != nil {
			return run, err
		}
		return run, sagas.NotNow(none)
	}
	return run, err
}
