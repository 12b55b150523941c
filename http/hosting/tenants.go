package hosting

import (
	"context"
	"net/http"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	hostingPrefix = "/hosting/api/rest/"
	tenantsPath   = hostingPrefix + "tenants/"
	tenantPath    = tenantsPath + "{id:int}/"
)

// Tenants are a kind of resource like the others, but for who reaches which:
// users see those they belong to, whichever they act for, and superusers alone
// make and end them (docs/tenants.md).
type tenants struct {
	collection *collection
	callers    *caller.Callers
	commands   record.Commands
	service    Service
}

// tenantRoutes are the tenants as the API has them.
func (s *Area) tenantRoutes() []route.Route {
	t := &s.tenants
	routes := []route.Route{
		listing.Pages[hosted](tenantsPath, "The tenants that the caller may act for", tenantList, t.list).As("tenant_list").
			Saying("Superusers see all tenants."),
		route.Get(tenantPath, "A tenant", t.collection.show).As("tenant_read").Finding(t.find),
		t.collection.writing(route.Post(tenantsPath, "Make a tenant", t.create), "create").For(t.callers.TenantAdmin()).
			Barring(t.barOthers).
			Saying("Superusers make any. " + ofSubTenants),
		t.collection.writing(route.Put(tenantPath, "Replace a tenant", t.change), "replace").
			For(t.callers.TenantAdmin()).Finding(t.findSubTenant).
			Saying("Superusers replace any. " + ofSubTenants),
		t.collection.writing(route.Patch(tenantPath, "Change some fields of a tenant", t.change), "change").
			For(t.callers.TenantAdmin()).Finding(t.findOwn).
			Saying(
				"Administrators change how their own tenant is reached: " + strings.Join(hosting.OwnOfTenant, ", ") +
					". What else they send has no effect. " + ofSubTenants,
			),
		route.Delete(tenantPath, "Terminate a tenant", t.terminate).As("tenant_delete").For(t.callers.TenantAdmin()).
			Finding(t.findSubTenant).
			Saying("It is off and gone at once, and removed after 30 days. " + ofSubTenants),
		route.Post(tenantPath+"activate/", "Act for this tenant from now on", t.activate).As("tenant_activate").
			With(http.StatusOK).Finding(t.find),
	}
	for i := range routes {
		routes[i] = t.collection.shaped(routes[i])
	}
	return append(routes, t.statsRoute(), s.exporter.route())
}

var tenantList = listing.Spec{
	Filters: func() field.Set {
		return field.Set{
			field.Text("status", new(string)).Among(hosting.InService, hosting.Suspended, hosting.Terminated).Doc(
				"Only tenants in this state.",
			),
			field.Ref("package", new(int64)).Doc("Only tenants with this package."),
			field.Text("slug", new(string)).Doc("Only the tenant with this slug."),
			field.Flag("is_active", new(bool)).Doc("Only those that are, or are not, active."),
		}
	},
	Search: "name, email and slug", Ordering: []string{"name"},
}

func (t *tenants) list(ctx context.Context, c route.Call, l projections.Listing) (listed projections.Listed[hosted], err error) {
	if err := t.knownPackage(ctx, l); err != nil {
		return listed, err
	}
	found, err := t.callers.Scope(c).Hosting().Tenants(ctx, l)
	if err != nil {
		return listed, err
	}
	listed.Count = found.Count
	listed.Rows, err = t.collection.shown(ctx, t.callers.System(), found.Rows)
	return listed, err
}

// knownPackage refuses a filter by a package that there is not.
func (t *tenants) knownPackage(ctx context.Context, l projections.Listing) error {
	for _, f := range l.Filters {
		id, _ := f.Value.(int64)
		if f.Field != "package" {
			continue
		}
		_, err := t.callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "package", ID: id})
		if record.IsMissing(err) {
			err = domain.RefuseField("package", field.NoSuchChoice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find finds one of those that the caller may act for.
func (t *tenants) find(ctx context.Context, c route.Call) (any, string, error) {
	row, err := t.callers.Scope(c).Hosting().Tenant(ctx, c.ID("id"))
	if err != nil {
		return nil, "", err
	}
	w, err := t.collection.whole(ctx, t.callers.System(), row)
	if err != nil {
		return nil, "", err
	}
	return w, w.Tag(), nil
}

// findOwn finds a tenant for a change: one that the caller administers, unless it is
// suspended.
func (t *tenants) findOwn(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := t.findAdministered(ctx, c)
	if err == nil {
		err = t.collection.open(ctx, caller.Of(c))
	}
	return found, tag, err
}

// findAdministered finds to superusers any tenant, to others the one for which they act, of
// which they change only some fields, and its sub-tenants.
func (t *tenants) findAdministered(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := t.find(ctx, c)
	who := caller.Of(c)
	if err != nil || who.IsSuperuser {
		return found, tag, err
	}
	w := found.(*resource) //nolint:forcetypeassert // found by find
	switch {
	case !who.Administers():
		return nil, "", route.NoPermission
	case w.row.ID == who.Tenant():
		w.only = hosting.OwnOfTenant
	case hosting.NumberIn(w.Spec, "parent") == who.Tenant() && w.row.RequestedFor == "":
		w.only = hosting.OfSubTenant
	default:
		return nil, "", route.NoPermission
	}
	return w, tag, nil
}

// ofSubTenants describes who else makes and changes tenants.
const ofSubTenants = "Administrators of a tenant with a SaaS service may do so with its sub-tenants, whose parent it is."

// findSubTenant finds a tenant to replace or to end: to superusers any, to others a
// sub-tenant of the one for which they act. Administrators of a tenant without a SaaS
// service are turned away whatever they name.
func (t *tenants) findSubTenant(ctx context.Context, c route.Call) (any, string, error) {
	who := caller.Of(c)
	if err := t.barOthers(ctx, c); err != nil {
		return nil, "", err
	}
	found, tag, err := t.findOwn(ctx, c)
	if w, is := found.(*resource); err == nil && is && !who.IsSuperuser && w.row.ID == who.Tenant() {
		err = route.NoPermission
	}
	return found, tag, err
}

// barOthers turns away all but superusers and the administrators of a tenant that has, or
// may have, sub-tenants.
func (t *tenants) barOthers(ctx context.Context, c route.Call) error {
	who := caller.Of(c)
	if who.IsSuperuser {
		return nil
	}
	if who.Tenant() == 0 {
		return route.NoPermission
	}
	used, most, err := t.callers.System().Hosting().LimitOfSubTenants(ctx, who.Tenant())
	if err == nil && used == 0 && most == 0 {
		err = route.NoPermission
	}
	if err != nil {
		return err
	}
	return t.collection.open(ctx, who)
}

// activate makes the tenant the one in whose name the caller acts.
func (t *tenants) activate(ctx context.Context, c route.Call, _ *route.Nothing) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	who := caller.Of(c)
	_, err := t.commands.Execute(
		ctx, c.Cause(),
		account.ActivateTenant{User: who.ID, Tenant: w.row.ID, Through: who.Administered(), At: t.callers.Now()},
	)
	if err != nil {
		return nil, err
	}
	return t.collection.show(ctx, c)
}

// A tenant is what the rules of everything in it ask of it.
type tenant struct {
	row  projections.Resource
	spec hosting.Tenant
}

func loadTenant(row projections.Resource) (*tenant, error) {
	t := &tenant{row: row}
	return t, row.Load(&t.spec)
}
