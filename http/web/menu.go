package web

import (
	"strconv"
	"strings"

	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// Navigation tells people who they are and where they may go.
type Navigation struct {
	User, Home string
	Bell       bell
	Leave      Form
	Groups     []menuGroup
	Acting     *acting // nil: the page shows no tenant's records
}

// acting is whose records the page shows. Superusers see those of all tenants unless they
// act for one. They and administrators of a parent have a way out.
type acting struct {
	Text, Choose string
	Leave        *Form // nil: the user belongs to the tenant, or acts for none
}

// isOfTenant tells whether the page at a path shows the records of the active tenant.
func isOfTenant(path string) bool {
	return strings.HasPrefix(path, hosting.PanelPath) || strings.HasPrefix(path, billingPath)
}

func (s *Renderer) acting(c route.Call) *acting {
	who, w := caller.Of(c), Texts[Readers(c)]
	shown := &acting{Text: who.TenantName}
	if who.IsSuperuser && c.Path != TenantsPath {
		shown.Choose = TenantsPath
	}
	switch {
	case !isOfTenant(c.Path), who.Tenant() == 0 && shown.Choose == "":
		return nil
	case who.Tenant() == 0:
		shown.Text = w["acting_all"]
	case who.IsSuperuser, who.Through != nil:
		leave := s.Fill(c, Form{
			Name: "panel_leave", Action: TenantsPath, Inputs: []Input{{Name: "next", Type: "hidden", Value: nearest(c.Path)}},
		}, nil)
		shown.Text, shown.Leave = strings.Replace(w["acting"], "{tenant}", who.TenantName, 1), &leave
	}
	return shown
}

// A bell tells how many notifications are unread. Where the page has live.js, it follows
// the stream and asks for the number anew.
type bell struct{ Path, Count, Live, Number string }

const mostCounted = 99 // notifications that the bell shows by their number

func bellOf(v caller.Visit) bell {
	b := bell{
		Path: NotificationsPath, Count: NotificationsAPI + "notifications/unread_count/",
		Live: NotificationsAPI + "notifications/stream/",
	}
	switch {
	case v.Unread > mostCounted:
		b.Number = strconv.Itoa(mostCounted) + "+"
	case v.Unread > 0:
		b.Number = strconv.FormatInt(v.Unread, 10)
	}
	return b
}

// A menuGroup is a part of the menu with its heading.
type menuGroup struct {
	Heading string
	Ways    []way
}

// A way leads to a page. Here is "page" on that page, "true" on one below it, and ""
// elsewhere.
type way struct{ Path, Text, Here string }

// A section is a group of the menu: the heading and the titles of the pages stand in
// the texts.
type section struct {
	heading string
	isOpen  func(caller.Visit) bool
	pages   []menuPage
}

type menuPage struct{ path, title string }

// menu has all sections. A page that the menu shows is a line here.
var menu = []section{
	{"menu_sales", isOperator, []menuPage{
		{StorefrontPath, "start_title"},
		{OrdersPath, "orders_title"},
		{PlansPath, "plans_title"},
		{WidgetsPath, "widgets_title"},
		{KeysPath, "keys_title"},
		{BooksPath, "books_title"},
	}},
	{"menu_customers", isOperator, []menuPage{
		{CustomersPath, "tenants_title"},
		{UsersPath, "users_title"},
	}},
	{"menu_operation", isOperator, []menuPage{
		{IncidentsPath, "incidents_title"},
		{RunsPath, "runs_title"},
		{InboxPath, "inbox_title"},
		{ReconciliationPath, "reconciliation_title"},
		{MailsPath, "mails_title"},
		{NodesPath, "nodes_title"},
		{ReadTablesPath, "read_tables_title"},
		{SettingsPath, "settings_title"},
	}},
	{"menu_billing", actsForAll, billingPages},
	{"panel_title", actsForTenant, panelPages()},
	{"panel_title", actsForNone, []menuPage{{TenantsPath, "panel_tenants_title"}}},
	{"menu_self", isSignedIn, []menuPage{
		{NotificationsPath, "notices_title"},
		{PreferencesPath, "preferences_title"},
		{GuidePath, "guide_nav"},
		{AccountPath, "account_title"},
	}},
}

// billingPages are what a tenant pays for and was billed.
var billingPages = []menuPage{
	{ServicesPath, "services_title"},
	{SubscriptionsPath, "subscriptions_title"},
	{InvoicesPath, "invoices_title"},
	{TenantOrdersPath, "tenant_orders_title"},
	{PaymentMethodsPath, "payment_methods_title"},
}

// panelPages are the pages of the customer area: where it begins, all records of each kind
// that every user may see, and those of billing.
func panelPages() []menuPage {
	pages := []menuPage{{PanelPath, "panel_start"}}
	for _, kind := range hosting.Kinds {
		if kind.HasPages() && kind.Writers == hosting.Member {
			pages = append(pages, menuPage{kind.Page(0), "kind_" + kind.Name})
		}
	}
	return append(pages, billingPages...)
}

func isOperator(v caller.Visit) bool { return v.Who.IsSuperuser }

func actsForTenant(v caller.Visit) bool { return v.Who.Tenant() != 0 }

func actsForNone(v caller.Visit) bool { return v.IsSignedIn() && !actsForTenant(v) }

// actsForAll tells whether an operator sees the records of all tenants.
func actsForAll(v caller.Visit) bool { return isOperator(v) && !actsForTenant(v) }

func isSignedIn(v caller.Visit) bool { return v.IsSignedIn() }

// bearings is the navigation of a page.
func (s *Renderer) bearings(c route.Call) Navigation {
	v, w := caller.VisitOf(c), Texts[Readers(c)]
	n := Navigation{
		User: v.Who.Email, Home: HomeOf(v.Who.User), Bell: bellOf(v),
		Leave: s.Fill(c, Form{Name: "sign_out", Action: LogoutPath}, nil), Acting: s.acting(c),
	}
	for _, part := range menu {
		if part.isOpen(v) {
			n.Groups = append(n.Groups, part.shown(w, c.Path))
		}
	}
	return n
}

// nearest is the page of the menu that a path is at or below.
func nearest(path string) (found string) {
	for _, part := range menu {
		for _, page := range part.pages {
			if strings.HasPrefix(path, page.path) && len(page.path) > len(found) {
				found = page.path
			}
		}
	}
	return found
}

// shown is the section for the reader of the page at a path.
func (g section) shown(w Words, at string) menuGroup {
	group := menuGroup{Heading: w[g.heading]}
	for _, page := range g.pages {
		to := way{Path: page.path, Text: w[page.title]}
		switch page.path {
		case at:
			to.Here = "page"
		case nearest(at):
			to.Here = "true"
		}
		group.Ways = append(group.Ways, to)
	}
	return group
}
