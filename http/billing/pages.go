package billing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/texts"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// pages are the invoices of the tenant for which a user acts.
func (s *invoices) pages() []route.Route {
	const path = web.InvoicesPath + "{id:uuid}/"
	page := web.ActFormPage(s.invoiceDesk())
	page.Forms[payForm] = s.payByForm
	return []route.Route{
		web.ViewList(s.list(), web.InvoicesPath, "The tenant's invoices").As("invoices_page"),
		web.View(path, "An invoice", page.Look).As("invoice_page").Of("Invoice"),
		s.web.Press(path, "Pay an invoice, or settle it without a payment", page).As("invoice_form").Of("Invoice").For(
			caller.AdminSession(s.callers),
		),
	}
}

// list is the page of the tenant's invoices.
func (s *invoices) list() web.List[projections.Invoice] {
	return web.List[projections.Invoice]{
		Web: s.web, Name: "invoices", Fields: (*projections.Invoice).Fields, Before: hasTenant, Cards: invoiceCards,
		Choices: []web.Choice{{Name: "status", Text: "invoice_state_", Values: billing.InvoiceStatuses}},
		Read:    caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.Invoices),
		Search:  "invoices_search",
		More: func(c route.Call, i *projections.Invoice, card *web.Card) {
			w := web.Texts[web.Readers(c)]
			dates := w.Values(i.Fields(), "paid_at")
			if i.Status == billing.Open {
				dates = w.Values(i.Fields(), "due_at")
			}
			card.Lines, card.Note = append(card.Lines, whatFor(i, caller.Of(c).IsSuperuser)), append(card.Note, dates...)
		},
		Ways: func(c route.Call) []web.Aspect {
			w := web.Texts[web.Readers(c)]
			ways := []web.Aspect{{Text: w["credits_title"], Path: web.CreditPath}}
			if caller.Of(c).IsSuperuser {
				ways = append(ways, web.Aspect{Text: w["books_title"], Path: web.BooksPath})
			}
			return ways
		},
	}
}

// whatFor is what an invoice bills first. Operators read before it who was billed.
func whatFor(i *projections.Invoice, named bool) string {
	var texts []string
	if customer := cmp.Or(i.CustomerCompany, i.CustomerName); named && customer != "" {
		texts = append(texts, customer)
	}
	if len(i.Lines) > 0 {
		texts = append(texts, i.Lines[0].Text)
	}
	return strings.Join(texts, " · ")
}

var invoiceCards = web.Cards{
	Page: web.InvoicesPath, Title: "number", Badges: []string{"status"}, Lines: []string{"total"}, Note: []string{"created_at"},
}

// newestInvoices is how many invoices the page of what they bill shows.
const newestInvoices = 12

// invoicesOf are the newest invoices of an order, as cards.
func invoicesOf(ctx context.Context, c route.Call, scope projections.Scope, order uuid.UUID) ([]web.Card, error) {
	found, err := scope.Billing().Invoices(ctx, projections.Listing{
		Limit: newestInvoices, Filters: []projections.Filter{{Field: "order", Op: "=", Value: order}},
	})
	return web.CardsOf(c, web.List[projections.Invoice]{Fields: (*projections.Invoice).Fields, Cards: invoiceCards}, found.Rows), err
}

// hasTenant leads a user who has to choose a tenant first to the choice.
func hasTenant(_ context.Context, c route.Call) error {
	if seesNone(c) {
		return route.SeeOther(web.TenantsPath)
	}
	return nil
}

// seesNone tells whether a user has to choose a tenant first.
func seesNone(c route.Call) bool {
	who := caller.Of(c)
	return who.Tenant() == 0 && !who.IsSuperuser
}

// showInvoice is the page of an invoice.
func (s *invoices) showInvoice(
	ctx context.Context, c route.Call, i *invoice, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	notes, err := s.callers.Scope(c).Billing().CreditNotesOfInvoice(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	credited := web.CardsOf(c, web.List[projections.CreditNote]{
		Fields: (*projections.CreditNote).Fields, Cards: web.Cards{Title: "number", Value: "total", Note: []string{"created_at"}},
		More: func(_ route.Call, n *projections.CreditNote, card *web.Card) {
			card.Path = pdfOf(creditNotesPath, n.ID)
			card.Note = append(card.Note, web.Aspect{Text: "PDF"})
		},
	}, notes)
	said := saidBy(i.Invoice)
	ways := s.waysToPay(i.Invoice)
	d, err := s.web.Sheet(c, back.StatusOf(), "invoice", "invoice_title", map[string]any{
		"Title": w["invoice_title"] + " " + i.Number, "Invoice": w.Card(invoiceCards, i.Fields()), "Lines": linesOf(w, said),
		"Sums": sumsOf(w, web.Readers(c), i.Invoice), "Credited": credited,
		"Payment": s.paymentOf(w, web.Readers(c), i.Invoice), "Pay": s.payFormOf(c, i, ways, back),
		"Files": filesOf(i.Invoice, said), "Acts": acts,
		"Seller": sellerOf(w, i.Seller), "Customer": customerOf(w, i.Invoice), "Wide": true,
	})
	if err == nil {
		d.FormAction = web.PaymentOrigins(ways, s.publicURL())
	}
	return d, err
}

// filesOf are the forms in which the document of an invoice can be had.
func filesOf(i projections.Invoice, d document.Document) []web.Aspect {
	path := documentPath(invoicesPath, i.ID)
	files := []web.Aspect{{Text: "PDF", Path: pdfOf(invoicesPath, i.ID)}, {Text: "HTML", Path: path + "?format=html"}}
	if d.Check() == nil {
		files = append(files, web.Aspect{Text: "XML (EN 16931)", Path: path + "?format=xml"})
	}
	return files
}

func documentPath(path string, id uuid.UUID) string { return path + id.String() + "/document/" }

func pdfOf(path string, id uuid.UUID) string { return documentPath(path, id) + "?format=pdf" }

// paymentOf tells by when an open invoice has to be paid, and how a paid one was.
func (s *invoices) paymentOf(w web.Words, language string, i projections.Invoice) []web.Aspect {
	names := []string{"due_at", "paid_at"}
	if i.Status == billing.Withdrawn {
		names = names[1:]
	}
	if i.Status == billing.Open && i.AmountPaid().IsPositive() {
		names = append([]string{"amount_paid", "amount_due"}, names...)
	}
	return append(
		w.Values(i.Fields(), names...),
		web.Told(web.Aspect{Name: w["invoice_method"], Text: methodName(s.offers, language, i.PaymentMethod)})...,
	)
}

func linesOf(w web.Words, d document.Document) (cards []web.Card) {
	for _, l := range d.Lines {
		cards = append(cards, lineCard(w, l, d.Currency))
	}
	return cards
}

func lineCard(w web.Words, l document.Line, currency string) web.Card {
	card := web.Card{Title: l.Text, Value: w.Money(l.Total, currency)}
	if first, last := l.Days(); !first.IsZero() {
		card.Note = []web.Aspect{{Text: w.Date(first) + " – " + w.Date(last)}}
	}
	return card
}

func sumsOf(w web.Words, language string, i projections.Invoice) []web.Aspect {
	set, said := i.Fields(), saidBy(i)
	said.Language = language
	return slices.Concat(w.Values(set, "created_at", "subtotal"), web.Told(
		web.Aspect{Name: w["invoice_tax"] + " (" + texts.Percent(language, i.TaxRate) + ")", Text: w.Money(i.Tax, i.Currency)},
		web.Aspect{Name: w["invoice_tax_note"], Text: said.TaxNote()},
	), w.Values(set, "total"))
}

func sellerOf(w web.Words, s billing.Seller) []web.Aspect {
	if s == (billing.Seller{}) {
		return nil
	}
	address := web.Aspect{
		Name: w["invoice_address"], Text: s.Address + ", " + strings.TrimSpace(s.PostalCode+" "+s.City) + ", " + s.Country,
	}
	return slices.Concat(w.Values(s.Fields(), "name"), []web.Aspect{address}, w.Values(s.Fields(), "tax_id", "register", "iban", "bic"))
}

// customerOf are who bought; nothing of an erased one.
func customerOf(w web.Words, i projections.Invoice) []web.Aspect {
	return slices.Concat(w.Values(i.Fields(), "customer_name", "customer_company"),
		web.Told(web.Aspect{Name: w["invoice_address"], Text: i.AddressLine()}), w.Values(i.Fields(), "customer_tax_id", "customer_email"))
}
