package assembly

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
func (s *Panel) Retry(ctx context.Context, cause domain.Metadata, id uuid.UUID, input map[string]string, reason string) error {
	run, err := s.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	if run.Direction == sagas.DirectionUndo { // it could not be undone
		return s.ResumeRun(ctx, cause, run, nil, reason)
	}
	resume := order.Resume{ID: id, Step: run.At().Name, How: order.Retry, Reason: reason, At: s.Now()}
	if len(input) > 0 {
		resume.How = order.RetryWithInput
	}
	return s.ResumeRun(ctx, cause, run, input, reason, resume)
}

// Skip completes the step where an order is parked, because an operator has done
// it by hand.
func (s *Panel) Skip(ctx context.Context, cause domain.Metadata, id uuid.UUID, name, external, reason string) error {
	run, err := s.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	resume := order.Resume{ID: id, Step: name, How: order.Skip, Reason: reason, Proof: external, At: s.Now()}
	return s.SkipStep(ctx, cause, run, name, external, reason, resume)
}

// provisioningOf is the provisioning of an order. One that has none cannot be
// provisioned yet, or any more.
func (s *Panel) provisioningOf(ctx context.Context, id uuid.UUID) (sagas.Run, error) {
	return s.runFor(ctx, "provision", id, "Nothing is being set up for the order.")
}

// runFor is the one run of its kind for an order. An order that has none is
// refused with what that means.
func (s *Panel) runFor(ctx context.Context, kind string, id uuid.UUID, none string) (sagas.Run, error) {
	run, err := s.RunNamed(ctx, kind+":"+id.String())
	if errors.Is(err, sagas.ErrNoRun) {
		if _, err := s.order(ctx, id); err != nil {
			return run, err
		}
		return run, sagas.NotNow(none)
	}
	return run, err
}
