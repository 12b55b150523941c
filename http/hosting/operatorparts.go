package hosting

import (
	"context"
	"strconv"

	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// What the page of a tenant shows besides the tenant. Each part is the beginning of a list
// of the API, and leads to the page of that list.

const mostAbout = 10 // of each list on the page of a tenant

// An aboutList is what of one sort concerns a tenant, and how much of it there is.
type aboutList struct {
	Rows  []web.Card
	Count int64
}

// ofTheTenant are the latest of a list that concern a tenant.
func ofTheTenant(t *resource) projections.Listing {
	return projections.Listing{Limit: mostAbout, Filters: []projections.Filter{{Field: "tenant", Op: "=", Value: t.ID}}}
}

// tenantMembers are those who may act for the tenant.
func (s *customers) tenantMembers(ctx context.Context, c route.Call, t *resource) (any, error) {
	found, err := s.callers.Scope(c).Accounts().Users(ctx, ofTheTenant(t))
	if err != nil {
		return nil, err
	}
	members, err := s.callers.Scope(c).Accounts().Members(ctx, t.ID)
	roles := map[int64]string{}
	for _, m := range members {
		roles[m.UserID] = string(m.Role)
	}
	w, shown := web.Texts[web.Readers(c)], aboutList{Count: found.Count}
	for _, u := range found.Rows {
		row := web.Card{
			Path: web.UsersPath + strconv.FormatInt(u.ID, 10) + "/", Title: u.Email, Note: web.Notes(u.Name),
			Badges: []web.Badge{{Text: w["role_"+roles[u.ID]]}},
		}
		if !u.IsActive {
			row.Badges = append(row.Badges, web.Badge{Class: "failed", Text: w["user_is_false"]})
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown, err
}

// tenantOrders are the orders whose service the tenant has, or had.
func (s *customers) tenantOrders(ctx context.Context, c route.Call, t *resource) (any, error) {
	found, err := s.callers.Scope(c).Orders().OrdersListed(ctx, ofTheTenant(t))
	cards := web.Cards{
		Page: web.OrdersPath, Title: "order_number", Badges: []string{"status", "holds"}, Note: []string{"plan_name+total+created_at"},
	}
	list := web.List[projections.Order]{Fields: (*projections.Order).Fields, Cards: cards}
	return aboutList{web.CardsOf(c, list, found.Rows), found.Count}, err
}

// tenantIncidents are the problems about objects of the tenant.
func (s *customers) tenantIncidents(ctx context.Context, c route.Call, t *resource) (any, error) {
	l := ofTheTenant(t)
	l.Order = []projections.Ordering{{Field: "reported_at", Descending: true}}
	found, err := s.callers.Scope(c).Operations().Incidents(ctx, l)
	return aboutList{web.CardsOf(c, web.IncidentList, found.Rows), found.Count}, err
}

// told are the fields of a tenant that its page shows, in this order.
var told = []string{
	"customer_number", "email", "contact_name", "company_name", "phone", "tax_id", "address", "postal_code", "city",
	"country", "language", "package_name",
	"username", "suspended_reason", "suspended_at", "last_synced_at", "created_at", "updated_at",
}

// tenantFacts are the fields of the API's answer.
func (s *customers) tenantFacts(w web.Words, t *resource) (facts []web.Aspect) {
	set, k := (&hosted{resource: t, now: s.callers.Now()}).Fields(), pageKind{Kind: s.tenants.collection.kind}
	for _, name := range told {
		f, has := set.Named(name)
		if !has {
			continue
		}
		one := k.fact(w, f)
		one.Name = w["tenant_"+name]
		facts = append(facts, one)
	}
	return append(web.Told(facts...), s.tenantParent(w, t)...)
}

// tenantParent leads to the tenant of which it is a part.
func (s *customers) tenantParent(w web.Words, t *resource) []web.Aspect {
	parent := specOf(t).Parent
	if parent == nil {
		return nil
	}
	number := strconv.FormatInt(*parent, 10)
	return []web.Aspect{{Name: w["tenant_parent"], Text: number, Path: pageOfTenant(*parent)}}
}
