package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// When a subscription gets another plan, a run brings what the plan grants to its tenant's
// record, and waits until the engine has it. By then the plan is paid for or the period has
// ended, so the run goes forward only: nothing of it is undone (docs/sagas.md, "Changing
// the plan").

// A ChangePlanInput says which plan a tenant gets.
type ChangePlanInput struct {
	Order   uuid.UUID    `json:"order"`   // that started the subscription
	Version int          `json:"version"` // of the subscription, with the change
	Grants  field.Values `json:"grants,omitempty"`
}

// PlanChanges bring tenants what their changed plans grant.
type PlanChanges struct {
	deps  Deps
	local sagas.Policy
	saga  sagas.Definition[ChangePlanInput]
}

func newPlanChanges(d Deps, local sagas.Policy) *PlanChanges {
	p := &PlanChanges{deps: d, local: local}
	patient := sagas.Policy{
		Timeout: p.local.Timeout, Base: p.local.Base, Cap: p.local.Cap, First: p.deps.Policies.Ready.First,
		Last: p.deps.Policies.Ready.Last,
	}
	p.saga = sagas.Register(p.deps.Runner, sagas.Saga[ChangePlanInput]{
		Name: "change-plan", Definition: "change-plan/1",
		Serial: func(in ChangePlanInput) (domain.Stream, int) { return subscriptionOf(in.Order), in.Version },
		Steps: []sagas.Step[ChangePlanInput]{
			{
				Name: "limits", Says: "give the tenant the limits of its new plan", Queue: sagas.LocalQueue, Policy: p.local,
				Local: &sagas.Local[ChangePlanInput]{Do: p.changeLimits},
			},
			{
				Name: "limits.applied", Says: "wait until the hosting engine has the new limits", Queue: sagas.LocalQueue, Policy: patient,
				Wait: p.limitsApplied,
			},
		},
	})
	return p
}

func subscriptionOf(order uuid.UUID) domain.Stream { return billing.Advance{Order: order}.Stream() }

// planChanging is the run that a change of the plan starts, in the append that records it:
// "change-plan:<order>/<version>".
func (p *PlanChanges) planChanging(r eventstore.RecordedEvent) (sagas.Start, bool, error) {
	e := r.Event.(billing.PlanChanged) //nolint:forcetypeassert // the caller has looked
	id := uuid.MustParse(r.Stream.ID)
	return p.saga.Start(
		fmt.Sprintf("%s/%d", id, r.Version), ChangePlanInput{Order: id, Version: r.Version, Grants: e.Grants}, id,
	), true, nil
}

// changeLimits asks for the limits of the plan. A tenant that has no place at the engine
// gets none because of them.
func (p *PlanChanges) changeLimits(ctx context.Context, in *ChangePlanInput) (sagas.Work, error) {
	if err := p.deps.Runner.AfterEarlier(ctx, subscriptionOf(in.Order), in.Version); err != nil {
		return sagas.Work{}, err
	}
	if grantsMachine(in.Grants) {
		return p.changeMachine(ctx, in)
	}
	ref, now, err := p.tenantAt(ctx, in.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	row, err := p.recorded(ctx, ref)
	if err != nil {
		return sagas.Work{}, err
	}
	if row.Wish < now.Wish {
		return sagas.Work{}, sagas.TooEarly("not_visible", p.deps.Runner.Times().Floor)
	}
	change := differing(row, in.Grants)
	if len(change) == 0 {
		return sagas.Work{}, nil
	}
	commands := []domain.Command{hosting.Change{Ref: ref, Spec: change}}
	if isPlaceless(now) {
		commands = append(commands, hosting.Confirm{Ref: ref})
	}
	return sagas.Work{Commands: commands}, nil
}

// isPlaceless tells whether the engine does not know a tenant, and is not being told.
func isPlaceless(t hosting.Resource) bool {
	return t.EngineID == 0 && (t.Status == hosting.Running || t.Status == hosting.Wanted && t.Wish <= 1)
}

// limitsApplied is when the engine has taken the last change of the tenant.
func (p *PlanChanges) limitsApplied(ctx context.Context, in *ChangePlanInput) (bool, sagas.Work, error) {
	if grantsMachine(in.Grants) {
		return true, sagas.Work{}, nil // a run of the machine brings it to the hypervisor
	}
	ref, now, err := p.tenantAt(ctx, in.Order)
	if err != nil {
		return false, sagas.Work{}, err
	}
	switch {
	case isPlaceless(now):
	case now.Status == hosting.Changing, now.Status == hosting.Wanted:
		return false, sagas.Work{}, sagas.Await(ref.Stream(), "engine", 0)
	case now.Status == hosting.Refused:
		return false, sagas.Work{}, domain.Fail(
			domain.Permanent, "engine_refused", errors.New("the engine has refused the tenant's new limits"),
		)
	}
	return true, sagas.Work{}, nil
}

// tenantAt is the tenant of a subscription as the log has it.
func (p *PlanChanges) tenantAt(ctx context.Context, order uuid.UUID) (ref hosting.Ref, t hosting.Resource, err error) {
	s, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, subscriptionOf(order))
	if err != nil {
		return ref, t, err
	}
	ref = hosting.Ref{Kind: "tenant", ID: s.Tenant}
	t, _, err = eventstore.Fold(ctx, p.deps.Store, hosting.Decider, ref.Stream())
	return ref, t, err
}

func (p *PlanChanges) recorded(ctx context.Context, ref hosting.Ref) (projections.Resource, error) {
	found, err := p.deps.Tables.For(projections.System).Hosting().Recorded(ctx, ref)
	row, known := found[ref]
	if err == nil && !known {
		err = domain.Refuse(domain.NotFound, "No Tenant matches the given query.")
	}
	return row, err
}

// differing are the fields of a record that would be others.
func differing(row projections.Resource, values field.Values) field.Values {
	change := field.Values{}
	for name, value := range values {
		if string(row.Spec[name]) != string(value) {
			change[name] = value
		}
	}
	return change
}

// Grants are the fields of a tenant's record that a plan sets: the same as provisioning
// sets for who orders it.
func (*PlanChanges) Grants(plan projections.Plan) field.Values {
	t := hosting.Tenant{Limits: hosting.NoLimits()}
	give(&t, bought(plan))
	values := t.Fields().Values()
	grants := field.Values{}
	switch plan.ResourceType {
	case storefront.HostingPlan:
		if plan.Package == nil {
			grants = hosting.OwnLimits(values)
		}
		grants["package"] = values["package"]
	case storefront.SaaSPlan:
		grants = t.SaaS.Fields().Values()
	case storefront.VPSPlan:
		grants = machineGrants(bought(plan).VPS)
	}
	return grants
}

// Overruns are the limits of a plan that are lower than what a tenant uses, by name.
func (p *PlanChanges) Overruns(ctx context.Context, tenant int64, grants field.Values) ([]billing.Overrun, error) {
	_, limited := grants["package"]
	if !limited {
		return nil, nil
	}
	limits, err := p.limitsWith(ctx, tenant, grants)
	if err != nil {
		return nil, err
	}
	scope := p.deps.Tables.For(projections.System)
	counts, err := scope.Hosting().Counts(ctx, tenant)
	if err != nil {
		return nil, err
	}
	usage, err := scope.Hosting().Usage(ctx, tenant)
	if err != nil {
		return nil, err
	}
	used := map[string]int64{hosting.StorageMB: usage.StorageMB(), hosting.TrafficMB: usage.TrafficMB()}
	for _, kind := range hosting.Kinds {
		if kind.Quota != "" {
			used[kind.Quota] += counts[kind.Name]
		}
	}
	var over []billing.Overrun
	for name, n := range used {
		if most := limits.Of(name); most != hosting.Unlimited && n > most {
			over = append(over, billing.Overrun{Limit: name, Used: n, Most: most})
		}
	}
	slices.SortFunc(over, func(a, b billing.Overrun) int { return cmp.Compare(a.Limit, b.Limit) })
	return over, nil
}

// limitsWith are the limits of a tenant whose record has other values: those of the
// package, or its own without one.
func (p *PlanChanges) limitsWith(ctx context.Context, tenant int64, grants field.Values) (hosting.Limits, error) {
	row, err := p.recorded(ctx, hosting.Ref{Kind: "tenant", ID: tenant})
	if err != nil {
		return hosting.Limits{}, err
	}
	var t hosting.Tenant
	if err := row.Load(&t); err != nil {
		return hosting.Limits{}, err
	}
	if err := t.Fields().Load(grants); err != nil {
		return hosting.Limits{}, fmt.Errorf("read what a plan grants: %w", err)
	}
	if t.Package == nil {
		return t.MayHave(t.Limits), nil
	}
	pack, err := p.recorded(ctx, hosting.Ref{Kind: "package", ID: *t.Package})
	if err != nil {
		return hosting.Limits{}, err
	}
	var of hosting.Package
	err = pack.Load(&of)
	return t.MayHave(of.Allows()), err
}

// EngineCalls are the calls at the engine that would bring what a plan grants to a tenant.
// A tenant without a place there needs none, and a machine is none of its objects.
func (p *PlanChanges) EngineCalls(ctx context.Context, tenant int64, grants field.Values) ([]hosting.EngineCall, error) {
	if grantsMachine(grants) {
		return nil, nil
	}
	ref := hosting.Ref{Kind: "tenant", ID: tenant}
	row, err := p.recorded(ctx, ref)
	if err != nil {
		return nil, err
	}
	change := differing(row, grants)
	if len(change) == 0 || row.EngineID == nil {
		return nil, nil
	}
	return p.deps.Outside.ChangeCalls(ctx, ref, change)
}
