// Package billing serves what tenants are billed: their subscriptions, invoices and
// credit notes (docs/orders.md, "Invoices").
package billing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Deps are what billing needs of the rest of the program.
type Deps struct {
	Web           *web.Renderer
	Callers       *caller.Callers
	Orders        Orders
	Subscriptions Subscriptions
	Setups        Setups
	Changes       waiting.Log
	Currency      string // in which members usually pay
	Documents     Documents
	Machines      Machines
	Consoles      Consoles
	Screens       Screens
	ConsoleBounds ConsoleBounds
	Lookback      web.Lookback
	KeepDisputed  bool         // an open dispute does not suspend a service
	Offers        order.Offers // payment methods
	PublicURL     func() string

	// Unavailable reports whether an error means that the database is away.
	Unavailable func(error) bool
}

// Orders sends customers to pay.
type Orders interface {
	// PayInvoice sends the customer of an open invoice to pay. If the provider opens no
	// page, the error is an [order.ErrNoPaymentPage].
	PayInvoice(context.Context, func() domain.Metadata, order.BillPayment) (order.Payable, error)
	// Prepare completes an order and adds what is wrong with it to wrong. Place puts it into
	// the log, and ToPayment makes sure that it can be paid.
	Prepare(ctx context.Context, d *order.Draft, wrong *field.Errors) error
	Place(ctx context.Context, cause func() domain.Metadata, d *order.Draft, located func(id uuid.UUID)) (uuid.UUID, error)
	ToPayment(ctx context.Context, id uuid.UUID) (order.Payable, error)
	// SoldOut are the plans for machines of which none has a place now.
	SoldOut(context.Context, ...projections.Plan) (map[int64]bool, error)
}

// Subscriptions carries out changes of subscriptions and of their invoices.
type Subscriptions interface {
	// Cancel ends a subscription with the period that is paid for. KeepOn takes that back.
	Cancel(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error
	// CancelNow ends a subscription and its service at once.
	CancelNow(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error
	KeepOn(ctx context.Context, cause domain.Metadata, subscription uuid.UUID) error
	// ChangePlan changes the plan or the billing period of a subscription.
	ChangePlan(ctx context.Context, cause domain.Metadata, subscription uuid.UUID, plan int64, billingPeriod string) error
	// PreviewChange tells what that would do now, with the calls at the hosting engine.
	PreviewChange(
		ctx context.Context, subscription uuid.UUID, plan int64, billingPeriod string,
	) (billing.ChangePreview, []hosting.EngineCall, error)
	// MarkPaid records that what is due of an open invoice was paid by other means.
	MarkPaid(ctx context.Context, cause domain.Metadata, invoice uuid.UUID, method, reference string) error
	// Book books a payment that has arrived without a provider, and returns its id.
	Book(ctx context.Context, cause domain.Metadata, p billing.BookPayment) (uuid.UUID, error)
	// PayCreditOut records that credit was paid out, and ReverseBooking takes back a booking.
	PayCreditOut(ctx context.Context, cause domain.Metadata, p billing.PayOut) error
	ReverseBooking(ctx context.Context, cause domain.Metadata, a billing.CreditAccount, booking uuid.UUID, reason string) error
	// Waive withdraws an open invoice. The period that it bills is free.
	Waive(ctx context.Context, cause domain.Metadata, invoice uuid.UUID, reason string) error
	// ChooseMethod says which saved payment method renewals are charged by; zero: none.
	ChooseMethod(ctx context.Context, cause domain.Metadata, subscription, method uuid.UUID) error
	// RemoveMethod ends a saved payment method.
	RemoveMethod(ctx context.Context, cause domain.Metadata, method uuid.UUID) error
}

// Setups send members of tenants to pages on which payment methods are added.
type Setups interface {
	// SetUpMethod answers with the setup of the page. If the provider opens none, the error
	// has the reason "payment_provider_unavailable".
	SetUpMethod(ctx context.Context, cause func() domain.Metadata, asked billing.AskedSetup) (uuid.UUID, error)
	// Hint asks to look soon at what was opened at a provider.
	Hint(ctx context.Context, id uuid.UUID, reason string) error
}

const (
	prefix            = "/billing/api/v1/"
	subscriptionsPath = prefix + "subscriptions/"
	invoicesPath      = prefix + "invoices/"
	creditNotesPath   = prefix + "credit-notes/"
	servicesPath      = prefix + "services/"
	booksPath         = prefix + "books/"
)

// An Area is what tenants are billed and what they pay for, by what it is about.
type Area struct {
	callers *caller.Callers

	orders         orders
	services       services
	consoles       consoles
	subscriptions  subscriptions
	invoices       invoices
	documents      documents
	paymentMethods paymentMethods
	books          books
	credit         credit
}

type (
	orders struct {
		web         *web.Renderer
		callers     *caller.Callers
		orders      Orders
		offers      order.Offers
		publicURL   func() string
		unavailable func(error) bool
	}
	services struct {
		web          *web.Renderer
		callers      *caller.Callers
		machines     Machines
		keepDisputed bool
	}
	consoles struct {
		web      *web.Renderer
		callers  *caller.Callers
		services *services
		consoles Consoles
		screens  Screens
		bounds   ConsoleBounds
	}
	subscriptions struct {
		web           *web.Renderer
		callers       *caller.Callers
		subscriptions Subscriptions
		lookback      web.Lookback
	}
	invoices struct {
		web           *web.Renderer
		callers       *caller.Callers
		orders        Orders
		subscriptions Subscriptions
		offers        order.Offers
		publicURL     func() string
		unavailable   func(error) bool
		documents     *documents
	}
	documents struct {
		callers   *caller.Callers
		documents Documents
	}
	paymentMethods struct {
		web           *web.Renderer
		callers       *caller.Callers
		subscriptions Subscriptions
		setups        Setups
		changes       waiting.Log
		currency      string
		offers        order.Offers
		publicURL     func() string
	}
	books struct {
		web     *web.Renderer
		callers *caller.Callers
	}
	credit struct {
		web           *web.Renderer
		callers       *caller.Callers
		subscriptions Subscriptions
	}
)

// New returns the area with what it needs of the rest of the program.
func New(d Deps) *Area {
	a := &Area{
		callers:       d.Callers,
		orders:        orders{d.Web, d.Callers, d.Orders, d.Offers, d.PublicURL, d.Unavailable},
		services:      services{d.Web, d.Callers, d.Machines, d.KeepDisputed},
		subscriptions: subscriptions{d.Web, d.Callers, d.Subscriptions, d.Lookback},
		documents:     documents{d.Callers, d.Documents},
		paymentMethods: paymentMethods{
			d.Web, d.Callers, d.Subscriptions, d.Setups, d.Changes, d.Currency, d.Offers, d.PublicURL,
		},
		books:  books{d.Web, d.Callers},
		credit: credit{d.Web, d.Callers, d.Subscriptions},
	}
	a.invoices = invoices{
		d.Web, d.Callers, d.Orders, d.Subscriptions, d.Offers, d.PublicURL, d.Unavailable, &a.documents,
	}
	a.consoles = consoles{d.Web, d.Callers, &a.services, d.Consoles, d.Screens, d.ConsoleBounds}
	return a
}

// Routes are what users read of what their tenant is billed, and what administrators do
// about it. Superusers without an active tenant have all tenants.
func (a *Area) Routes() route.Area {
	return route.Area{
		Name: "Billing", Prefix: prefix, Access: a.callers.User(),
		About: "What the caller's tenant is billed. Superusers without an active tenant see all tenants.",
		Routes: slices.Concat(a.orders.routes(), a.services.routes(), a.consoles.routes(), a.subscriptions.routes(), a.invoices.routes(),
			a.documents.creditNoteRoutes(), a.paymentMethods.routes(), a.books.routes(), a.credit.routes()),
	}
}

// PageRoutes are the invoices and subscriptions of the tenant for which a user acts, in a
// browser (docs/panel.md). Superusers without an active tenant see those of all.
func (a *Area) PageRoutes() route.Area {
	return route.Area{
		Name: "Invoices in the browser", Access: a.callers.Session(),
		About: "What a tenant was billed and pays for, in the browsers of its users.",
		Routes: slices.Concat(a.services.pages(), a.consoles.pages(), a.invoices.pages(), a.subscriptions.pages(), a.orders.pages(),
			a.paymentMethods.pages(), a.credit.pages(), a.books.pages()),
	}
}

func (s *subscriptions) routes() []route.Route {
	return slices.Concat([]route.Route{
		listing.Pages[subscription](subscriptionsPath, "Subscriptions, newest first", listing.Spec{
			Filters: subscriptionFilters, Ordering: []string{"period_end", "due_at"}, UUIDs: true,
		}, s.listSubscriptions).As("subscription_list"),
		route.Get(subscriptionsPath+
			"{id:uuid}/", "A subscription",
			record.Found[subscription]).As("subscription_read").Of("Subscription").Finding(s.findSubscription),
	}, s.subscriptionActions(), s.changeActions())
}

func (s *invoices) routes() []route.Route {
	return slices.Concat([]route.Route{
		listing.Pages[invoice](invoicesPath, "Invoices, newest first", listing.Spec{
			Filters: invoiceFilters, Ordering: []string{"number", "total", "due_at"}, UUIDs: true,
			Search: "number, customer_name, customer_company and customer_email",
		}, s.listInvoices).As("invoice_list"),
		route.Get(invoicesPath+"{id:uuid}/", "An invoice", record.Found[invoice]).As("invoice_read").Of("Invoice").Finding(s.findInvoice),
		s.documents.document(invoicesPath, "An invoice", s.documents.invoiceDocument).As("invoice_document").Of("Invoice"),
	}, s.invoiceActions())
}

func (s *documents) creditNoteRoutes() []route.Route {
	return []route.Route{
		listing.Pages[projections.CreditNote](creditNotesPath, "Credit notes, newest first", listing.Spec{
			Filters: documentFilters, Ordering: []string{"number", "total"}, UUIDs: true,
		}, caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.CreditNotes)).As("credit_note_list"),
		route.Get(creditNotesPath+"{id:uuid}/", "A credit note", record.Found[projections.CreditNote]).
			As("credit_note_read").Of("Credit note").Finding(s.findCreditNote),
		s.document(creditNotesPath, "A credit note", s.creditNoteDocument).As("credit_note_document").Of("Credit note"),
	}
}

func subscriptionFilters() field.Set {
	return field.Set{
		field.Text("status", new(string)).Among(billing.Statuses...).Doc("Only those in this status."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("billing_period", new(string)).Among("monthly", "yearly").Doc(
			"Only those that are billed by the month, or by the year.",
		),
	}
}

func invoiceFilters() field.Set {
	return append(documentFilters(), field.Text("status", new(string)).Among(billing.InvoiceStatuses...).Doc("Only those in this status."))
}

func documentFilters() field.Set {
	return field.Set{
		field.UUID("order", new(uuid.UUID)).Doc("Only those of this order."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("number", new(string)).Doc("Only the one with this number."),
	}
}

func (s *subscriptions) listSubscriptions(
	ctx context.Context, c route.Call, l projections.Listing,
) (projections.Listed[subscription], error) {
	rows, err := s.callers.Scope(c).Billing().Subscriptions(ctx, l)
	return record.Map(rows, err, newSubscription(c))
}

func (s *invoices) listInvoices(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[invoice], error) {
	rows, err := s.callers.Scope(c).Billing().Invoices(ctx, l)
	return record.Map(rows, err, newInvoice(c))
}

func (s *subscriptions) findSubscription(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.subscription(ctx, c))
}

// subscription is the one that the path names.
func (s *subscriptions) subscription(ctx context.Context, c route.Call) (*subscription, error) {
	row, err := s.callers.Scope(c).Billing().Subscription(ctx, c.UUID("id"))
	found := newSubscription(c)(row)
	return &found, err
}

func (s *invoices) findInvoice(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.invoice(ctx, c))
}

// invoice is the one that the path names.
func (s *invoices) invoice(ctx context.Context, c route.Call) (*invoice, error) {
	row, err := s.callers.Scope(c).Billing().Invoice(ctx, c.UUID("id"))
	found := newInvoice(c)(row)
	return &found, err
}

func (s *documents) findCreditNote(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.callers.Scope(c).Billing().CreditNote(ctx, c.UUID("id"))
	return record.Subject(&row, err)
}
