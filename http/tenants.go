package http

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	hostingPrefix = "/hosting/api/rest/"
	tenantsPath   = hostingPrefix + "tenants/"
	tenantPath    = tenantsPath + "{id:int}/"
)

// hosting is what customers see and do of what runs for them (docs/hosting.md).
func (s *Server) hosting() route.Area {
	return route.Area{
		Name: "Hosting", Prefix: hostingPrefix, Access: s.user(),
		About: "What runs for a tenant. Every call needs an access token and works in the caller's active tenant.",
		Routes: slices.Concat([]route.Route{
			lists(tenantsPath, "The tenants that the caller may act for", tenantList, s.tenants).As("tenant_list").
				Saying("Superusers see all tenants."),
			route.Get(tenantPath, "A tenant", s.tenant).As("tenant_read").Of("Tenant").Finding(s.findTenant),
			route.Post(tenantPath+"activate/", "Act for this tenant from now on", s.activate).As("tenant_activate").
				Of("Tenant").With(http.StatusOK).Finding(s.findTenant),
		}, s.kindRoutes(), s.certificateRoutes()),
	}
}

var tenantList = asks{
	Filters: func() field.Set {
		return field.Set{
			field.Text("status", new(string)).Among("active", "suspended", "terminated").Doc("Only tenants in this state."),
			field.Ref("package", new(int64)).Doc("Only tenants with this package."),
			field.Text("slug", new(string)).Doc("Only the tenant with this slug."),
			field.Flag("is_active", new(bool)).Doc("Only those that are, or are not, active."),
		}
	},
	Search: "name and email", Ordering: []string{"name"},
}

// A tenant is one as the API shows it.
type tenant struct {
	row         projections.Resource
	spec        hosting.Tenant
	packageName *string
	lastSynced  *time.Time // when its records were last compared with the engine's; nil: never
}

// shownOfTenant are the fields that customers see of their own data.
var shownOfTenant = []string{
	"name", "email", "slug", "contact_name", "company_name", "phone", "tax_id", "address", "city", "postal_code", "country", "language",
	"package", "parent", "username", "status", "suspended_reason", "is_active",
}

// Fields are the tenant (docs/hosting.md, "Tenants").
func (t *tenant) Fields() field.Set {
	spec := t.spec.Fields()
	set := append(field.Set{field.Int("id", &t.row.ID).ReadOnly()}, spec.Only(shownOfTenant...)...)
	set = append(set, field.NullText("package_name", &t.packageName).ReadOnly())
	set = append(set, spec.Only("customer_number", "suspended_at")...)
	return append(set,
		field.NullInt("hosting_client_id", &t.row.EngineID).ReadOnly(),
		field.NullTime("last_synced_at", &t.lastSynced).ReadOnly(),
		field.Text("sync_status", &t.row.SyncStatus).Among("pending", "synced", "error").ReadOnly(),
		field.Text("sync_error", &t.row.SyncError).ReadOnly(),
		field.Time("created_at", &t.row.CreatedAt).ReadOnly(),
		field.Time("updated_at", &t.row.UpdatedAt).ReadOnly(),
	)
}

// tag names the version of the tenant with all that is shown of it.
func (t *tenant) tag() string {
	tag := fmt.Sprintf("tenant-%d-%d", t.row.ID, t.row.Version)
	if t.packageName == nil {
		return tag
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(*t.packageName)) // never fails
	return fmt.Sprintf("%s-%x", tag, name.Sum32())
}

func (s *Server) tenants(ctx context.Context, c route.Call, l projections.Listing) (listed projections.Listed[tenant], err error) {
	if err := s.knownPackage(ctx, l); err != nil {
		return listed, err
	}
	found, err := s.scope(c).Tenants(ctx, l)
	if err != nil {
		return listed, err
	}
	listed.Count = found.Count
	for _, row := range found.Rows {
		one, err := s.loadTenant(ctx, row)
		if err != nil {
			return listed, err
		}
		listed.Rows = append(listed.Rows, *one)
	}
	return listed, nil
}

// knownPackage refuses a filter by a package that there is not.
func (s *Server) knownPackage(ctx context.Context, l projections.Listing) error {
	for _, f := range l.Filters {
		id, _ := f.Value.(int64)
		if f.Field != "package" {
			continue
		}
		if name, err := s.packageName(ctx, &id); err != nil || name == nil {
			return errors.Join(err, domain.RefuseField("package", field.NoSuchChoice))
		}
	}
	return nil
}

func (s *Server) loadTenant(ctx context.Context, row projections.Resource) (*tenant, error) {
	t := &tenant{row: row}
	if err := row.Load(&t.spec); err != nil {
		return nil, err
	}
	var err error
	t.packageName, err = s.packageName(ctx, t.spec.Package)
	return t, err
}

// packageName is what a package is called; nil: there is none.
func (s *Server) packageName(ctx context.Context, id *int64) (*string, error) {
	if id == nil {
		return nil, nil
	}
	found, err := s.system().Resource(ctx, hosting.Ref{Kind: "package", ID: *id})
	switch {
	case isMissing(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var name string
	err = (field.Set{field.Text("name", &name)}).Load(found.Spec)
	return &name, err
}

// findTenant finds one of those that the caller may act for.
func (s *Server) findTenant(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.scope(c).Tenant(ctx, c.ID("id"))
	if err != nil {
		return nil, "", err
	}
	t, err := s.loadTenant(ctx, row)
	if err != nil {
		return nil, "", err
	}
	return t, t.tag(), nil
}

func (s *Server) tenant(_ context.Context, c route.Call) (*tenant, error) {
	t, _ := c.Subject.(*tenant)
	c.ETag(t.tag())
	return t, nil
}

// activate makes the tenant the one in whose name the caller acts.
func (s *Server) activate(ctx context.Context, c route.Call, _ *route.Nothing) (*tenant, error) {
	t, _ := c.Subject.(*tenant)
	_, err := s.Commands.Execute(ctx, c.Cause(), account.ActivateTenant{User: callerOf(c).ID, Tenant: t.row.ID, At: s.now()})
	if err != nil {
		return nil, err
	}
	return s.tenant(ctx, c)
}
