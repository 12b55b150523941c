package hosting

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Tenants as operators see them in a browser (docs/operations.md, "In the browser"). The
// pages call the functions of the API.

const customerPath = web.CustomersPath + "{id:int}/"

// OperatorRoutes are what superusers see and do of tenants, in a browser.
func (a *Area) OperatorRoutes() route.Area {
	s := &a.customers
	page := web.ActFormPage(s.customerDesk())
	return route.Area{
		Name: "Tenant pages", Access: a.callers.SuperuserSession(),
		About: "Where superusers look after tenants.",
		Routes: []route.Route{
			web.View(web.CustomersPath, "The tenants", s.showCustomers).As("tenants_page"),
			web.View(web.NodesPath, "Nodes and address pools, and how full they are", s.showNodes).As("nodes_page"),
			web.View(customerPath, "A tenant", page.Look).As("tenant_page").Of("Tenant"),
			s.web.Press(customerPath, "Suspend, resume or terminate a tenant", page).As("tenant_form").Of("Tenant"),
		},
	}
}

func (s *customers) showCustomers(ctx context.Context, c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	listing, bar := web.Asked(c, w, web.Choice{Name: "status", Text: "tenant_is_", Values: []string{hosting.InService, hosting.Suspended}})
	listing.Search = bar.Searched(c, w["tenants_search"])
	found, err := s.callers.Scope(c).Hosting().Tenants(ctx, listing)
	if err != nil {
		return nil, err
	}
	cards := make([]web.Card, len(found.Rows))
	for i, row := range found.Rows {
		t, err := loadTenant(row)
		if err != nil {
			return nil, err
		}
		cards[i] = web.Card{
			Path: pageOfTenant(row.ID), Title: t.spec.Name, Badges: tenantStates(w, row, &t.spec),
			Note: append(web.Notes(t.spec.Slug, t.spec.Email), w.Moment("", &row.CreatedAt, "")),
		}
	}
	return s.web.Sheet(
		c, http.StatusOK, "list", "tenants_title", web.Paged(c, bar, found.Count, map[string]any{"List": web.ListOf(w, "tenants", cards)}),
	)
}

func pageOfTenant(id int64) string { return web.CustomersPath + strconv.FormatInt(id, 10) + "/" }

// tenantStates are whether a tenant is in service, and why it is off if not.
func tenantStates(w web.Words, row projections.Resource, t *hosting.Tenant) []web.Badge {
	stands := &resource{Draft: &hosting.Draft{Spec: t}, row: row}
	class := map[string]string{hosting.InService: "active", hosting.Suspended: "failed"}[t.Status]
	states := []web.Badge{{Class: class, Text: w["tenant_is_"+t.Status]}}
	if t.Status == hosting.InService && !row.Active {
		states[0] = web.Badge{Class: "failed", Text: w["tenant_is_off"]}
	}
	if status := stands.syncStatus(); status != "synced" {
		states = append(states, w.RecordState(status))
	}
	return states
}

// customerDesk is the page of a tenant with its forms.
func (s *customers) customerDesk() web.ActPage[*resource] {
	return web.ActPage[*resource]{
		Web: s.web, Show: s.showCustomer,
		Find: func(ctx context.Context, c route.Call) (*resource, error) {
			found, _, err := s.tenants.find(ctx, c)
			if err != nil {
				return nil, err
			}
			return found.(*resource), nil //nolint:forcetypeassert // found by find
		},
		Acts: []web.Act[*resource]{
			{
				Name: "suspend_tenant", IsOpen: isTenantIn(hosting.InService), Grave: true, Inputs: suspendInputs,
				Do: s.tenants.turn(hosting.Suspended),
			},
			{Name: "resume_tenant", IsOpen: isTenantIn(hosting.Suspended), Do: s.tenants.turn(hosting.InService)},
			{Name: "terminate_tenant", IsOpen: web.Always[*resource], Grave: true, Leaves: web.CustomersPath, Do: s.terminate},
		},
	}
}

func isTenantIn(status string) func(*resource) bool {
	return func(w *resource) bool { return specOf(w).Status == status }
}

func suspendInputs(*resource) []web.Input {
	return []web.Input{{Name: "suspended_reason", Autocomplete: "off", Long: 200}}
}

// turn gives a tenant another status, as a change by the API does.
func (t *tenants) turn(status string) func(context.Context, route.Call, *resource, url.Values) error {
	return func(ctx context.Context, c route.Call, w *resource, sent url.Values) error {
		fields := w.Fields()
		form := url.Values{"status": {status}}
		if reason, has := sent["suspended_reason"]; has {
			form["suspended_reason"] = reason
		}
		asked := fields.Only("status", "suspended_reason")
		c, err := web.ReadRecord[any](ctx, c, w, asked, fields, form, field.Patch, route.Check(t.collection.check))
		if err == nil {
			_, err = t.change(ctx, c, w)
		}
		return err
	}
}

func (s *customers) terminate(ctx context.Context, c route.Call, w *resource, _ url.Values) error {
	c.Subject = w
	return s.tenants.terminate(ctx, c)
}

// showCustomer is the page of a tenant.
func (s *customers) showCustomer(
	ctx context.Context, c route.Call, t *resource, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	data := map[string]any{
		"Title": specOf(t).Name, "Slug": specOf(t).Slug, "States": tenantStates(w, t.row, specOf(t)),
		"Facts": s.tenantFacts(w, t), "Acts": acts, "Wide": true,
		"Area": hosting.PanelPath, "Choose": web.Form{}, "Export": exportOf(c, t.ID), "UsageTitle": w["tenant_usage"],
	}
	if actsFor(c) != t.ID {
		data["Area"] = ""
		data["Choose"] = s.web.Fill(c, web.Form{Name: "panel_tenant", Of: strconv.FormatInt(t.ID, 10), Action: web.TenantsPath}, nil)
	}
	for _, part := range []struct {
		name string
		read func(context.Context, route.Call, *resource) (any, error)
	}{
		{"Kinds", s.tenantKinds},
		{"Usage", s.tenantUsage},
		{"Members", s.tenantMembers},
		{"Orders", s.tenantOrders},
		{"Incidents", s.tenantIncidents},
		{"Past", s.tenantHistory},
	} {
		found, err := part.read(ctx, c, t)
		if err != nil {
			return nil, err
		}
		data[part.name] = found
	}
	return s.web.Sheet(c, back.StatusOf(), "customer", "tenants_title", data)
}

// tenantKinds are what the tenant has of each kind. They lead to the customer area of an
// operator who acts for the tenant.
func (s *customers) tenantKinds(ctx context.Context, c route.Call, t *resource) (any, error) {
	cards, err := s.pages.kindCardsOf(ctx, c, t.ID)
	for i := range cards {
		if caller.Of(c).Tenant() != t.ID {
			cards[i].Path = ""
		}
	}
	return cards, err
}

func (s *customers) tenantHistory(ctx context.Context, c route.Call, t *resource) (any, error) {
	return s.web.HistoryOf(ctx, c, s.lookback, hosting.Ref{Kind: t.Kind.Name, ID: t.ID}.Stream())
}

func (s *customers) tenantUsage(ctx context.Context, c route.Call, t *resource) (any, error) {
	return s.tenants.usageBarsOf(ctx, c, t)
}
