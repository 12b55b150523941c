package hosting

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Sub-tenants belong to the SaaS service of their parent (docs/tenants.md,
// "Sub-tenants"). Administrators of the parent make and change them, and they rest and
// end with it.

// subTenants has the rules of requests about sub-tenants.
type subTenants struct{ service *Service }

// settleSubTenant settles what an administrator asks for of a sub-tenant. Its parent is
// the tenant for which the administrator acts, and what only operators set is left as it
// is.
func settleSubTenant(by projections.Caller, d *hosting.Draft, wrong *field.Errors) {
	if !d.Kind.Owner || by.SeesAll() || !d.IsNew() {
		return
	}
	d.Delegated = true
	t := d.Spec.(*hosting.Tenant) //nolint:forcetypeassert // of the kind
	if d.Sent.Has("parent") && !wrong.Has("parent") && domain.OrZero(t.Parent) != by.Tenant {
		wrong.Add("parent", field.NoSuchPK(domain.OrZero(t.Parent)))
	}
	t.Parent, t.Username, t.IsActive = &by.Tenant, "", true
}

// limit tells how many sub-tenants the parent of a new one has, and may
// have. Those of operators are not limited.
func (s subTenants) limit(ctx context.Context, d *hosting.Draft) (used, most int64, err error) {
	if parent := hosting.NumberIn(d.Spec, "parent"); parent != 0 && d.Delegated {
		return s.service.system().Hosting().LimitOfSubTenants(ctx, parent)
	}
	return 0, hosting.Unlimited, nil
}

// mayBrand refuses a look of their own to sub-tenants whose parent's plan has none.
func (s subTenants) mayBrand(ctx context.Context, by projections.Caller, d *hosting.Draft) error {
	if d.Kind.Name != brands || by.SeesAll() || d.Tenant != by.Tenant {
		return nil
	}
	t, err := s.service.tenantOf(ctx, d.Tenant)
	if err != nil || !t.spec.IsSubTenant(t.row.RequestedFor) {
		return err
	}
	parent, err := s.service.tenantOf(ctx, *t.spec.Parent)
	if err == nil && !parent.spec.MaySaaS().WhiteLabel {
		err = errNoBrand
	}
	return err
}

const brands = "whitelabel"

var errNoBrand = &domain.Error{Code: domain.Denied, Message: "The plan does not include white-label.", Reason: "not_in_plan"}

// subTenantsOf is the tenant whose sub-tenants an event may have left out of step; 0:
// none.
func subTenantsOf(r eventstore.RecordedEvent) int64 {
	switch e := r.Event.(type) {
	case hosting.Requested:
		var t hosting.Tenant
		if kind, _ := hosting.KindNamed(e.Kind); kind.Owner && t.Fields().Only("parent").Load(e.Spec) == nil && t.IsSubTenant(e.For) {
			return *t.Parent
		}
	case hosting.ServiceSuspended, hosting.ServiceResumed:
		return r.Tenant
	case hosting.RemovalRequested:
		if kind, _ := hosting.KindOf(r.Stream); kind.Owner {
			return r.Tenant
		}
	case hosting.Changed:
		if kind, _ := hosting.KindOf(r.Stream); kind.Owner && hosting.TurnsSubTenants(e.Spec) {
			return r.Tenant
		}
	}
	return 0
}

// keepSubTenants lets the sub-tenants of a tenant rest, go on, or end as it does. It
// goes by how things are now, and looks again after each change, so it may be asked any
// number of times and by several at once.
func (m *Maintenance) keepSubTenants(ctx context.Context, id int64) error {
	for {
		steps, err := m.outOfStepWithParent(ctx, id)
		if err != nil || len(steps) == 0 {
			return err
		}
		for _, commands := range steps {
			if _, err := m.execute(ctx, commands...); err != nil {
				return err // a lost race is tried again (docs/sagas.md, "Reactions")
			}
		}
	}
}

// outOfStepWithParent are the commands for each sub-tenant that does not do what its
// parent does.
func (m *Maintenance) outOfStepWithParent(ctx context.Context, id int64) (steps [][]domain.Command, err error) {
	found, err := m.system().Hosting().Among(ctx, "tenant", []int64{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	children, err := m.system().Hosting().SubTenants(ctx, id)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	var parent hosting.Tenant
	if err := found[0].Load(&parent); err != nil {
		return nil, err
	}
	for _, child := range children {
		one, err := m.withParent(ctx, found[0], &parent, child)
		if err != nil {
			return nil, err
		}
		if len(one) > 0 {
			steps = append(steps, one)
		}
	}
	return steps, nil
}

// withParent are the commands by which a sub-tenant does what its parent does.
func (m *Maintenance) withParent(
	ctx context.Context, row projections.Resource, parent *hosting.Tenant, child projections.Resource,
) ([]domain.Command, error) {
	if m.OwnServices != nil {
		if has, err := m.OwnServices(ctx, child.ID); err != nil || has {
			return nil, err
		}
	}
	ref, over := child.Ref(), row.Status == hosting.Leaving || row.Status == hosting.Gone
	rests, resting := parent.StopsSubTenants(row.DisabledBy...), slices.Contains(child.DisabledBy, hosting.ByParent)
	switch {
	case child.Status == hosting.Leaving:
		return nil, nil
	case over:
		return []domain.Command{hosting.Remove{Ref: ref}}, m.Empty(ctx, child.ID, "reaction:"+ref.Stream().String())
	case child.TrashedAt != nil:
		return nil, nil // its time in the bin has begun
	case row.TrashedAt != nil:
		return []domain.Command{hosting.Change{Ref: ref, Spec: hosting.TerminatedSpec()}, hosting.MoveToBin{Ref: ref}}, nil
	case rests && !resting:
		return []domain.Command{hosting.SuspendService{Ref: ref, By: hosting.ByParent}}, nil
	case resting && !rests:
		return []domain.Command{hosting.ResumeService{Ref: ref, By: hosting.ByParent}}, nil
	}
	return nil, nil
}
