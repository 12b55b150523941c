package orders

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A service is suspended while the payment of its order is disputed, and while an invoice
// of it is overdue for too long: if no other service of the tenant runs, the tenant with
// all records in it, machines included. Each has a reason of its own. Records that were off before stay off when it is gone
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
	if _, begins := r.Event.(order.Activated); begins && service == order.ServiceRuns && o.Joins == 0 {
		return nil // nothing has been suspended yet
	}
	in, err := p.provisioned(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	return p.keepTenant(ctx, in.Tenant)
}

// keepPaid suspends the service of a subscription that is not paid, or resumes it, as the
// subscription stands now.
func (p *Provisioner) keepPaid(ctx context.Context, r eventstore.RecordedEvent) error {
	s, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, r.Stream)
	if err != nil || s.Status == billing.Over {
		return err // an end removes the service
	}
	return p.keepTenant(ctx, s.Tenant)
}

// keepOthers lets go on, or rest, what else a tenant has when one of its services has
// ended.
func (p *Provisioner) keepOthers(ctx context.Context, r eventstore.RecordedEvent) error {
	s, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, r.Stream)
	if err != nil {
		return err
	}
	return p.keepTenant(ctx, s.Tenant)
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
