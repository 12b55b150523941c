// Package billing serves what tenants are billed: their subscriptions, invoices and
// credit notes (docs/orders.md, "Invoices").
package billing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Deps are what billing needs of the rest of the program.
type Deps struct {
	*web.Renderer
}

const (
	prefix            = "/billing/api/v1/"
	subscriptionsPath = prefix + "subscriptions/"
	invoicesPath      = prefix + "invoices/"
	creditNotesPath   = prefix + "credit-notes/"
)

type handlers struct{ Deps }

// Routes are what users read of what their tenant is billed. Superusers without an active
// tenant read that of all tenants.
func Routes(d Deps) route.Area {
	s := &handlers{d}
	return route.Area{
		Name: "Billing", Prefix: prefix, Access: d.User(),
		About:  "What the caller's tenant is billed. Superusers without an active tenant see all tenants.",
		Routes: slices.Concat(s.subscriptionRoutes(), s.invoiceRoutes(), s.creditNoteRoutes()),
	}
}

func (s *handlers) subscriptionRoutes() []route.Route {
	return []route.Route{
		listing.Pages[subscription](subscriptionsPath, "Subscriptions, newest first", listing.Spec{
			Filters: subscriptionFilters, Ordering: []string{"period_end"}, UUIDs: true,
		}, s.listSubscriptions).As("subscription_list"),
		route.Get(subscriptionsPath+"{id:uuid}/", "A subscription", record.Found[subscription]).As("subscription_read").Of("Subscription").Finding(s.findSubscription),
	}
}

func (s *handlers) invoiceRoutes() []route.Route {
	return []route.Route{
		listing.Pages[invoice](invoicesPath, "Invoices, newest first", listing.Spec{
			Filters: documentFilters, Ordering: []string{"number", "total"}, UUIDs: true,
		}, s.listInvoices).As("invoice_list"),
		route.Get(invoicesPath+"{id:uuid}/", "An invoice", record.Found[invoice]).As("invoice_read").Of("Invoice").Finding(s.findInvoice),
	}
}

func (s *handlers) creditNoteRoutes() []route.Route {
	return []route.Route{
		listing.Pages[creditNote](creditNotesPath, "Credit notes, newest first", listing.Spec{
			Filters: documentFilters, Ordering: []string{"number", "total"}, UUIDs: true,
		}, s.listCreditNotes).As("credit_note_list"),
		route.Get(creditNotesPath+"{id:uuid}/", "A credit note", record.Found[creditNote]).As("credit_note_read").Of("Credit note").Finding(s.findCreditNote),
	}
}

func subscriptionFilters() field.Set {
	return field.Set{
		field.Text("status", new(string)).Among(string(billing.Running), string(billing.Over)).Doc("Only those that are active, or have ended."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("billing_period", new(string)).Among("monthly", "yearly").Doc("Only those that are billed by the month, or by the year."),
	}
}

func documentFilters() field.Set {
	return field.Set{
		field.UUID("order", new(uuid.UUID)).Doc("Only those of this order."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("number", new(string)).Doc("Only the one with this number."),
	}
}

func (s *handlers) listSubscriptions(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[subscription], error) {
	rows, err := s.Scope(c).Subscriptions(ctx, l)
	return record.Map(rows, err, func(row projections.Subscription) subscription { return subscription{row} })
}

func (s *handlers) listInvoices(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[invoice], error) {
	rows, err := s.Scope(c).Invoices(ctx, l)
	return record.Map(rows, err, newInvoice)
}

func (s *handlers) listCreditNotes(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[creditNote], error) {
	rows, err := s.Scope(c).CreditNotes(ctx, l)
	return record.Map(rows, err, func(row projections.CreditNote) creditNote { return creditNote{row} })
}

func (s *handlers) findSubscription(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.Scope(c).Subscription(ctx, c.UUID("id"))
	return record.Subject(&subscription{row}, err)
}

func (s *handlers) findInvoice(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.Scope(c).Invoice(ctx, c.UUID("id"))
	found := newInvoice(row)
	return record.Subject(&found, err)
}

func (s *handlers) findCreditNote(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.Scope(c).CreditNote(ctx, c.UUID("id"))
	return record.Subject(&creditNote{row}, err)
}
