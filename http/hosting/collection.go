package hosting

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/projections"
)

// kindRoutes are the routes of all kinds that the API serves by their row in
// [hosting.Kinds] alone (docs/hosting.md, "Kinds"). Tenants have routes of their own.
func (s *Area) kindRoutes() (all []route.Route) {
	for _, kind := range hosting.Kinds {
		if kind.Collection != "" && !kind.Owner {
			all = append(all, s.kinds.named(kind.Name).routes()...)
		}
	}
	return all
}

// A collection serves the resources of one kind in the API.
type collection struct {
	kind        hosting.Kind
	callers     *caller.Callers
	service     Service
	machines    Machines
	nameServers []string
	engineWait  time.Duration
	changes     waiting.Log
}

// named returns the collection of another kind.
func (k *collection) named(name string) *collection {
	kind, known := hosting.KindNamed(name)
	if !known {
		panic("http: there is no kind " + name)
	}
	return k.of(kind)
}

func (k *collection) of(kind hosting.Kind) *collection {
	other := *k
	other.kind = kind
	return &other
}

func (k *collection) path() string { return hostingPrefix + k.kind.Collection + "/" }

// routes are the list, the detail, and the writes that the kind allows.
func (k *collection) routes() []route.Route {
	one := k.path() + "{id:int}/"
	routes := []route.Route{
		listing.Pages[hosted](k.path(), "All "+
			strings.ReplaceAll(k.kind.Collection, "-", " "), k.listSpec(), k.list).As(k.kind.Name + "_list"),
		route.Get(one, "One "+k.kind.Label, k.show).As(k.kind.Name + "_read").Finding(k.find),
	}
	if k.has(hosting.Create) {
		create := k.writing(route.Post(k.path(), "Make a "+k.kind.Label, k.create), "create")
		routes = append(routes, create.Barring(k.barSuspended))
	}
	if k.has(hosting.Replace) {
		routes = append(routes, k.writing(route.Put(one, "Replace a "+k.kind.Label, k.change), "replace").Finding(k.findOpen))
	}
	if k.has(hosting.Patch) {
		routes = append(
			routes,
			k.writing(route.Patch(one, "Change some fields of a "+k.kind.Label, k.change), "change").Finding(k.findOpen),
		)
	}
	if k.has(hosting.Delete) {
		remove := route.Delete(one, "Remove a "+k.kind.Label, k.remove).As(k.kind.Name + "_delete").For(k.writers()).Finding(k.findOpen)
		routes = append(routes, k.refusing(remove))
	}
	if k.kind.Soft {
		routes = append(routes, k.restoring())
	}
	for i := range routes {
		routes[i] = k.shaped(routes[i])
	}
	for _, child := range k.kind.Children() {
		if child.Kind.Within != "" {
			routes = append(routes, k.within(child))
		}
	}
	return routes
}

func (k *collection) has(v hosting.Verbs) bool { return k.kind.Verbs&v != 0 }

// writing declares a route that creates or changes a resource.
func (k *collection) writing(r route.Route, what string) route.Route {
	if parent, is := k.kind.Parent(); is {
		if whole, _ := hosting.KindNamed(parent.Kind); whole.Soft {
			r = r.Failing(http.StatusConflict, "Switched on while the "+whole.Label+" is in the bin (site_inactive).")
		}
	}
	return r.As(k.kind.Name + "_" + what).For(k.writers()).Checking(route.Check(k.check)).Asking(k.blank)
}

// refusing documents that a resource with references to it is not removed.
func (k *collection) refusing(r route.Route) route.Route {
	if k.kind.InUse == "" {
		return r
	}
	if len(k.kind.Children()) > 0 {
		r = r.Taking(field.Flag("force", new(bool)).Doc("true: what is part of it goes with it."))
	}
	return r.Failing(http.StatusConflict, k.kind.InUse+" (in_use)")
}

// shaped adds the kind's fields and the access rule for readers to a route.
func (k *collection) shaped(r route.Route) route.Route {
	if strings.Contains(r.Path, "{") {
		r = r.Of(k.kind.Class)
	}
	if r.Access.Identify == nil {
		r = r.For(k.readers())
	}
	if r.Method != http.MethodGet && k.kind.Works() {
		r = r.Hearing(field.Text("Prefer", new(string)).Doc("respond-async: answer at once, without waiting for the hosting engine."))
	}
	if r.Answer.Fields == nil {
		return r
	}
	return r.Answering(func() field.Set { return (&hosted{resource: k.empty()}).Fields() })
}

// readers are all users of a tenant, unless only its administrators write.
func (k *collection) readers() route.Access {
	switch {
	case k.kind.Hidden:
		return k.callers.Superuser()
	case k.kind.Writers == hosting.Admin:
		return k.callers.TenantAdmin()
	}
	return k.callers.User()
}

func (k *collection) writers() route.Access {
	switch k.kind.Writers {
	case hosting.Superuser:
		return k.callers.Superuser()
	case hosting.Admin:
		return k.callers.TenantAdmin()
	case hosting.Member:
	}
	return k.callers.Writing()
}

// empty returns a new resource of the kind without values.
func (k *collection) empty() *resource { return &resource{Draft: hosting.NewDraft(k.kind)} }

func (k *collection) blank() field.Record { return k.empty() }

// listSpec is the filters of the kind's row, and whether a record is active.
func (k *collection) listSpec() listing.Spec {
	return listing.Spec{
		Filters: k.filters, Search: strings.Join(k.kind.Search, " and "), Ordering: k.kind.Ordering,
	}
}

func (k *collection) filters() (set field.Set) {
	fields := k.kind.New().Fields()
	for _, name := range append(slices.Clone(k.kind.Filters), "is_active") {
		base, _, _ := strings.Cut(name, "__")
		f, has := fields.Named(base)
		switch {
		case name == "tenant":
			continue // a common filter of all lists, for superusers
		case !has:
			continue
		}
		set = append(set, filterOf(f, name).Doc("Only those with this "+strings.ReplaceAll(base, "_", " ")+"."))
	}
	return append(set, field.Ref("tenant", new(int64)).Doc("Only those of this tenant; for superusers."))
}

// filterOf returns the query parameter that filters by a field.
func filterOf(f field.Field, name string) field.Field {
	switch f.Value().(type) {
	case bool:
		return field.Flag(name, new(bool))
	case time.Time, *time.Time:
		return field.Time(name, new(time.Time))
	case int64, *int64:
		return field.Ref(name, new(int64))
	}
	return field.Text(name, new(string)).Among(f.OneOf...)
}

// scopeOf returns the caller's scope for reading the kind. Resources of the
// installation are visible to all users.
func (k *collection) scopeOf(c route.Call) projections.Scope {
	if k.kind.Shared {
		return k.callers.System()
	}
	return k.callers.Scope(c)
}

// listScope is the scope of lists, which superusers may filter by tenant.
func (k *collection) listScope(c route.Call, l projections.Listing) (projections.Scope, projections.Listing) {
	who, scope := caller.Of(c), k.callers.Scope(c)
	named, kept := false, l
	kept.Filters = nil
	for _, f := range l.Filters {
		id, _ := f.Value.(int64)
		switch {
		case f.Field != "tenant" || f.Op != "=":
			kept.Filters = append(kept.Filters, f)
		case who.IsSuperuser:
			scope, named = scope.ActingFor(id), true
		}
	}
	if k.kind.Writers == hosting.Admin && who.IsSuperuser && !named {
		scope = scope.ActingFor(0) // superusers see the records of all tenants
	}
	if k.kind.Shared {
		return k.callers.System(), kept
	}
	return scope, kept
}

func (k *collection) list(ctx context.Context, c route.Call, l projections.Listing) (listed projections.Listed[hosted], err error) {
	if err := k.knownFilters(ctx, c, l); err != nil {
		return listed, err
	}
	scope, l := k.listScope(c, l)
	if k.kind.Oldest && len(l.Order) == 0 {
		l.Order = []projections.Ordering{{Field: "id"}}
	}
	found, err := scope.Hosting().OfKind(ctx, k.kind, l)
	if err != nil {
		return listed, err
	}
	listed.Count = found.Count
	listed.Rows, err = k.shown(ctx, scope, found.Rows)
	return listed, err
}

// shown loads the records for an answer.
func (k *collection) shown(ctx context.Context, scope projections.Scope, rows []projections.Resource) ([]hosted, error) {
	resources, shown := make([]*resource, len(rows)), make([]hosted, len(rows))
	for i, row := range rows {
		w, err := k.load(row)
		if err != nil {
			return nil, err
		}
		resources[i], shown[i] = w, hosted{resource: w, now: k.callers.Now()}
	}
	return shown, k.beside(ctx, scope, resources...)
}

// knownFilters refuses filters by records outside the caller's scope.
func (k *collection) knownFilters(ctx context.Context, c route.Call, l projections.Listing) error {
	refs := append(slices.Clone(k.kind.Refs), hosting.Reference{Field: "tenant", Kind: "tenant"})
	for _, f := range l.Filters {
		i := slices.IndexFunc(refs, func(r hosting.Reference) bool { return r.Field == f.Field })
		id, isOne := f.Value.(int64)
		if i < 0 || !isOne || f.Field == "tenant" && !caller.Of(c).IsSuperuser {
			continue
		}
		_, err := k.scopeOf(c).Hosting().Resource(ctx, hosting.Ref{Kind: refs[i].Kind, ID: id})
		if record.IsMissing(err) {
			return field.Errors{{Field: f.Field, Messages: []string{field.NoSuchChoice}}}
		}
		if err != nil {
			return fmt.Errorf("look for a %s: %w", refs[i].Kind, err)
		}
	}
	return nil
}

// find loads the resource that the path names, for reading.
func (k *collection) find(ctx context.Context, c route.Call) (any, string, error) {
	row, err := k.scopeOf(c).Hosting().Shown(ctx, hosting.Ref{Kind: k.kind.Name, ID: c.ID("id")})
	if err != nil {
		return nil, "", err
	}
	w, err := k.whole(ctx, k.scopeOf(c), row)
	if err != nil {
		return nil, "", err
	}
	return w, w.Tag(), nil
}

// whole loads a record with the fields that it shows of other records.
func (k *collection) whole(ctx context.Context, scope projections.Scope, row projections.Resource) (*resource, error) {
	w, err := k.load(row)
	if err != nil {
		return nil, err
	}
	return w, k.beside(ctx, scope, w)
}

// findOpen loads the resource that the path names, for a change. Only superusers
// may change resources of a suspended tenant.
func (k *collection) findOpen(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := k.find(ctx, c)
	if err == nil {
		err = k.open(ctx, caller.Of(c))
	}
	return found, tag, err
}

var suspended = &route.Refusal{Status: http.StatusForbidden, Detail: "The tenant is suspended.", Code: "tenant_suspended"}

// barSuspended refuses new records of a suspended tenant.
func (k *collection) barSuspended(ctx context.Context, c route.Call) error {
	return k.open(ctx, caller.Of(c))
}

// open refuses writes in a suspended tenant, and in one whose order is suspended.
func (k *collection) open(ctx context.Context, who caller.Identity) error {
	if who.IsSuperuser || k.kind.Shared || who.Tenant() == 0 {
		return nil
	}
	t, err := k.tenantOf(ctx, who.Tenant())
	if err == nil && t.spec.Closed(t.row.DisabledBy...) {
		return suspended
	}
	return err
}

func (k *collection) tenantOf(ctx context.Context, id int64) (*tenant, error) {
	row, err := k.callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: id})
	if err != nil {
		return nil, err
	}
	return loadTenant(row)
}

func (k *collection) show(_ context.Context, c route.Call) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	c.ETag(w.Tag())
	return &hosted{resource: w, now: k.callers.Now()}, nil
}
