package hosting

import (
	"context"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// What runs for a tenant, in the browsers of its customers (docs/panel.md). All kinds
// share one list, one page of a record and one form, which are made from the row and the
// fields of the kind. They call the functions of the API.

const (
	kindPath = hosting.PanelPath + "{kind:%s}/"
	formMost = 256 << 10 // bytes of a form: certificates and style sheets are long
)

// pages are the pages of all kinds.
type pages struct {
	web        *web.Renderer
	callers    *caller.Callers
	commands   record.Commands
	lookback   web.Lookback
	kinds      *collection
	tenants    *tenants
	endpoints  *endpoints
	subTenants *subTenants
}

// A pageKind is a kind of resource as its pages have it. Its functions are those of the API.
type pageKind struct {
	hosting.Kind
	readers, writers route.Access

	list           func(context.Context, route.Call, projections.Listing) (projections.Listed[field.Record], error)
	find, findOpen func(context.Context, route.Call) (any, string, error)
	stream         func(id int64) domain.Stream
	isIn           func(ctx context.Context, scope projections.Scope, id int64) error // missing, if it is not in the scope
	bar            func(context.Context, route.Call) error
	shown          func(found any) field.Record // as an answer shows it
	blank          func() field.Record
	check          func(context.Context, route.Call, any, *field.Errors) error
	create, change func(context.Context, route.Call, any) (field.Record, error)
	remove         func(context.Context, route.Call) error
	count          func(ctx context.Context, c route.Call, tenant int64) (int64, error) // nil: as of all resources

	// What few kinds have; nil: as of all others.
	mayHave func(ctx context.Context, tenant int64) (bool, error)                             // whether a tenant has the pages at all
	asks    []string                                                                          // the fields of its forms
	options func(context.Context, route.Call, field.Field) ([]web.Option, error)              // of its references
	room    func(context.Context, route.Call) (string, error)                                 // how many there are and may be
	tells   func(context.Context, route.Call, field.Record) ([]string, error)                 // values in a row of a list
	more    func(ctx context.Context, c route.Call, set field.Set, page map[string]any) error // on the page of a record

	findInBin func(context.Context, route.Call) (any, string, error) // nil: there is no bin
	restore   func(context.Context, route.Call) error
	acts      []pageAct
}

// ownPages are those that are about no kind.
func (s *Area) ownPages() []route.Route {
	choose := web.FormPage{Show: s.pages.showTenants, Forms: map[string]web.FormHandler{
		"panel_tenant": s.pages.takeTenant, "panel_leave": s.pages.leaveTenant,
	}}
	return []route.Route{
		web.View(hosting.PanelPath, "What runs for the tenant", s.pages.showStart).As("panel_start"),
		web.View(web.TenantsPath, "The tenants for which the user may act", choose.Look).As("panel_tenants"),
		s.web.Press(web.TenantsPath, "Act for a tenant", choose).As("panel_tenant"),
		web.View(exportPath, "Where all data of a tenant is downloaded", s.exportPage.show).As("panel_export").Of("Tenant"),
	}
}

// kindPages are the pages of all kinds.
func (s *pages) kindPages() []route.Route {
	var collections []string
	for _, k := range PageKinds() {
		collections = append(collections, k.Collection)
	}
	all := strings.Replace(kindPath, "%s", strings.Join(collections, "|"), 1)
	one, writing := s.onePage(), caller.WritingSession(s.callers)
	add := web.FormPage{Show: s.showAdd, Forms: map[string]web.FormHandler{"panel_create": s.takeCreate}}
	edit := web.FormPage{Show: s.showEdit, Forms: map[string]web.FormHandler{"panel_change": s.takeChange}}
	return []route.Route{
		web.View(all, "All records of a kind", s.showList).As("panel_list").Of("Record"),
		web.View(all+"new/", "The form for a new record", add.Look).As("panel_new").Of("Record"),
		s.web.Press(all+"new/", "Make a record", add).As("panel_create").Of("Record").UpTo(formMost),
		web.View(all+"{id:int}/", "A record", one.Look).As("panel_record").Of("Record"),
		s.web.Press(all+"{id:int}/", "Remove a record, or do something with it", one).As("panel_act").Of("Record").For(writing),
		web.View(all+"{id:int}/edit/", "The form to change a record", edit.Look).As("panel_edit").Of("Record").For(writing),
		s.web.Press(all+"{id:int}/edit/", "Change a record", edit).As("panel_change").Of("Record").For(writing).UpTo(formMost),
	}
}

// PageKinds are the kinds of records that tenants see in their browsers: resources, webhook
// endpoints and sub-tenants.
func PageKinds() (all []hosting.Kind) {
	for _, kind := range hosting.Kinds {
		if kind.HasPages() {
			all = append(all, kind)
		}
	}
	return append(all, endpointPages(), subTenantPages())
}

// all are all kinds with pages.
func (s *pages) all() (all []pageKind) {
	for _, kind := range PageKinds() {
		switch kind.Collection {
		case webhook.EndpointCollection:
			all = append(all, s.endpoints.onPages(kind))
		case subTenantCollection:
			all = append(all, s.subTenants.onPages(kind))
		default:
			all = append(all, s.kinds.of(kind).onPages())
		}
	}
	return all
}

// kind is the one that a path names.
func (s *pages) kind(c route.Call) pageKind {
	for _, k := range s.all() {
		if k.Collection == c.Var("kind") {
			return k
		}
	}
	panic("http: a page of no kind") // the path names one of them
}

// readable is the kind that a path names, if the caller may see it. Who acts for no
// tenant is led to choose one.
func (s *pages) readable(ctx context.Context, c route.Call) (pageKind, error) {
	k := s.kind(c)
	if actsFor(c) == 0 && (c.Var("id") == "" || k.mayHave != nil) {
		return k, route.SeeOther(web.TenantsPath)
	}
	isOpen, err := k.isOpenTo(ctx, c, actsFor(c))
	if err == nil && !isOpen {
		err = route.NoPermission
	}
	return k, err
}

// isOpenTo tells whether the caller may see what a tenant has of the kind.
func (k pageKind) isOpenTo(ctx context.Context, c route.Call, tenant int64) (bool, error) {
	if !fits(k.readers, c) || k.mayHave == nil {
		return fits(k.readers, c), nil
	}
	return k.mayHave(ctx, tenant)
}

// writable is the kind that a path names, if the caller may make, change and remove its
// records.
func (s *pages) writable(ctx context.Context, c route.Call) (pageKind, error) {
	k, err := s.readable(ctx, c)
	if err == nil && !fits(k.writers, c) {
		err = route.NoPermission
	}
	return k, err
}

func fits(a route.Access, c route.Call) bool { return a.Fits == nil || a.Fits(c.Caller) }

// onPages is the kind with the functions of the API.
func (k *collection) onPages() pageKind {
	p := pageKind{
		Kind: k.kind, readers: k.readers(), writers: k.writers(),
		list: func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[field.Record], error) {
			rows, err := k.list(ctx, c, l)
			return record.Map(rows, err, func(h hosted) field.Record { return &h })
		},
		find: k.find, findOpen: k.findOpen, bar: k.barSuspended, check: route.Check(k.check), blank: k.blank,
		stream: func(id int64) domain.Stream { return hosting.Ref{Kind: k.kind.Name, ID: id}.Stream() },
		isIn: func(ctx context.Context, scope projections.Scope, id int64) error {
			_, err := scope.Hosting().Resource(ctx, hosting.Ref{Kind: k.kind.Name, ID: id})
			return err
		},
		shown: func(found any) field.Record {
			return &hosted{resource: found.(*resource), now: k.callers.Now()} //nolint:forcetypeassert // found by find
		},
		create: written(k.create), change: written(k.change), remove: k.remove, acts: k.pageActs(),
	}
	if k.kind.Backend == hosting.Compute {
		p.mayHave = k.hasMachines
	}
	if k.kind.Soft {
		p.findInBin = k.findInBin
		p.restore = func(ctx context.Context, c route.Call) error {
			_, err := k.restore(ctx, c, &route.Nothing{})
			return err
		}
	}
	return p
}

// endpointPages are the endpoints as their pages call and list them.
func endpointPages() hosting.Kind {
	kind := endpointKind
	kind.Called, kind.Search, kind.Verbs = "url", []string{"url"}, hosting.All
	kind.Nouns = map[string]string{"en": "webhook", "es": "webhook"}
	kind.Plurals = map[string]string{"en": "Webhooks", "es": "Webhooks"}
	return kind
}

// onPages are the endpoints with the functions of the API.
func (e *endpoints) onPages(kind hosting.Kind) pageKind {
	return pageKind{
		Kind: kind, readers: e.collection.readers(), writers: e.collection.writers(),
		list: func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[field.Record], error) {
			rows, err := e.list(ctx, c, l)
			return record.Map(rows, err, func(w endpoint) field.Record { return &w })
		},
		find: e.find, findOpen: e.findOpen, bar: e.collection.barSuspended, check: route.Check(e.check), stream: webhook.EndpointStream,
		isIn: func(ctx context.Context, scope projections.Scope, id int64) error {
			_, err := scope.Notices().WebhookEndpoint(ctx, id)
			return err
		},
		blank:  func() field.Record { return &endpoint{} },
		shown:  func(found any) field.Record { return found.(*endpoint) }, //nolint:forcetypeassert // found by find
		create: written(e.create), change: written(e.change), remove: e.remove, acts: e.pageActs(),
		count: func(ctx context.Context, c route.Call, tenant int64) (int64, error) {
			rows, err := e.list(ctx, c, narrowed(c, projections.Listing{Limit: 1}, tenant))
			return rows.Count, err
		},
	}
}

// written makes a function of the API that writes one record one of any kind.
func written[Q, A field.Record](do func(context.Context, route.Call, Q) (A, error)) func(
	context.Context, route.Call, any,
) (field.Record, error) {
	return func(ctx context.Context, c route.Call, q any) (field.Record, error) {
		made, err := do(ctx, c, q.(Q)) //nolint:forcetypeassert // of the kind
		if err != nil {
			return nil, err
		}
		return made, nil
	}
}

// has tells whether the API lets callers do this with records of the kind.
func (k pageKind) has(v hosting.Verbs) bool { return k.Verbs&v != 0 }

// title is what a record is known by.
func (k pageKind) title(set field.Set) string {
	names := append([]string{k.Called}, k.Search...)
	for _, name := range names {
		if f, has := set.Named(name); has && f.FormText() != "" {
			return f.FormText()
		}
	}
	return k.Label
}

// numberOf is the number of a record.
func numberOf(set field.Set) int64 {
	f, _ := set.Named("id")
	id, _ := f.Value().(int64)
	return id
}

// A step is one of the way to a page.
type step struct{ Path, Text string }

// way leads from where customers begin to a kind.
func (k pageKind) way(w web.Words, language string) []step {
	return []step{{hosting.PanelPath, w["panel_title"]}, {k.Page(0), k.Several(language)}}
}
