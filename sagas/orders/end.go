package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The service of an active order ends when its money has gone back, was charged
// back, or an operator says so: it is suspended at once, and removed after a
// grace (docs/sagas.md, "Ending").

// A DeprovisionInput is what the end of a service works with.
type DeprovisionInput struct {
	ProvisionInput       // as the order's own run knew it
	Until          int64 `json:"until,omitempty"`   // Unix time: how long the service is kept
	Keeps          bool  `json:"keeps,omitempty"`   // the tenant stays, because it has another service
	Emptied        bool  `json:"emptied,omitempty"` // of such a tenant: its sites were removed
}

func (p *Provisioner) registerDeprovision() {
	p.deprovision = sagas.Register(p.deps.Runner, sagas.Saga[DeprovisionInput]{
		Name: "deprovision", Definition: "deprovision/1",
		Steps: []sagas.Step[DeprovisionInput]{
			{
				Name: "suspend", Says: "suspend the service and end its subscription", Queue: sagas.LocalQueue, Policy: p.local,
				Local: &sagas.Local[DeprovisionInput]{Do: p.suspendService},
			},
			{
				Name: "grace", Says: "keep the service for a while", Queue: sagas.LocalQueue, Policy: p.grace,
				Wait: p.kept,
			},
			{
				Name: "remove", Says: "remove what was made for the order, and all that is in its tenant",
				Queue: sagas.LocalQueue, Policy: p.local,
				Local: &sagas.Local[DeprovisionInput]{Do: p.removeService},
			},
			{
				Name: "verify", Says: "make sure that nothing of the order is left outside", Queue: sagas.LocalQueue, Policy: p.left,
				Wait: p.nothingLeft,
			},
		},
	})
}

// serviceEnding is the run that ends the service of an order:
// "deprovision:<order>". It knows what the order's own run knew. An order that has paid
// an invoice has no service of its own.
func (p *Provisioner) serviceEnding(ctx context.Context, id uuid.UUID) (run sagas.Start, begins bool, err error) {
	o, err := p.order(ctx, id)
	if err != nil || o.Invoice != nil {
		return run, false, err
	}
	in, err := p.provisioned(ctx, id)
	return p.deprovision.Start(id.String(), DeprovisionInput{ProvisionInput: in}, id), true, err
}

// provisioned is what the provisioning of an order knows by now. One that has not
// begun is refused with [sagas.ErrNoRun].
func (p *Provisioner) provisioned(ctx context.Context, id uuid.UUID) (ProvisionInput, error) {
	run, err := p.deps.Runner.RunNamed(ctx, "provision:"+id.String())
	if err != nil {
		return ProvisionInput{}, err
	}
	return sagas.InputOf[ProvisionInput](run)
}

// Customer is whom an order was set up for. One whose provisioning has not begun
// is refused with [sagas.ErrNoRun].
func (p *Provisioner) Customer(ctx context.Context, id uuid.UUID) (Customer, error) {
	in, err := p.provisioned(ctx, id)
	return in.customer(), err
}

func (in ProvisionInput) customer() Customer {
	return Customer{User: in.User, Opened: in.Opened, Tenant: in.Tenant}
}

// ends tells whether an event ends a service that ran.
func ends(event domain.Event) bool {
	switch e := event.(type) {
	case order.RefundCompleted:
		return e.Before == order.StatusActive
	case order.DisputeClosed:
		return e.Chargeback && e.Before == order.StatusActive
	case order.Cancelled:
		return e.Reason == order.Ended
	}
	return false
}

// suspendService suspends all of the order, and decides until when it is kept.
func (p *Provisioner) suspendService(ctx context.Context, job *DeprovisionInput) (sagas.Work, error) {
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, order.Stream(job.Order))
	if err != nil {
		return sagas.Work{}, err
	}
	commands, _, err := p.standing(ctx, job.Tenant)
	job.Until = p.deps.Runner.Now().Add(p.deps.Times.RefundGrace).Unix()
	return sagas.Work{Commands: append(commands, billing.End{Order: job.Order, Reason: endOfService(o), At: p.deps.Runner.Now()})}, err
}

// endOfService says why a subscription ends.
func endOfService(o order.Order) string {
	if o.Status == order.StatusCancelled {
		return "ended"
	}
	for _, d := range o.Disputes {
		if d.State == order.DisputeLost {
			return billing.ChargedBack
		}
	}
	return billing.Refunded
}

// kept lasts until the grace of an order that has ended is over.
func (p *Provisioner) kept(_ context.Context, job *DeprovisionInput) (bool, sagas.Work, error) {
	left := time.Unix(job.Until, 0).Sub(p.deps.Runner.Now())
	if left <= 0 {
		return true, sagas.Work{}, nil
	}
	return false, sagas.Work{}, sagas.TooEarly("grace", min(left, p.deps.Times.Look))
}

// EndGrace lets the removal of a service that has ended begin now. Without one
// that waits for it, it is refused with domain.Conflict.
func (p *Provisioner) EndGrace(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	const nothing = "No service of the order waits to be removed."
	run, err := p.runFor(ctx, "deprovision", id, nothing)
	if err != nil {
		return err
	}
	if run.Status != sagas.StatusReady || run.At().Name != "grace" {
		return sagas.NotNow(nothing)
	}
	return p.deps.Runner.Operators.Overrule(
		ctx, sagas.ByOperator(cause, id), run, sagas.Pass{Key: run.Key, Name: "grace", Reason: reason}, nil,
	)
}

// removeService asks for the removal of all that is in the order's tenant, and
// of the tenant, each by its name: an engine's own way to delete everything is
// never used.
func (p *Provisioner) removeService(ctx context.Context, job *DeprovisionInput) (sagas.Work, error) {
	t, is, err := p.tenancyOf(ctx, job.Tenant)
	if err != nil {
		return sagas.Work{}, err
	}
	if is && (len(t.serving(job.Order).services) > 0 || t.begunOtherwise()) {
		job.Keeps = true
		return p.removeOwn(ctx, job, &t)
	}
	if err := p.deps.Empty(ctx, job.Tenant, "deprovision:"+job.Order.String()); err != nil {
		return sagas.Work{}, err
	}
	commands := []domain.Command{account.RevokeMembership{User: job.User, Tenant: job.Tenant, At: p.deps.Runner.Now()}}
	if job.VM != 0 {
		commands = append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "vm", ID: job.VM}})
	}
	return sagas.Work{Commands: append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: job.Tenant}})}, nil
}

// nothingLeft is when everything has gone, by our records and by the word of
// those outside (rule V3). The ledger says so then.
func (p *Provisioner) nothingLeft(ctx context.Context, job *DeprovisionInput) (bool, sagas.Work, error) {
	if gone, err := p.recordsGone(ctx, job); err != nil || !gone {
		return false, sagas.Work{}, err
	}
	jobs, err := p.leftOutside(ctx, job)
	if err != nil {
		return false, sagas.Work{}, err
	}
	stays := map[string]bool{"tenant.engine": job.Keeps, "site": job.Keeps && !job.Emptied} // with the tenant
	var rows []eventstore.TxStatement
	for _, of := range jobs {
		live, err := p.LiveEffects(ctx, of.Order)
		if err != nil {
			return false, sagas.Work{}, err
		}
		for _, name := range live {
			if stays[name] {
				continue
			}
			gone, err := p.goneOutside(ctx, &of, name)
			if err != nil || !gone {
				return false, sagas.Work{}, err
			}
			rows = append(rows, sagas.UndoneOutside(sagas.EffectKey(of.Order, name))) // claims have ended with the records
		}
	}
	return true, sagas.Work{Rows: rows}, nil
}

func (p *Provisioner) recordsGone(ctx context.Context, job *DeprovisionInput) (bool, error) {
	if job.Keeps {
		return ownGone(ctx, p.deps.Tables.For(projections.System), job)
	}
	if gone, err := p.subTenantsGone(ctx, job.Tenant); err != nil || !gone {
		return false, err
	}
	scope := p.deps.Tables.For(projections.System)
	refs := []hosting.Ref{{Kind: "tenant", ID: job.Tenant}, {Kind: "vm", ID: job.VM}}
	found, err := scope.Hosting().Recorded(ctx, refs...)
	for _, r := range found {
		if r.Status != hosting.Gone {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	left, err := scope.Hosting().Belonging(ctx, job.Tenant, 1)
	return len(left) == 0, err
}

// LiveEffects are the steps of an order that may have something outside.
func (p *Provisioner) LiveEffects(ctx context.Context, id uuid.UUID) (names []string, err error) {
	for _, name := range []string{"site", "tenant.engine", "vm"} {
		e, err := p.deps.Runner.Effect(ctx, sagas.EffectKey(id, name))
		if err != nil {
			return nil, err
		}
		if e.State != "" && e.State != sagas.EffectAbsent && e.State != sagas.EffectUndone {
			names = append(names, name)
		}
	}
	return names, nil
}

// goneOutside tells whether the object of a step is gone. An object of another owner
// with the same name does not count.
func (p *Provisioner) goneOutside(ctx context.Context, job *ProvisionInput, step string) (bool, error) {
	request, err := map[string]requester{"site": p.siteRequest, "tenant.engine": clientName, "vm": machineName}[step](ctx, job)
	if err != nil {
		return false, err
	}
	return p.deps.Outside.IsGone(ctx, request, job.Client)
}
