package hosting

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Users of several tenants choose for which they act, by name. Superusers choose among all.

// A tenantRow is a tenant in the list, with the form that chooses it.
type tenantRow struct {
	Name, Slug string
	IsActive   bool // the user acts for it
	Form       web.Form
}

func (s *pages) showTenants(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	number, w, bar := web.PageNumber(c), web.Texts[web.Readers(c)], &web.Bar{Action: web.TenantsPath}
	found, err := s.callers.Scope(c).Hosting().Tenants(ctx, projections.Listing{
		Search: bar.Searched(c, w["panel_tenants_search"]), Order: []projections.Ordering{{Field: "name"}},
		Offset: (number - 1) * web.PageSize, Limit: web.PageSize,
	})
	if err != nil {
		return nil, err
	}
	rows := make([]tenantRow, len(found.Rows))
	for i, row := range found.Rows {
		t, err := loadTenant(row)
		if err != nil {
			return nil, err
		}
		form := web.Form{Name: "panel_tenant", Of: strconv.FormatInt(row.ID, 10), Action: web.TenantsPath}
		if next := web.LocalPath(c.Param("next")); next != "" {
			form.Inputs = []web.Input{{Name: "next", Type: "hidden", Value: next}}
		}
		rows[i] = tenantRow{t.spec.Name, t.spec.Slug, row.ID == actsFor(c), s.web.Fill(c, form, back)}
	}
	return s.sheet(
		ctx, c, back.StatusOf(), "panel_tenants", w["panel_tenants_title"],
		web.Paged(c, bar, found.Count, map[string]any{"Tenants": rows}),
	)
}

// takeTenant makes a tenant the one for which the user acts.
func (s *pages) takeTenant(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	id, err := strconv.ParseInt(sent.Get("of"), 10, 64)
	if err != nil {
		return nil, domain.RefuseField("of", field.NoSuchChoice)
	}
	if _, err := s.callers.Scope(c).Hosting().Tenant(ctx, id); err != nil {
		return nil, err
	}
	if _, err := s.commands.Execute(
		ctx, c.Cause(),
		account.ActivateTenant{User: caller.Of(c).ID, Tenant: id, Through: caller.Of(c).Administered(), At: s.callers.Now()},
	); err != nil {
		return nil, err
	}
	return s.web.Done(cmp.Or(web.LocalPath(sent.Get("next")), hosting.PanelPath), "tenant"), nil
}

// leaveTenant ends acting for a tenant: superusers act for none, administrators of a parent
// for that again.
func (s *pages) leaveTenant(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	who, next := caller.Of(c), web.LocalPath(sent.Get("next"))
	to := int64(0)
	if !who.IsSuperuser && who.Through != nil {
		to = *who.Through
	}
	if to == 0 && strings.HasPrefix(next, hosting.PanelPath) {
		next = web.TenantsPath
	}
	if _, err := s.commands.Execute(
		ctx, c.Cause(), account.ActivateTenant{User: who.ID, Tenant: to, At: s.callers.Now()},
	); err != nil {
		return nil, err
	}
	return s.web.Done(cmp.Or(next, web.TenantsPath), "leave"), nil
}

// unlessElsewhere leads to the choice of the tenant whose record a path names, if that is
// another one of the user's. So does the link in a mail.
func (s *pages) unlessElsewhere(ctx context.Context, c route.Call, k pageKind, missing error) error {
	who := caller.Of(c)
	if !record.IsMissing(missing) || who.IsSuperuser {
		return missing
	}
	memberships, err := s.callers.Scope(c).Accounts().Memberships(ctx, who.ID)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		who.ActiveTenant = &m.Tenant
		switch err := k.isIn(ctx, s.callers.Reading(who), c.ID("id")); {
		case err == nil:
			return route.SeeOther(web.TenantsPath + "?" + url.Values{"search": {m.TenantName}, "next": {c.Path}}.Encode())
		case !record.IsMissing(err):
			return err
		}
	}
	return missing
}

// mayChoose tells whether the user may act for another tenant.
func (s *pages) mayChoose(ctx context.Context, c route.Call) (bool, error) {
	if caller.Of(c).IsSuperuser {
		return true, nil
	}
	memberships, err := s.callers.Scope(c).Accounts().Memberships(ctx, caller.Of(c).ID)
	isOwn := func(m projections.Membership) bool { return m.Tenant == actsFor(c) }
	return len(memberships) > 1 || len(memberships) > 0 && !slices.ContainsFunc(memberships, isOwn), err
}

// sheet shows one of the pages of the customer area.
func (s *pages) sheet(ctx context.Context, c route.Call, status int, name, title string, data map[string]any) (*route.Document, error) {
	mayChoose, err := s.mayChoose(ctx, c)
	if err != nil {
		return nil, err
	}
	data["Wide"], data["Title"] = true, title
	if mayChoose && c.Path != web.TenantsPath {
		data["MayChoose"] = web.TenantsPath
	}
	return s.web.Sheet(c, status, name, "panel_title", data)
}
