package orders

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// A tenant may have several services. The order that made it is the first, and other
// orders join it. While one of them runs, the tenant is in service, and what rests is
// what came with those that do not run (docs/tenants.md, "Several services").

// A service is one of a tenant.
type service struct {
	projections.ServiceOrder
	off  []string // why it does not run; nil: it runs
	over bool     // it has ended, or never ran
}

func (s service) left() bool { return !s.over }

func (s service) runs() bool { return len(s.off) == 0 && !s.over }

// hosts tells whether the service lets its tenant have sites. What a SaaS order began with
// does: its tenant is without limits.
func (s service) hosts() bool {
	return s.ResourceType == "hosting" || s.Made && s.ResourceType == "saas"
}

func (s service) resells() bool { return s.ResourceType == "saas" }

// A tenancy is a tenant with its services, as they are now.
type tenancy struct {
	row      projections.Resource
	spec     hosting.Tenant
	services []service
	orphan   bool // of a sub-tenant: the service of its parent that it came with does not run
}

// tenancyOf reads a tenant that is left; false: it is not.
func (p *Provisioner) tenancyOf(ctx context.Context, id int64) (t tenancy, is bool, err error) {
	scope, ref := p.deps.Tables.For(projections.System), hosting.Ref{Kind: "tenant", ID: id}
	found, err := scope.Hosting().Recorded(ctx, ref)
	if err != nil {
		return t, false, err
	}
	if t.row, is = found[ref]; !is || t.row.Status == hosting.Leaving || t.row.Status == hosting.Gone {
		return t, false, nil
	}
	if err := t.row.Load(&t.spec); err != nil {
		return t, false, err
	}
	if t.orphan, err = orphaned(ctx, scope, &t); err != nil {
		return t, false, err
	}
	all, err := scope.Billing().ServicesOf(ctx, id)
	for _, served := range all {
		one, err := p.serviceOf(ctx, served)
		if err != nil {
			return t, false, err
		}
		t.services = append(t.services, one)
	}
	return t, true, err
}

// orphaned tells whether a tenant is a sub-tenant whose parent is out of service, has ended,
// or has no SaaS service that runs.
func orphaned(ctx context.Context, scope projections.Scope, t *tenancy) (bool, error) {
	if !t.spec.IsSubTenant(t.row.RequestedFor) {
		return false, nil
	}
	ref := hosting.Ref{Kind: "tenant", ID: *t.spec.Parent}
	found, err := scope.Hosting().Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || row.TrashedAt != nil || row.Status == hosting.Leaving || row.Status == hosting.Gone {
		return err == nil, err
	}
	var parent hosting.Tenant
	err = row.Load(&parent)
	return parent.StopsSubTenants(row.DisabledBy...), err
}

// serviceOf tells how a service stands, by its order and its subscription.
func (p *Provisioner) serviceOf(ctx context.Context, served projections.ServiceOrder) (service, error) {
	s := service{ServiceOrder: served}
	o, _, err := eventstore.Fold(ctx, p.deps.Store, order.Decider, order.Stream(served.OrderID))
	if err != nil {
		return s, err
	}
	paid, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, billing.KeepOn{Order: served.OrderID}.Stream())
	if err != nil {
		return s, err
	}
	switch o.Service() {
	case order.ServiceRuns:
	case order.ServiceSuspended:
		if !p.deps.KeepDisputed {
			s.off = append(s.off, hosting.ByOrder)
		}
	case order.ServiceEnds:
		s.off, s.over = append(s.off, hosting.ByOrder), true
	default:
		s.over = true // it is not set up yet, or was taken back
	}
	if paid.Status == billing.Suspended {
		s.off = append(s.off, hosting.ByInvoice)
	}
	return s, nil
}

// own tells whether what the tenant began with is of no order that counts any more.
func (t *tenancy) own() bool {
	return t.spec.First == hosting.FirstGone || t.spec.First == hosting.FirstGiven
}

// any tells whether one of the services is of a sort. What has ended does not count.
func (t *tenancy) any(is ...func(service) bool) bool {
	return slices.ContainsFunc(t.services, func(s service) bool {
		return !slices.ContainsFunc(is, func(is func(service) bool) bool { return !is(s) })
	})
}

// lives tells whether something of the tenant runs: one of its services, or what it began
// with if no order made it, or an operator has given it.
func (t *tenancy) lives() bool { return t.any(service.runs) || t.begunOtherwise() }

func (t *tenancy) begunOtherwise() bool {
	made := t.any(func(s service) bool { return s.Made })
	return t.spec.First == hosting.FirstGiven || !made && t.row.RequestedFor == "" && !t.orphan
}

// reasons are why the tenant is out of service because of its services.
func (t *tenancy) reasons() (all []string) {
	if t.lives() {
		return nil
	}
	left := t.any(service.left)
	if t.orphan {
		all = append(all, hosting.ByParent)
	}
	for _, s := range t.services {
		for _, by := range s.off {
			if (!s.over || !left) && !slices.Contains(all, by) {
				all = append(all, by)
			}
		}
	}
	return all
}

// wanted are the fields of the tenant that follow from its services. While none of them
// runs they stay as they are.
func (t *tenancy) wanted(ctx context.Context, scope projections.Scope) (field.Values, error) {
	next := t.spec
	if !t.lives() {
		return nil, nil
	}
	next.Added = hosting.Added{}
	for _, s := range t.services {
		if s.Made || !s.runs() {
			continue
		}
		limits, saas, err := scope.PlanAdds(ctx, s.Plan)
		if err != nil {
			return nil, err
		}
		next.Added = next.Added.With(limits, saas)
	}
	made := func(s service) bool { return s.Made }
	if !t.own() {
		next.First = hosting.FirstCounts
		if t.orphan || t.any(made) && !t.any(made, service.runs) {
			next.First = hosting.FirstRests
		}
	}
	hosts := t.begunOtherwise() || t.any(service.hosts, service.runs)
	next.SitesRest = !hosts && (t.orphan || t.any(service.hosts))
	next.SubTenantsRest = t.any(service.resells) && !t.any(service.resells, service.runs)
	return changed(&t.spec, &next), nil
}

// changed are the fields that differ.
func changed(was, is *hosting.Tenant) field.Values {
	values, before := is.Fields().Values(), was.Fields().Values()
	maps.DeleteFunc(values, func(name string, value json.RawMessage) bool { return string(value) == string(before[name]) })
	return values
}

// standing are the commands that bring a tenant to how its services stand: none if it is
// so already. As many records follow it as an append may hold; a reaction changes the
// others.
func (p *Provisioner) standing(ctx context.Context, id int64) ([]domain.Command, domain.Versions, error) {
	t, is, err := p.tenancyOf(ctx, id)
	if err != nil || !is || len(t.services) == 0 {
		return nil, nil, err
	}
	scope, ref := p.deps.Tables.For(projections.System), hosting.Ref{Kind: "tenant", ID: id}
	reasons, was := t.reasons(), slices.Clone(t.row.DisabledBy)
	ofServices := []string{hosting.ByOrder, hosting.ByInvoice, hosting.ByParent}
	now := slices.DeleteFunc(slices.Clone(was), func(by string) bool { return slices.Contains(ofServices, by) })
	now = append(now, reasons...)
	var commands []domain.Command
	for _, by := range ofServices {
		switch before, after := slices.Contains(was, by), slices.Contains(now, by); {
		case after && !before:
			commands = append(commands, hosting.SuspendService{Ref: ref, By: by})
		case before && !after:
			commands = append(commands, hosting.ResumeService{Ref: ref, By: by})
		}
	}
	if len(commands) > 0 {
		off := t.spec.OutOfService(now...)
		records, err := scope.Hosting().OutOfStep(ctx, id, off, hosting.MostFollowing)
		if err != nil {
			return nil, nil, err
		}
		commands = append(commands, hosting.Following(off, records)...)
	}
	fields, err := t.wanted(ctx, scope)
	if err != nil {
		return nil, nil, err
	}
	if len(fields) > 0 && t.row.TrashedAt == nil {
		commands = append(commands, hosting.Change{Ref: ref, Spec: fields})
	}
	machines, err := t.machines(ctx, scope)
	return append(commands, machines...), domain.Versions{ref.Stream(): t.row.Version}, err
}

// machines are the commands by which each machine runs as the service that it came with,
// while the tenant itself is in service.
func (t *tenancy) machines(ctx context.Context, scope projections.Scope) (commands []domain.Command, err error) {
	for _, s := range t.services {
		if s.ResourceType != "vps" || !t.lives() {
			continue
		}
		made, err := scope.Hosting().ResourcesOfOrder(ctx, s.OrderID)
		if err != nil {
			return nil, err
		}
		for _, r := range made {
			isOff := slices.Contains(r.DisabledBy, hosting.ByOrder)
			if kind, _ := hosting.KindNamed(r.Kind); kind.Backend == hosting.Compute && r.Status != hosting.Leaving &&
				r.Status != hosting.Gone && isOff == s.runs() {
				commands = append(commands, hosting.Switching(!s.runs(), hosting.ByOrder, []hosting.Ref{r.Ref()})...)
			}
		}
	}
	return commands, nil
}

// keepTenant brings a tenant to how its services stand now. After a change it looks again:
// what another reaction has decided meanwhile counts then. Where one of the records is
// written all the time, the tenant goes ahead and its records follow later.
func (p *Provisioner) keepTenant(ctx context.Context, id int64) error {
	const rounds, together = 10, 4
	for round := range rounds {
		commands, seen, err := p.standing(ctx, id)
		if err != nil || len(commands) == 0 {
			return err
		}
		if round >= together {
			commands = slices.DeleteFunc(commands, followsTenant)
		}
		cause := domain.Metadata{ID: uuid.New(), Actor: "system:reactions", ExpectedVersions: seen}
		if _, err := p.deps.Store.Execute(ctx, cause, commands...); err != nil && !isLost(err) {
			return err
		}
	}
	return eventstore.ErrConflict // tried again (docs/sagas.md, "Reactions")
}

// KeepSubTenant is keepTenant for a sub-tenant that has bought a service itself: it stays,
// and what it has of its parent rests, or ends, alone. False: it has bought none.
func (p *Provisioner) KeepSubTenant(ctx context.Context, id int64) (has bool, err error) {
	t, is, err := p.tenancyOf(ctx, id)
	if err != nil || !is || !t.any(service.left) {
		return false, err
	}
	return true, p.keepTenant(ctx, id)
}

// followsTenant tells whether a command follows from the state of the tenant, which a
// reaction brings to all records as well.
func followsTenant(command domain.Command) bool {
	switch c := command.(type) {
	case hosting.Disable:
		return c.By == hosting.ByTenant
	case hosting.Enable:
		return c.By == hosting.ByTenant
	}
	return false
}

// isLost tells whether what was decided on has changed meanwhile.
func isLost(err error) bool {
	return errors.Is(err, eventstore.ErrConflict) || domain.CodeOf(err) == domain.Stale || domain.CodeOf(err) == domain.Conflict
}
