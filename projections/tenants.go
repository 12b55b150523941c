package projections

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// memberOf is the scope of tenants: those of which the caller is a member, the one
// for which they act, to its administrators its sub-tenants, or all for operators.
func (s HostingReader) memberOf() *where {
	if s.caller.User == 0 {
		return s.caller.operators()
	}
	w := &where{}
	w.and("r.id = any(array(select m.tenant from memberships m where m.user_id = ? ", s.caller.User) // few, looked up one by one
	w.conditions[0] += w.with("union all select ?::bigint", s.caller.Tenant)
	if s.caller.Admin && s.caller.Tenant != 0 {
		w.conditions[0] += w.with(
			" union all select s.id from resources s where s.kind = 'tenant' and s.parent = ? and s.present and s.requested_for = ''",
			s.caller.Tenant,
		)
	}
	w.conditions[0] += "))"
	return s.caller.allOr(narrowed(w))
}

// SubTenants are the numbers of the sub-tenants of a tenant that are left, those in the
// bin too. What an order has made is none.
func (s HostingReader) SubTenants(ctx context.Context, parent int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", "tenant")
	w.and("r.parent = ?", parent)
	w.conditions = append(w.conditions, "r.requested_for = ''", "r.status <> 'gone'")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.id")
}

// tenants is the scope of tenants that are there.
func (s HostingReader) tenants() *where {
	w := s.memberOf()
	w.conditions = append(w.conditions, "r.kind = 'tenant'", present)
	return w
}

var tenantsBy = listRules{
	columns: resourceColumns, from: "resources r", joined: namedTenant, id: "r.id", key: "kind, id",
	search: `r.search || chr(10) || lower(coalesce(r.called, ''))`,
	fields: with(fieldsOf("r"), "name", "r.spec ->> 'name'", "slug", "r.called", "status", "r.spec ->> 'status'",
		"is_active", "(r.spec ->> 'is_active')::boolean", "package", "r.package", "parent", "r.parent", "requested_for", "r.requested_for"),
}

// Tenants lists the tenants of which the caller is a member, or all to
// operators: by name, slug, status, is_active, package, parent. The slug is searched, too.
func (s HostingReader) Tenants(ctx context.Context, l Listing) (Listed[Resource], error) {
	return part[Resource](ctx, s.db, tenantsBy, s.tenants(), l)
}

// TenantNames are the names of tenants by their numbers, for operators.
func (s HostingReader) TenantNames(ctx context.Context, tenants ...int64) (map[int64]string, error) {
	if len(tenants) == 0 {
		return nil, nil
	}
	w := s.caller.operators()
	w.and("r.id = any(?)", tenants)
	found, err := list[struct {
		ID   int64
		Name string
	}](ctx, s.db, `select r.id, coalesce(r.spec ->> 'name', '') as name from resources r`, w, ` and r.kind = 'tenant'`)
	names := map[int64]string{}
	for _, one := range found {
		names[one.ID] = one.Name
	}
	return names, err
}

// Tenant returns a tenant of which the caller is a member; operators reach all.
func (s HostingReader) Tenant(ctx context.Context, id int64) (Resource, error) {
	w := s.tenants()
	w.and("r.id = ?", id)
	tenant, _ := hosting.KindNamed("tenant")
	return one[Resource](ctx, s.db, tenant.Class, `select `+resourceColumns+fromResources, w)
}

// OutOfStep are the records of a tenant that do not rest though it rests, or
// still rest with it though it does not: those in the bin too, but none that
// cannot be disabled or is leaving. Limit 0 is any number.
func (s HostingReader) OutOfStep(ctx context.Context, tenant int64, rests bool, limit int64) ([]hosting.Ref, error) {
	return s.outOfStep(ctx, tenant, hosting.ByTenant, disableable, rests, limit)
}

// SitesOutOfStep are those that do not rest with the hosting services of their tenant, or
// still do: all but machines, which rest with their own orders.
func (s HostingReader) SitesOutOfStep(ctx context.Context, tenant int64, rests bool, limit int64) ([]hosting.Ref, error) {
	return s.outOfStep(ctx, tenant, hosting.ByOrder, hosted, rests, limit)
}

func (s HostingReader) outOfStep(
	ctx context.Context, tenant int64, by string, kinds []string, rests bool, limit int64,
) ([]hosting.Ref, error) {
	w := s.caller.operators()
	w.and("r.tenant = ?", tenant)
	w.and("r.kind = any(?)", kinds)
	w.and("('"+by+"' = any(r.disabled_by)) <> ?", rests)
	w.conditions = append(w.conditions, kept)
	w.args = append(w.args, domain.OrNull(limit))
	return list[hosting.Ref](
		ctx, s.db, `select r.kind, r.id from resources r`, w,
		fmt.Sprintf(" order by r.kind, r.id limit $%d", len(w.args)),
	)
}

// disableable are the kinds that can be disabled.
var disableable = namesOf(func(kind hosting.Kind) bool { return kind.CanBeDisabled })

// hosted are those of them that a hosting service comes with.
var hosted = namesOf(func(kind hosting.Kind) bool { return kind.CanBeDisabled && kind.Belongs() })

func namesOf(is func(hosting.Kind) bool) (names []string) {
	for _, kind := range hosting.Kinds {
		if is(kind) {
			names = append(names, kind.Name)
		}
	}
	return names
}

// WithPackage are the numbers of the tenants that have a package, those in the
// bin too: they are at the engine until they are removed.
func (s HostingReader) WithPackage(ctx context.Context, id int64) ([]int64, error) {
	type numbered struct{ ID int64 }
	w := s.caller.operators()
	w.and("r.kind = ?", "tenant")
	w.and("r.package = ?", id)
	w.conditions = append(w.conditions, kept)
	found, err := list[numbered](ctx, s.db, `select r.id from resources r`, w, " order by r.id")
	numbers := make([]int64, len(found))
	for i, one := range found {
		numbers[i] = one.ID
	}
	return numbers, err
}

// A Look is how a tenant's panel and mails look. ID is that of the configuration.
type Look struct {
	ID int64
	hosting.WhiteLabel
}

// Branding is how a tenant's panel and mails look; false: like everybody's, because
// it has no configuration or has switched it off.
func (s HostingReader) Branding(ctx context.Context, tenant int64) (hosting.WhiteLabel, bool, error) {
	look, has, err := s.LookOf(ctx, tenant)
	return look.WhiteLabel, has, err
}

// LookOf is [ResourceReader.Branding] with the number of the configuration.
func (s HostingReader) LookOf(ctx context.Context, tenant int64) (look Look, has bool, err error) {
	row, has, err := s.ofTenant(ctx, "whitelabel", tenant)
	if has {
		look.ID, err = row.ID, row.Load(&look.WhiteLabel)
	}
	return look, has && err == nil, err
}

// ReceivesMail tells whether a domain is one of the tenant's mail domains, and
// active.
func (s HostingReader) ReceivesMail(ctx context.Context, tenant int64, domain string) (bool, error) {
	_, has, err := s.ofTenant(ctx, "mail_domain", tenant, Filter{Field: "domain", Op: "=", Value: domain})
	return has, err
}

// ofTenant is the tenant's active resource of a kind that the filters leave.
func (s HostingReader) ofTenant(ctx context.Context, kind string, tenant int64, filters ...Filter) (row Resource, has bool, err error) {
	k, _ := hosting.KindNamed(kind)
	found, err := s.OfKind(ctx, k, Listing{Limit: 1, Filters: append(filters,
		Filter{Field: "tenant", Op: "=", Value: tenant}, Filter{Field: "is_active", Op: "=", Value: true})})
	if err != nil || len(found.Rows) == 0 {
		return row, false, err
	}
	return found.Rows[0], true, nil
}
