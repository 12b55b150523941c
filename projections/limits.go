package projections

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// How many resources a tenant may have is decided where a new one is written,
// so that requests at the same time cannot pass the limit together: the
// committer's statement counts, under its lock, what is there with the new one,
// and breaks the condition of a table that never has a row.

// limited is the handler of a request that the tenant's package limits. How
// many records a zone may have, zones.go looks after.
func limited() Handler {
	return Rule(overQuota, func(at eventstore.RecordedEvent, e hosting.Requested) []any {
		kind, _ := hosting.KindNamed(e.Kind)
		if kind.Quota == "" || e.For != "" { // what was bought is there to be had
			return nil
		}
		return []any{e.Kind, e.Tenant, kind.Quota, "max_" + kind.Quota, kind.Unset()}
	}).refusing(overLimits())
}

// limitedParts is the handler of a request for a part of something that itself says how many
// of them it may have.
func limitedParts() Handler {
	return Rule(overParts, func(_ eventstore.RecordedEvent, e hosting.Requested) []any {
		kind, _ := hosting.KindNamed(e.Kind)
		parent, is := kind.Parent()
		var whole int64
		if kind.MostIn == "" || !is || json.Unmarshal(e.Spec[parent.Field], &whole) != nil {
			return nil
		}
		return []any{e.Kind, parent.Kind, whole, parent.Field, kind.MostIn, kind.Counted()}
	}).refusing(overLimits())
}

// limitedSubTenants is the handler of a sub-tenant that a user asks for: the SaaS
// services of its parent limit them. Operators make any number.
func limitedSubTenants() Handler {
	return Rule(overAccounts, func(at eventstore.RecordedEvent, e hosting.Requested) []any {
		var parent int64
		kind, _ := hosting.KindNamed(e.Kind)
		if !kind.Owner || e.For != "" || !strings.HasPrefix(at.Metadata.Actor, "user:") ||
			json.Unmarshal(e.Spec["parent"], &parent) != nil || parent == 0 {
			return nil
		}
		return []any{parent}
	}).refusing(overLimits())
}

const (
	// firstIsOff tells that what a tenant began with does not count.
	firstIsOff = `coalesce(t.spec ->> 'first_service', '') in ('` + hosting.FirstRests + `', '` + hosting.FirstGone + `')`

	// accountsOf is none for a sub-tenant, whatever it has: there is no deeper level.
	accountsOf = `select case when t.parent is not null and t.requested_for = '' then 0 when -1 in ` +
		`(first.most, added.most) then -1 else first.most + added.most end as most from resources t
		cross join lateral (select case ` +
		`when ` + firstIsOff + ` then 0 else coalesce((t.spec ->> 'saas_max_hosting_accounts')::bigint, 0) end as most) first
		cross join lateral (select coalesce((t.spec ->> 'added_saas_max_hosting_accounts')::bigint, 0) as most) added
		where t.kind = 'tenant' and t.id = $1`

	subTenantsOf = `(select count(*) from resources r where r.kind = 'tenant' and r.parent = $1 and r.present and r.requested_for = '')`

	overAccounts = `
		insert into over_quota (quota)
		select '` + hosting.HostingAccounts + `' from (` + accountsOf + `) of where of.most <> -1 and ` + subTenantsOf + ` > of.most`
)

// LimitOfSubTenants tells how many sub-tenants a tenant has, and how many it may
// have; -1 is any number.
func (s HostingReader) LimitOfSubTenants(ctx context.Context, tenant int64) (used, most int64, err error) {
	type numbers struct{ Used, Most int64 }
	w := s.caller.operators()
	w.args = append(w.args, tenant)
	found, err := list[numbers](ctx, s.db, `select of.most, `+subTenantsOf+` as used from (`+accountsOf+`) of`, w, "")
	if err != nil || len(found) == 0 {
		return 0, 0, err
	}
	return found[0].Used, found[0].Most, nil
}

var (
	overParts = `
		insert into over_quota (quota)
		select $6 from resources whole where whole.kind = $2 and whole.id = $3::bigint and (select count(*) from resources r
			where r.kind = $1 and r.tenant = whole.tenant and (r.spec ->> $4)::bigint = whole.id and ` + present + `) >
			coalesce((whole.spec ->> $5)::bigint, 0)`

	overQuota = `
		insert into over_quota (quota)
		select $3 from (` + limitOf + `) of
		where of.most <> -1 and (select count(*) from resources r where r.kind = $1 and r.tenant = $2 and ` + present + `) > of.most`

	// A tenant without package has the limits that it came with. Services that joined it
	// add to them.
	limitOf = `
		select case when -1 in (first.most, added.most) then -1 else first.most + added.most end as most
		from resources t cross join lateral (select coalesce((t.spec ->> ('added_' || $4))::bigint, 0) as most) added ` +
		`left join resources p on p.kind = 'package' and p.id = (t.spec ->> 'package')::bigint and p.present
			cross join lateral (select case when ` + firstIsOff + ` then 0 else coalesce(case
				when p.id is null then (t.spec ->> $4)::bigint
				` + featuresOff() + `
				else (p.spec ->> $4)::bigint
			end, $5) end as most) first
		where t.kind = 'tenant' and t.id = $2`
)

// featuresOff are the limits that a package without their feature sets to 0.
func featuresOff() string {
	var sql strings.Builder
	for _, kind := range hosting.Kinds {
		if kind.Feature != "" {
			fmt.Fprintf(&sql, "when $4 = 'max_%s' and p.spec ->> '%s' = 'false' then 0 ", kind.Quota, kind.Feature)
		}
	}
	return sql.String()
}

// quotas are the names of all that is counted.
func quotas() (names []string) {
	for _, kind := range hosting.Kinds {
		if kind.Quota != "" || kind.Most != 0 || kind.MostIn != "" {
			names = append(names, kind.Counted())
		}
	}
	return append(names, hosting.HostingAccounts)
}

// quotasSQL is the table that never has a row, with a condition for each
// limit, because its name says which one is reached.
func quotasSQL() string {
	conditions := make([]string, 0, len(hosting.Kinds))
	for _, name := range quotas() {
		conditions = append(conditions, fmt.Sprintf("constraint %s check (quota <> '%s')", quotaCondition(name), name))
	}
	return "create table over_quota (quota text not null, " + strings.Join(conditions, ", ") + ")"
}

func quotaCondition(name string) string { return "over_quota_" + name }

// overLimits are the refusals. Who knows the numbers says them instead.
func overLimits() map[string]error {
	over := map[string]error{}
	for _, name := range quotas() {
		over[quotaCondition(name)] = &domain.Error{
			Code: domain.Invalid, Field: field.NonField, Reason: "quota_exceeded", Message: "Limit reached: " + name + ".",
		}
	}
	return over
}

// Limit tells how many resources of a kind a tenant has, and how many it may
// have; -1 is any number.
func (s HostingReader) Limit(ctx context.Context, kind hosting.Kind, tenant int64) (used, most int64, err error) {
	type numbers struct{ Used, Most int64 }
	w := s.caller.operators()
	w.args = append(w.args, kind.Name, tenant, "max_"+kind.Quota, kind.Unset())
	found, err := list[numbers](ctx, s.db, `
		select of.most, (select count(*) from resources r where r.kind = $1 and r.tenant = $2 and `+present+`) as used
		from (`+strings.NewReplacer("$4", "$3", "$5", "$4").Replace(limitOf)+`) of`, w, "")
	if err != nil || len(found) == 0 {
		return 0, hosting.Unlimited, err
	}
	return found[0].Used, found[0].Most, nil
}

// PlanAdds is what a plan lets a tenant have that its service joins.
func (s Scope) PlanAdds(ctx context.Context, plan order.Plan) (l hosting.Limits, saas hosting.SaaSLimits, err error) {
	switch plan.ResourceType {
	case "hosting":
		l, err = s.hostingAdds(ctx, plan.Package, plan.Quotas)
	case "saas":
		saas = SaaSMaxima(plan.SaaS)
	}
	return l, saas, err
}

// SaaSMaxima are what a SaaS plan lets a tenant have.
func SaaSMaxima(p *order.SaaS) (l hosting.SaaSLimits) {
	if p != nil {
		l = hosting.SaaSLimits{MaxVMs: p.MaxVMs, MaxHostingAccounts: p.MaxHostingAccounts, MaxAgents: p.MaxAgents, WhiteLabel: p.WhiteLabel}
	}
	return l
}

func (s Scope) hostingAdds(ctx context.Context, pack *int64, quotas map[string]int64) (hosting.Limits, error) {
	if pack == nil {
		return hosting.HostingAdds(nil, quotas), nil
	}
	ref := hosting.Ref{Kind: "package", ID: *pack}
	found, err := s.Hosting().Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || row.Status == hosting.Gone {
		return hosting.HostingAdds(nil, quotas), err
	}
	var of hosting.Package
	err = row.Load(&of)
	return hosting.HostingAdds(&of, nil), err
}

// Grants is what a service lets its tenant have. That of the order that made the tenant
// stands in the tenant's record, where a change of the plan sets it.
func (s Scope) Grants(ctx context.Context, of Service) (hosting.Limits, hosting.SaaSLimits, error) {
	ref := hosting.Ref{Kind: "tenant", ID: of.Tenant}
	found, err := s.Hosting().Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known || !of.Made || row.Status == hosting.Gone {
		l, saas, failed := s.PlanAdds(ctx, of.Plan)
		return l, saas, cmp.Or(err, failed)
	}
	var t hosting.Tenant
	if err := row.Load(&t); err != nil {
		return hosting.Limits{}, hosting.SaaSLimits{}, err
	}
	if t.Package == nil {
		return t.Limits, t.SaaS, nil
	}
	l, err := s.hostingAdds(ctx, t.Package, nil)
	return l, t.SaaS, err
}

// usage is what tenants use at the engine. It is measured, not decided, and so
// no event: it stands beside the resources, and a rebuild keeps it. So is the place
// at which the comparison of all tenants with the engine is.
var usage = `
	create table if not exists tenant_usage (
		tenant  bigint primary key,
		figures jsonb  not null default '{}', -- the last measurement; {}: none yet
		next_at timestamptz not null default business_now() -- the next measurement
	);
	create index if not exists tenant_usage_due on tenant_usage (next_at);
	grant select, insert, update, delete on tenant_usage to ` + eventstore.AppRole + `;
	create table if not exists engine_comparison (
		one      boolean primary key default true check (one),
		tenant   bigint not null default 0, -- that was compared last in this round
		began_at timestamptz not null default business_now(), -- the round
		next_at  timestamptz not null default business_now() + interval '1 hour' -- the next comparison
	);
	insert into engine_comparison default values on conflict do nothing;
	grant select, update on engine_comparison to ` + eventstore.AppRole + `;
	create table if not exists machine_usage (
		machine   bigint primary key,
		tenant    bigint not null,
		read_at   timestamptz not null, -- the last reading, by the clock of the hypervisor
		epoch     text   not null,      -- and its counters, which begin at zero in each
		cpu       bigint not null,      -- microseconds
		received  bigint not null,
		sent      bigint not null,
		cores     double precision,     -- that were busy since the reading before; null: not known
		memory_mb bigint not null,
		disk_mb   bigint not null,
		next_at   timestamptz not null default business_now() -- the next reading
	);
	create index if not exists machine_usage_due on machine_usage (next_at);
	create table if not exists machine_traffic (
		machine  bigint not null,
		month    date   not null, -- its first day, in UTC
		tenant   bigint not null,
		received bigint not null,
		sent     bigint not null,
		primary key (machine, month)
	);
	grant select, insert, update, delete on machine_usage, machine_traffic to ` + eventstore.AppRole + `;
	create table if not exists machine_comparison ( -- with the hypervisors that were compared
		server    text primary key,
		machines  bigint not null, -- that it had
		strangers bigint not null, -- of others, among them
		next_at   timestamptz not null
	);
	grant select, insert, update on machine_comparison to ` + eventstore.AppRole + `;
	` + strings.Join(slices.Concat(
	wall("tenant_usage", operators, ofTenant("tenant")), wall("engine_comparison", operators),
	wall("machine_usage", operators, ofTenant("tenant")), wall("machine_traffic", operators, ofTenant("tenant")),
	wall("machine_comparison", operators),
), ";")

// notedOfMachines is what causes no request to the hypervisor.
func notedOfMachines() []Handler {
	return []Handler{
		stating[hosting.ConsoleOpened](), stating[hosting.PasswordShown](), stating[hosting.TrafficReached](),
		stating[hosting.TrafficSlowed](), stating[hosting.TrafficFreed](),
	}
}

// Usage is the last measurement of what a tenant uses; the zero one before the
// first.
func (s HostingReader) Usage(ctx context.Context, tenant int64) (m hosting.Measurement, err error) {
	w := s.caller.tenantOrAll("tenant")
	w.and("tenant = ?", tenant)
	found, err := list[struct{ Figures json.RawMessage }](ctx, s.db, `select figures from tenant_usage`, w, "")
	if err != nil || len(found) == 0 {
		return m, err
	}
	if err := json.Unmarshal(found[0].Figures, &m); err != nil {
		return m, fmt.Errorf("read the usage of tenant %d: %w", tenant, err)
	}
	return m, nil
}

// Counts tells how many resources a tenant has, by kind.
func (s HostingReader) Counts(ctx context.Context, tenant int64) (map[string]int64, error) {
	type count struct {
		Kind string
		N    int64
	}
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, present)
	found, err := list[count](ctx, s.db, `select r.kind, count(*) as n from resources r`, w, " group by r.kind")
	counts := map[string]int64{}
	for _, one := range found {
		counts[one.Kind] = one.N
	}
	return counts, err
}

// A StateCount is how many resources of a kind are in one state at the engine.
type StateCount struct {
	Kind       string
	SyncStatus string // pending, synced, error
	N          int64
}

// StateCounts counts a tenant's resources by kind and state.
func (s HostingReader) StateCounts(ctx context.Context, tenant int64) ([]StateCount, error) {
	w := s.ownedBy(tenant)
	return list[StateCount](ctx, s.db, `select r.kind, r.sync_status, count(*) as n from resources r`, w, " group by r.kind, r.sync_status")
}

// Refused are a tenant's resources that the engine, or an authority, has refused, the
// latest first.
func (s HostingReader) Refused(ctx context.Context, tenant int64, limit int) ([]Resource, error) {
	w := s.ownedBy(tenant)
	w.conditions = append(w.conditions, `(r.sync_status = 'error' or r.kind in (`+issuedKinds+`) and r.spec ->> 'status' = 'failed')`)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, w.newest("r.updated_at", "r.id", limit))
}

// ownedBy is the scope of what a tenant has at present.
func (s HostingReader) ownedBy(tenant int64) *where {
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, present)
	return w
}

// issuedKinds are the kinds that an authority issues, as a list in SQL.
var issuedKinds = strings.TrimSpace(kindsThat(func(k hosting.Kind) bool { return k.Issued }))
