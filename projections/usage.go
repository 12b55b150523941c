package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// usage is what tenants use at the engine. It is measured, not decided, and so
// no event: it stands beside the resources, and a rebuild keeps it. So is the place
// at which the comparison of all tenants with the engine is.
var usage = `
	create table if not exists tenant_usage (
		tenant  bigint primary key,
		figures jsonb  not null default '{}', -- the last measurement; {}: none yet
		fails   int    not null default 0,    -- in a row
		next_at timestamptz not null default business_now() -- also the end of the lease of whoever measures
	);
	create index if not exists tenant_usage_due on tenant_usage (next_at);
	grant select, insert, update, delete on tenant_usage to ` + eventstore.AppRole + `;
	create table if not exists engine_comparison (
		one      boolean primary key default true check (one),
		tenant   bigint not null default 0, -- that was compared last in this round
		began_at timestamptz not null default business_now(), -- the round
		fails    int not null default 0, -- in a row
		next_at  timestamptz not null default business_now() + interval '1 hour' -- also the end of the lease of the process that compares
	);
	insert into engine_comparison default values on conflict do nothing;
	grant select, update on engine_comparison to ` + eventstore.AppRole + `;
	` + strings.Join(append(wall("tenant_usage", operators, ofTenant("tenant")), wall("engine_comparison", operators)...), ";")

// Usage is the last measurement of what a tenant uses; the zero one before the
// first.
func (s ResourceReader) Usage(ctx context.Context, tenant int64) (m hosting.Measurement, err error) {
	w := s.tenantOrAll("tenant")
	w.and("tenant = ?", tenant)
	found, err := list[struct{ Figures json.RawMessage }](ctx, s, `select figures from tenant_usage`, w, "")
	if err != nil || len(found) == 0 {
		return m, err
	}
	if err := json.Unmarshal(found[0].Figures, &m); err != nil {
		return m, fmt.Errorf("read the usage of tenant %d: %w", tenant, err)
	}
	return m, nil
}

// Counts tells how many resources a tenant has, by kind.
func (s ResourceReader) Counts(ctx context.Context, tenant int64) (map[string]int64, error) {
	type count struct {
		Kind string
		N    int64
	}
	w := s.tenantOrAll("r.tenant")
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, present)
	found, err := list[count](ctx, s, `select r.kind, count(*) as n from resources r`, w, " group by r.kind")
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
func (s ResourceReader) StateCounts(ctx context.Context, tenant int64) ([]StateCount, error) {
	w := s.ownedBy(tenant)
	return list[StateCount](ctx, s, `select r.kind, r.sync_status, count(*) as n from resources r`, w, " group by r.kind, r.sync_status")
}

// Refused are a tenant's resources that the engine, or an authority, has refused, the
// latest first.
func (s ResourceReader) Refused(ctx context.Context, tenant int64, limit int) ([]Resource, error) {
	w := s.ownedBy(tenant)
	w.conditions = append(w.conditions, `(r.sync_status = 'error' or r.kind in (`+issuedKinds+`) and r.spec ->> 'status' = 'failed')`)
	return list[Resource](ctx, s, `select `+resourceColumns+fromResources, w, w.newest("r.updated_at", "r.id", limit))
}

// ownedBy is the scope of what a tenant has at present.
func (s ResourceReader) ownedBy(tenant int64) *where {
	w := s.tenantOrAll("r.tenant")
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, present)
	return w
}

// issuedKinds are the kinds that an authority issues, as a list in SQL.
var issuedKinds = strings.TrimSpace(kindsThat(func(k hosting.Kind) bool { return k.Issued }))
