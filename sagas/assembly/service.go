package assembly

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// While the payment of an active order is disputed its service rests: the
// tenant with all that is in it, machines included. It rests for a reason of
// its own, so what was off before stays off when the dispute is won
// (docs/sagas.md, "Disputes").

// reactToOrder is the reaction of provisioning to an event of the log.
func (s *Panel) reactToOrder(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case order.Activated, order.DisputeOpened:
		return s.keepService(ctx, r)
	case order.DisputeClosed:
		return errors.Join(s.keepService(ctx, r), s.compensateOrder(ctx, r, "charged back"))
	case order.CancelRequested:
		return s.compensateOrder(ctx, r, e.Reason)
	case order.RefundCompleted:
		return s.compensateOrder(ctx, r, "refunded")
	}
	return nil
}

// keepService lets what an order has made rest or run as the order says by
// now. It goes by how things are, so it may be asked any number of times. A
// service that ends is its run's.
func (s *Panel) keepService(ctx context.Context, r eventstore.RecordedEvent) error {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, r.Stream)
	service := o.Service()
	if err != nil || service != order.ServiceRuns && service != order.ServiceSuspended {
		return err
	}
	if _, begins := r.Event.(order.Activated); begins && service == order.ServiceRuns {
		return nil // nothing has rested yet
	}
	in, err := s.provisioned(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	commands, err := s.resting(ctx, in.Tenant, service == order.ServiceSuspended)
	if err != nil {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("service")), Actor: "system:reactions"}
	_, err = s.store.Execute(ctx, cause, commands...)
	return err
}

// resting are the commands by which a tenant rests because of its order, or no
// longer does, with as many of its records as an append may hold. A reaction
// sees to the others.
func (s *Panel) resting(ctx context.Context, id int64, rests bool) ([]domain.Command, error) {
	scope, ref := s.tables.For(projections.System), hosting.Ref{Kind: "tenant", ID: id}
	found, err := scope.Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || slices.Contains(row.DisabledBy, hosting.ByOrder) == rests {
		return nil, err
	}
	var tenant hosting.Tenant
	if err := row.Load(&tenant); err != nil {
		return nil, err
	}
	reasons := slices.DeleteFunc(slices.Clone(row.DisabledBy), func(by string) bool { return by == hosting.ByOrder })
	var command domain.Command = hosting.ResumeService{Ref: ref, By: hosting.ByOrder}
	if rests {
		reasons, command = append(reasons, hosting.ByOrder), hosting.SuspendService{Ref: ref, By: hosting.ByOrder}
	}
	rests = tenant.OutOfService(reasons...)
	records, err := scope.OutOfStep(ctx, id, rests, hosting.MostFollowing)
	return append([]domain.Command{command}, hosting.Following(rests, records)...), err
}
