package operations

import (
	"slices"

	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

const operationsPrefix = "/operations/api/v1/"

// An Area is what those who operate the installation do with it, by what it is about.
type Area struct {
	web     *web.Renderer
	callers *caller.Callers

	users        users
	catalog      catalog
	keys         apiKeys
	orders       orders
	runs         runs
	inbox        inbox
	incidents    incidents
	mailPreviews mailPreviews
	reports      reports
	guide        guide
}

type (
	users struct {
		web      *web.Renderer
		callers  *caller.Callers
		commands record.Commands
		subjects record.Subjects
		numbers  record.Numbers
		accounts Accounts
		sessions Sessions
	}
	catalog struct {
		web       *web.Renderer
		callers   *caller.Callers
		commands  record.Commands
		numbers   record.Numbers
		currency  string
		publicURL func() string
	}
	apiKeys struct {
		web          *web.Renderer
		callers      *caller.Callers
		commands     record.Commands
		testPayments bool
	}
	orders struct {
		web            *web.Renderer
		callers        *caller.Callers
		details        OrderDetails
		orders         Orders
		previews       Previews
		runs           OrderRuns
		lookback       Lookback
		packs          Packs
		feed           route.LiveFeed
		payments       Payments
		mails          Mails
		paymentMethods []string
		offers         order.Offers
	}
	runs struct {
		web   *web.Renderer
		admin RunAdmin
	}
	inbox struct {
		web            *web.Renderer
		callers        *caller.Callers
		payments       Payments
		paymentMethods []string
	}
	incidents struct {
		web      *web.Renderer
		callers  *caller.Callers
		commands record.Commands
		admin    IncidentAdmin
	}
	mailPreviews struct {
		web     *web.Renderer
		callers *caller.Callers
		mails   Mails
	}
	reports struct {
		web      *web.Renderer
		callers  *caller.Callers
		watch    Watch
		rebuilds Rebuilds
		health   Health
		payments Payments
		inForce  func() []operations.Setting
	}
)

// New returns the area with what it needs of the rest of the program.
func New(d Deps) *Area {
	a := &Area{
		web: d.Web, callers: d.Callers,
		users:        users{d.Web, d.Callers, d.Commands, d.Subjects, d.Numbers, d.Accounts, d.Sessions},
		catalog:      catalog{d.Web, d.Callers, d.Commands, d.Numbers, d.Currency, d.PublicURL},
		keys:         apiKeys{d.Web, d.Callers, d.Commands, d.TestPayments},
		runs:         runs{d.Web, d.RunAdmin},
		inbox:        inbox{d.Web, d.Callers, d.Payments, d.PaymentMethods},
		incidents:    incidents{d.Web, d.Callers, d.Commands, d.IncidentAdmin},
		mailPreviews: mailPreviews{d.Web, d.Callers, d.Mails},
		reports:      reports{d.Web, d.Callers, d.Watch, d.Rebuilds, d.Health, d.Payments, d.InForce},
		orders: orders{
			web: d.Web, callers: d.Callers, details: d.OrderDetails, orders: d.Orders, previews: d.Previews,
			runs: d.OrderRuns, lookback: d.Lookback, packs: d.Packs, feed: d.Feed, payments: d.Payments, mails: d.Mails,
			paymentMethods: d.PaymentMethods, offers: d.Offers,
		},
	}
	a.guide = guide{d.Web, d.Callers, &a.keys, d.PublicURL, d.Offers, d.PaymentMethods}
	return a
}

// Routes are the API of the area (docs/api.md, "Operations").
func (a *Area) Routes() route.Area {
	return route.Area{
		Name: "Operations", Prefix: operationsPrefix, Access: a.callers.Superuser(),
		About: "What superusers do: accounts, plans, widgets, keys of the storefront, orders, and what goes on behind them.",
		Routes: slices.Concat(a.users.userRoutes(), a.catalog.planRoutes(), a.catalog.widgetRoutes(), a.keys.keyRoutes(),
			a.orders.orderFileRoutes(), a.runs.sagaRoutes(), a.inbox.inboxRoutes(), a.mailPreviews.mailRoutes(),
			a.incidents.incidentRoutes(), a.incidents.answerRoutes(), a.reports.routes()),
	}
}

// PageRoutes are where superusers run the storefront (docs/accounts.md, "Pages").
func (a *Area) PageRoutes() route.Area {
	keys := web.FormPage{Show: a.keys.showKeys, Forms: map[string]web.FormHandler{
		"create": a.keys.handOutKey, "revoke": a.keys.withdrawKey,
	}}
	return route.Area{
		Name: "Storefront pages", Access: a.callers.SuperuserSession(),
		About: "Where superusers run the storefront.",
		Routes: slices.Concat([]route.Route{
			web.View(web.StorefrontPath, "What happens today, and what needs a person", a.reports.showStart).As("storefront_page"),
			web.View(web.KeysPath, "The keys of the storefront", keys.Look).As("keys_page"),
			a.web.Press(web.KeysPath, "Create or revoke a key", keys).As("keys_form"),
		},
			a.orders.pageRoutes(), a.users.pageRoutes(), a.catalog.planPageRoutes(), a.catalog.widgetPageRoutes(),
			a.incidents.pageRoutes(), a.runs.pageRoutes(), a.inbox.pageRoutes(), a.reports.pageRoutes(),
			a.mailPreviews.pageRoutes(), a.guide.pageRoutes()),
	}
}
