package hosting

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/notice"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The page of the data export: where customers fetch it, and what is to be paid so that
// nothing ends.

const exportPath = web.TenantsPath + "{id:int}/export/"

// A toPay is an invoice that is open.
type toPay struct {
	Path, Number, Due string
	At                web.Aspect // by when it has to be paid
}

// An exportPage is that page.
type exportPage struct {
	callers *caller.Callers
	pages   *pages
	tenants *tenants
}

func (s *exportPage) show(ctx context.Context, c route.Call) (*route.Document, error) {
	t := s.tenants
	found, _, err := t.findAdministered(ctx, c)
	if err != nil {
		return nil, s.unlessActing(ctx, c, err)
	}
	of := found.(*resource) //nolint:forcetypeassert // found by findAdministered
	words := web.Texts[web.Readers(c)]
	open, err := s.toPay(ctx, c, words, of.ID)
	if err != nil {
		return nil, err
	}
	return s.pages.sheet(ctx, c, http.StatusOK, "panel_export", words["panel_export_title"], map[string]any{
		"Of": specOf(of).Name, "File": t.collection.pathOf(of.ID) + "export/", "Open": open,
	})
}

// toPay are the open invoices of a tenant whose page the reader can see.
func (s *exportPage) toPay(ctx context.Context, c route.Call, w web.Words, tenant int64) (open []toPay, err error) {
	if tenant != actsFor(c) {
		return nil, nil
	}
	found, err := s.callers.Scope(c).Billing().
		Invoices(ctx, projections.Listing{Limit: mostAbout, Order: []projections.Ordering{{Field: "due_at"}}, Filters: []projections.Filter{
			{Field: "tenant", Op: "=", Value: tenant}, {Field: "status", Op: "=", Value: string(billing.Open)},
		}})
	for _, i := range found.Rows {
		open = append(open, toPay{notice.InvoicePage(i.ID), i.Number, w.Money(i.AmountDue, i.Currency), w.Moment("", i.DueAt, "")})
	}
	return open, err
}

// unlessActing leads an administrator of a tenant who acts for another one to the choice of
// it. So does the link in a mail.
func (s *exportPage) unlessActing(ctx context.Context, c route.Call, refused error) error {
	if !errors.Is(refused, route.NoPermission) {
		return refused
	}
	memberships, err := s.callers.Scope(c).Accounts().Memberships(ctx, caller.Of(c).ID)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		if m.Tenant == c.ID("id") && m.Tenant != actsFor(c) && m.Role == account.Admin {
			return route.SeeOther(web.TenantsPath + "?" + url.Values{"search": {m.TenantName}, "next": {c.Path}}.Encode())
		}
	}
	return refused
}

// exportOf is the path of the page of a tenant's data export; blank: the caller may not
// have it.
func exportOf(c route.Call, tenant int64) string {
	if !caller.Of(c).Administers() || tenant == 0 {
		return ""
	}
	return notice.ExportPage(tenant)
}
