package provisioning

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// A service is suspended while the payment of its order is disputed, and while an invoice
// of it is overdue for too long: the tenant with all records in it, machines included.
// Each has a reason of its own. Records that were off before stay off when it is gone
// (docs/sagas.md, "Disputes"; docs/invoices.md, "Renewals").

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
	return p.suspendTenant(ctx, r, in.Tenant, hosting.ByOrder, service == order.ServiceSuspended)
}

// keepPaid suspends the service of a subscription that is not paid, or resumes it, as the
// subscription stands now.
func (p *Provisioner) keepPaid(ctx context.Context, r eventstore.RecordedEvent) error {
	s, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, r.Stream)
	if err != nil || s.Status == billing.Over {
		return err // an end removes the service
	}
	return p.suspendTenant(ctx, r, s.Tenant, hosting.ByInvoice, s.Status == billing.Suspended)
}

// suspendTenant suspends or resumes a tenant because of an event.
func (p *Provisioner) suspendTenant(ctx context.Context, r eventstore.RecordedEvent, tenant int64, by string, suspend bool) error {
	commands, err := p.suspension(ctx, tenant, by, suspend)
	if err != nil || len(commands) == 0 {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("service")), Actor: "system:reactions"}
	_, err = p.deps.Store.Execute(ctx, cause, commands...)
	return err
}

// endUnpaid ends the service of a subscription that has ended by itself: its order is
// given up, and so deprovisioned.
func (p *Provisioner) endUnpaid(ctx context.Context, r eventstore.RecordedEvent, reason string) error {
	if reason != billing.Unpaid && reason != billing.Cancelled {
		return nil // the service has ended before
	}
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, order.Stream(id))
	if err != nil || o.Status != order.StatusActive {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("end")), Actor: "system:reactions"}
	_, err = p.deps.Store.Execute(ctx, cause, order.Cancel{ID: id, By: order.ByAdmin, Reason: reason, At: p.deps.Runner.Now()})
	return err
}

// suspension returns the commands that suspend or resume the service of a tenant for a
// reason, with as many of its records as an append may hold. A reaction changes the
// others.
func (p *Provisioner) suspension(ctx context.Context, id int64, by string, suspend bool) ([]domain.Command, error) {
	scope, ref := p.deps.Tables.For(projections.System), hosting.Ref{Kind: "tenant", ID: id}
	found, err := scope.Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || slices.Contains(row.DisabledBy, by) == suspend {
		return nil, err
	}
	var tenant hosting.Tenant
	if err := row.Load(&tenant); err != nil {
		return nil, err
	}
	reasons := slices.DeleteFunc(slices.Clone(row.DisabledBy), func(other string) bool { return other == by })
	var command domain.Command = hosting.ResumeService{Ref: ref, By: by}
	if suspend {
		reasons, command = append(reasons, by), hosting.SuspendService{Ref: ref, By: by}
	}
	off := tenant.OutOfService(reasons...)
	records, err := scope.OutOfStep(ctx, id, off, hosting.MostFollowing)
	return append([]domain.Command{command}, hosting.Following(off, records)...), err
}
