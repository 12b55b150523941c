package hosting

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Sub-tenants have pages like the records of a kind (docs/tenants.md, "Sub-tenants"): for
// administrators of a tenant that has some, or may have some.

// subTenants are the tenants whose parent is the one for which the caller acts.
type subTenants struct {
	web     *web.Renderer
	callers *caller.Callers
	tenants *tenants
}

const subTenantCollection = "sub-tenants"

// subTenantPages are the sub-tenants as their pages call and list them.
func subTenantPages() hosting.Kind {
	kind, _ := hosting.KindNamed("tenant")
	kind.Name, kind.Collection, kind.Called = "sub_tenant", subTenantCollection, "name"
	kind.Refs, kind.Verbs = []hosting.Reference{{Field: "package", Kind: "package"}}, hosting.All
	kind.Nouns = map[string]string{"en": "sub-tenant", "es": "suborganización"}
	kind.Plurals = map[string]string{"en": "Sub-tenants", "es": "Suborganizaciones"}
	return kind
}

// onPages are the sub-tenants with the functions of the API.
func (s *subTenants) onPages(kind hosting.Kind) pageKind {
	t := s.tenants
	return pageKind{
		Kind: kind, readers: t.callers.TenantAdmin(), writers: t.callers.TenantAdmin(),
		list: s.list, find: s.find, findOpen: s.findOpen, bar: t.barOthers, check: s.check, blank: t.collection.blank,
		stream: func(id int64) domain.Stream { return hosting.Ref{Kind: t.collection.kind.Name, ID: id}.Stream() },
		isIn:   func(context.Context, projections.Scope, int64) error { return route.Missing(t.collection.kind.Class) },
		shown: func(found any) field.Record {
			return &hosted{resource: found.(*resource), now: t.callers.Now()} //nolint:forcetypeassert // found by find
		},
		create: written(t.create), change: written(t.change), remove: t.terminate, acts: s.acts(),
		count: s.count, mayHave: s.mayHave, asks: asksOfSubTenant, options: s.packages, room: s.room, tells: s.tells, more: s.more,
	}
}

// asksOfSubTenant are the fields of its forms. What its state is has forms of its own, and
// its parent is the tenant for which the user acts.
var asksOfSubTenant = slices.DeleteFunc(slices.Clone(hosting.OfSubTenant), func(name string) bool {
	return slices.Contains([]string{"parent", "status", "suspended_reason"}, name)
})

// mayHave tells whether a tenant has sub-tenants, or may have some.
func (s *subTenants) mayHave(ctx context.Context, tenant int64) (bool, error) {
	used, most, err := s.callers.System().Hosting().LimitOfSubTenants(ctx, tenant)
	return used != 0 || most != 0, err
}

func (s *subTenants) count(ctx context.Context, _ route.Call, tenant int64) (int64, error) {
	used, _, err := s.callers.System().Hosting().LimitOfSubTenants(ctx, tenant)
	return used, err
}

// room is how many sub-tenants there are, and may be.
func (s *subTenants) room(ctx context.Context, c route.Call) (string, error) {
	used, most, err := s.callers.System().Hosting().LimitOfSubTenants(ctx, actsFor(c))
	w, of := web.Texts[web.Readers(c)], share{used: used, limit: unlessUnlimited(most)}
	return w["sub_tenants_room"] + " " + of.bar(w, "").Text, err
}

func (s *subTenants) list(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[field.Record], error) {
	l.Order = []projections.Ordering{{Field: "name"}}
	l.Filters = []projections.Filter{{Field: "parent", Op: "=", Value: actsFor(c)}, {Field: "requested_for", Op: "=", Value: ""}}
	rows, err := s.tenants.list(ctx, c, l)
	return record.Map(rows, err, func(h hosted) field.Record { return &h })
}

// find finds a sub-tenant of the tenant for which the caller acts.
func (s *subTenants) find(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := s.tenants.find(ctx, c)
	if err != nil {
		return nil, "", err
	}
	w := found.(*resource) //nolint:forcetypeassert // found by find
	if t := specOf(w); !t.IsSubTenant(w.row.RequestedFor) || *t.Parent != actsFor(c) {
		return nil, "", route.Missing(w.Kind.Class)
	}
	w.only = hosting.OfSubTenant
	return w, tag, nil
}

// findOpen finds one for a change, unless its parent is suspended.
func (s *subTenants) findOpen(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := s.find(ctx, c)
	if err == nil {
		err = s.tenants.collection.open(ctx, caller.Of(c))
	}
	return found, tag, err
}

// check gives a new sub-tenant its parent. One that stays without a package asks for none.
func (s *subTenants) check(ctx context.Context, c route.Call, about any, wrong *field.Errors) error {
	w := about.(*resource) //nolint:forcetypeassert // of the kind
	if w.IsNew() {
		parent := actsFor(c)
		specOf(w).Parent = &parent
	} else if was := w.row.Spec; specOf(w).Package == nil && isNone(was["package"]) {
		c.Sent = slices.DeleteFunc(slices.Clone(c.Sent), func(f field.Field) bool { return f.Name == "package" })
	}
	return s.tenants.collection.check(ctx, c, w, wrong)
}

func isNone(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// packages are those that a sub-tenant may get: its own, the default one, and that of its
// parent.
func (s *subTenants) packages(ctx context.Context, c route.Call, f field.Field) (options []web.Option, err error) {
	kind, _ := hosting.KindNamed("package")
	standard, err := s.callers.System().Hosting().OfKind(
		ctx, kind,
		projections.Listing{Limit: 1, Filters: []projections.Filter{{Field: "is_default", Op: "=", Value: true}}},
	)
	if err != nil {
		return nil, err
	}
	parent, err := s.tenants.collection.tenantOf(ctx, actsFor(c))
	if err != nil {
		return nil, err
	}
	others, err := s.callers.System().Hosting().Among(ctx, kind.Name, []int64{packageOf(f), domain.OrZero(parent.spec.Package)})
	for _, row := range append(standard.Rows, others...) {
		one := web.Option{Value: strconv.FormatInt(row.ID, 10), Text: nameOfPackage(row)}
		if !slices.Contains(options, one) {
			options = append(options, one)
		}
	}
	if c.Var("id") != "" && packageOf(f) == 0 && len(options) > 0 {
		options = append([]web.Option{{Text: web.Texts[web.Readers(c)]["none"]}}, options...)
	}
	return options, err
}

// packageOf is the package that the field names; 0: none.
func packageOf(f field.Field) int64 {
	id, _ := f.Value().(*int64)
	return domain.OrZero(id)
}

func nameOfPackage(row projections.Resource) string {
	var p hosting.Package
	if err := row.Load(&p); err != nil {
		return ""
	}
	return p.Name
}

// acts are what the API lets administrators of the parent do with the state.
func (s *subTenants) acts() []pageAct {
	turning := func(status string) func(context.Context, route.Call, url.Values) (field.Record, error) {
		return func(ctx context.Context, c route.Call, sent url.Values) (field.Record, error) {
			w := c.Subject.(*resource) //nolint:forcetypeassert // found by findOpen
			return &hosted{resource: w, now: s.callers.Now()}, s.tenants.turn(status)(ctx, c, w, sent)
		}
	}
	return []pageAct{
		{
			name: "suspend_tenant", isOpen: isIn("status", hosting.InService), do: turning(hosting.Suspended),
			inputs: suspendInputs(nil), grave: true,
		},
		{name: "resume_tenant", isOpen: isIn("status", hosting.Suspended), do: turning(hosting.InService)},
	}
}

const mostUsed = 3 // figures in a row of a list

// tells are the address and the package of a sub-tenant, and what it uses.
func (s *subTenants) tells(ctx context.Context, c route.Call, r field.Record) (texts []string, err error) {
	h := r.(*hosted) //nolint:forcetypeassert // of the list
	bars, err := s.tenants.usageBarsOf(ctx, c, h.resource)
	texts = append(texts, specOf(h.resource).Email)
	if name := h.seen.names["package_name"]; name != "" {
		texts = append(texts, name)
	}
	last := len(texts) + mostUsed
	for _, bar := range bars {
		if (bar.Used > 0 || bar.Most > 0) && len(texts) < last {
			texts = append(texts, bar.Name+": "+bar.Text)
		}
	}
	return texts, err
}

// more adds what a sub-tenant uses, its data export, and the form to act for it.
func (s *subTenants) more(ctx context.Context, c route.Call, set field.Set, page map[string]any) error {
	found, _, err := s.find(ctx, c)
	if err != nil {
		return err
	}
	w := web.Texts[web.Readers(c)]
	choose := web.Form{Name: "panel_tenant", Of: strconv.FormatInt(numberOf(set), 10), Action: web.TenantsPath}
	acts, _ := page["Acts"].([]actForm)
	page["Acts"] = append([]actForm{newActForm(s.web, c, w, choose, nil)}, acts...)
	page["Export"], page["UsageTitle"] = exportOf(c, numberOf(set)), w["tenant_usage"]
	page["Usage"], err = s.tenants.usageBarsOf(ctx, c, found.(*resource)) //nolint:forcetypeassert // found by find
	return err
}
