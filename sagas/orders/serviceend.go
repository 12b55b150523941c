package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Where a tenant has another service, the end of one leaves the tenant
// (docs/tenants.md, "Several services").

// serving are the services of a tenant that have not ended, but for that of an order.
func (t *tenancy) serving(but uuid.UUID) *tenancy {
	rest := tenancy{row: t.row, spec: t.spec, orphan: t.orphan}
	for _, s := range t.services {
		if s.OrderID != but && !s.over {
			rest.services = append(rest.services, s)
		}
	}
	return &rest
}

// removeOwn asks for the removal of what came with the service of an order alone, where
// its tenant stays: its machine; sites and the like, if no other service has any; and
// sub-tenants in the same way.
func (p *Provisioner) removeOwn(ctx context.Context, job *DeprovisionInput, t *tenancy) (sagas.Work, error) {
	left, ref := t.serving(job.Order), t.row.Ref()
	var commands []domain.Command
	if job.VM != 0 {
		commands = append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "vm", ID: job.VM}})
	}
	ended := t.services[slices.IndexFunc(t.services, func(s service) bool { return s.OrderID == job.Order })]
	if job.Emptied = ended.hosts() && !left.any(service.hosts) && !t.begunOtherwise(); job.Emptied {
		if err := p.deps.Empty(ctx, job.Tenant, "deprovision:"+job.Order.String()); err != nil {
			return sagas.Work{}, err
		}
	}
	if ended.resells() && !left.any(service.resells) {
		children, err := p.dependents(ctx, job.Tenant)
		if err != nil {
			return sagas.Work{}, err
		}
		for _, child := range children {
			if err := p.deps.Empty(ctx, child.ID, "deprovision:"+job.Order.String()); err != nil {
				return sagas.Work{}, err
			}
			commands = append(commands, hosting.Remove{Ref: child.Ref()})
		}
	}
	if ended.Made && !t.own() {
		commands = append(commands, hosting.Change{Ref: ref, Spec: hosting.WithoutFirst()})
	}
	return sagas.Work{Commands: commands}, nil
}

// ownGone tells whether nothing is left of what came with the service of an order, where
// its tenant stays.
func ownGone(ctx context.Context, scope projections.Scope, job *DeprovisionInput) (bool, error) {
	machine := hosting.Ref{Kind: "vm", ID: job.VM}
	found, err := scope.Hosting().Recorded(ctx, machine)
	if r, known := found[machine]; err != nil || known && r.Status != hosting.Gone {
		return false, err
	}
	if !job.Emptied {
		return true, nil
	}
	left, err := scope.Hosting().ResourcesOfOrder(ctx, job.Order)
	return !slices.ContainsFunc(left, func(r projections.Resource) bool {
		kind, _ := hosting.KindNamed(r.Kind)
		return kind.Belongs() && r.Status != hosting.Gone
	}), err
}

// dependents are the sub-tenants of a tenant that are left and have bought no service
// themselves.
func (p *Provisioner) dependents(ctx context.Context, tenant int64) (all []projections.Resource, err error) {
	children, err := p.deps.Tables.For(projections.System).Hosting().SubTenants(ctx, tenant)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		t, _, err := p.tenancyOf(ctx, child.ID)
		if err != nil {
			return nil, err
		}
		if !t.any(service.left) {
			all = append(all, child)
		}
	}
	return all, nil
}

// subTenantsGone tells whether the sub-tenants that end with a tenant are gone.
func (p *Provisioner) subTenantsGone(ctx context.Context, tenant int64) (bool, error) {
	left, err := p.dependents(ctx, tenant)
	return len(left) == 0, err
}

// leftOutside are the steps whose objects have to be gone before the service of an order
// has ended, by order. A tenant that ends leaves nothing of any order that had a service in
// it.
func (p *Provisioner) leftOutside(ctx context.Context, job *DeprovisionInput) (jobs []ProvisionInput, err error) {
	if job.Keeps {
		return []ProvisionInput{job.ProvisionInput}, nil
	}
	all, err := p.deps.Tables.For(projections.System).Billing().ServicesOf(ctx, job.Tenant)
	if err != nil {
		return nil, err
	}
	jobs = []ProvisionInput{job.ProvisionInput}
	for _, s := range all {
		if s.OrderID == job.Order {
			continue
		}
		in, err := p.provisioned(ctx, s.OrderID)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, in)
	}
	return jobs, nil
}
