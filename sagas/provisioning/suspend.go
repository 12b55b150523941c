package provisioning

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// A service is suspended while the payment of its order is disputed: the tenant
// with all records in it, machines included. The suspension has a reason of its
// own, so records that were off before stay off when the dispute is won
// (docs/sagas.md, "Disputes").

// keepService suspends or resumes the service of an order, as the order's
// present state says. A repeat changes nothing. A service that ends is left to
// its run.
func (p *Provisioner) keepService(ctx context.Context, r eventstore.RecordedEvent) error {
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, r.Stream)
	service := o.Service()
	if err != nil || service != order.ServiceRuns && service != order.ServiceSuspended {
		return err
	}
	if _, begins := r.Event.(order.Activated); begins && service == order.ServiceRuns {
		return nil // nothing has been suspended yet
	}
	if p.deps.KeepDisputed && service == order.ServiceSuspended {
		return nil // the hold tells operators, who decide
	}
	in, err := p.provisioned(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	commands, err := p.suspension(ctx, in.Tenant, service == order.ServiceSuspended)
	if err != nil {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("service")), Actor: "system:reactions"}
	_, err = p.deps.Store.Execute(ctx, cause, commands...)
	return err
}

// suspension returns the commands that suspend or resume the service of a tenant
// because of its order, with as many of its records as an append may hold. A
// reaction changes the others.
func (p *Provisioner) suspension(ctx context.Context, id int64, suspend bool) ([]domain.Command, error) {
	scope, ref := p.deps.Tables.For(projections.System), hosting.Ref{Kind: "tenant", ID: id}
	found, err := scope.Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || slices.Contains(row.DisabledBy, hosting.ByOrder) == suspend {
		return nil, err
	}
	var tenant hosting.Tenant
	if err := row.Load(&tenant); err != nil {
		return nil, err
	}
	reasons := slices.DeleteFunc(slices.Clone(row.DisabledBy), func(by string) bool { return by == hosting.ByOrder })
	var command domain.Command = hosting.ResumeService{Ref: ref, By: hosting.ByOrder}
	if suspend {
		reasons, command = append(reasons, hosting.ByOrder), hosting.SuspendService{Ref: ref, By: hosting.ByOrder}
	}
	off := tenant.OutOfService(reasons...)
	records, err := scope.OutOfStep(ctx, id, off, hosting.MostFollowing)
	return append([]domain.Command{command}, hosting.Following(off, records)...), err
}
