package billing

import (
	"context"
	"net/http"
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
	page := s.invoiceDesk().Page()
	page.Forms[payForm] = s.payByForm
	return []route.Route{
		web.View(web.InvoicesPath, "The tenant's invoices", s.showInvoices).As("invoices_page"),
		web.View(path, "An invoice", page.Look).As("invoice_page").Of("Invoice"),
		s.web.Press(path, "Pay an invoice, or settle it without a payment", page).As("invoice_form").Of("Invoice").For(caller.AdminSession(s.callers)),
	}
}

// A documentRow is an invoice or a credit note in a list.
type documentRow struct {
	Path, Number, Total, Status, StatusText string
	At, Due                                 web.Aspect
}

func rowOfInvoice(w web.Words, i projections.Invoice) documentRow {
	row := documentRow{
		Path: web.InvoicesPath + i.ID.String() + "/", Number: i.Number, Total: w.Money(i.Total, i.Currency),
		Status: string(i.Status), StatusText: w["invoice_state_"+string(i.Status)], At: w.Moment("", &i.CreatedAt, ""),
	}
	if i.Status == billing.Open && i.DueAt != nil {
		row.Due = w.Moment("", i.DueAt, "")
	}
	return row
}

func (s *invoices) showInvoices(ctx context.Context, c route.Call) (*route.Document, error) {
	data, err := listed(ctx, c, "Invoices", s.callers.Scope(c).Billing().Invoices, rowOfInvoice, web.Choice{Name: "status", Text: "invoice_state_", Values: billing.InvoiceStatuses})
	return listSheet(s.web, c, "invoices", data, err)
}

// listed is what the page of a list shows: its rows under a name, its filters, and the pages
// beside it.
func listed[D, R any](
	ctx context.Context, c route.Call, name string,
	read func(context.Context, projections.Listing) (projections.Listed[D], error), rowOf func(web.Words, D) R, choices ...web.Choice,
) (map[string]any, error) {
	if seesNone(c) {
		return nil, route.SeeOther(web.TenantsPath)
	}
	w := web.Texts[web.Readers(c)]
	asked, bar := web.Asked(c, w, choices...)
	found, err := read(ctx, asked)
	if err != nil {
		return nil, err
	}
	rows := make([]R, len(found.Rows))
	for i, one := range found.Rows {
		rows[i] = rowOf(w, one)
	}
	return web.Paged(c, bar, found.Count, map[string]any{name: rows}), nil
}

// listSheet is the page of a list whose title has the name of its template.
func listSheet(to *web.Renderer, c route.Call, template string, data map[string]any, err error) (*route.Document, error) {
	if err != nil {
		return nil, err
	}
	return to.Sheet(c, http.StatusOK, template, template+"_title", data)
}

// seesNone tells whether a user has to choose a tenant first.
func seesNone(c route.Call) bool {
	who := caller.Of(c)
	return who.Tenant() == 0 && !who.IsSuperuser
}

// showInvoice is the page of an invoice.
func (s *invoices) showInvoice(ctx context.Context, c route.Call, i *invoice, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	notes, err := s.callers.Scope(c).Billing().CreditNotesOfInvoice(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	var credited []documentRow
	for _, n := range notes {
		credited = append(credited, documentRow{Path: pdfOf(creditNotesPath, n.ID), Number: n.Number, Total: w.Money(n.Total, n.Currency), At: w.Moment("", &n.CreatedAt, "")})
	}
	said := saidBy(i.Invoice)
	ways := s.waysToPay(i.Invoice)
	d, err := s.web.Sheet(c, back.StatusOf(), "invoice", "invoice_title", map[string]any{
		"Title": w["invoice_title"] + " " + i.Number, "Invoice": rowOfInvoice(w, i.Invoice), "Lines": linesOf(w, said), "Sums": sumsOf(w, web.Readers(c), i.Invoice), "Credited": credited,
		"Payment": s.paymentOf(w, web.Readers(c), i.Invoice), "Pay": s.payFormOf(c, i, ways, back), "Files": filesOf(i.Invoice, said), "Acts": acts,
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
	var due, paid web.Aspect
	if i.DueAt != nil && i.Status != billing.Withdrawn {
		due = w.Moment("", i.DueAt, "")
	}
	if i.PaidAt != nil {
		paid = w.Moment("", i.PaidAt, "")
	}
	due.Name, paid.Name = w["invoice_due"], w["invoice_paid"]
	var part, rest web.Aspect
	if i.Status == billing.Open && i.AmountPaid().IsPositive() {
		part = web.Aspect{Name: w["invoice_amount_paid"], Text: w.Money(i.AmountPaid(), i.Currency)}
		rest = web.Aspect{Name: w["invoice_amount_due"], Text: w.Money(i.AmountDue, i.Currency)}
	}
	return web.Told(part, rest, due, paid, web.Aspect{Name: w["invoice_method"], Text: methodName(s.offers, language, i.PaymentMethod)})
}

// A lineRow is a line of an invoice.
type lineRow struct{ Text, Period, Total string }

func linesOf(w web.Words, d document.Document) (rows []lineRow) {
	for _, l := range d.Lines {
		row := lineRow{Text: l.Text, Total: w.Money(l.Total, d.Currency)}
		if first, last := l.Days(); !first.IsZero() {
			row.Period = w.Date(first) + " – " + w.Date(last)
		}
		rows = append(rows, row)
	}
	return rows
}

func sumsOf(w web.Words, language string, i projections.Invoice) []web.Aspect {
	return web.Told(
		w.Moment(w["invoice_issued"], &i.CreatedAt, ""),
		web.Aspect{Name: w["invoice_subtotal"], Text: w.Money(i.Subtotal, i.Currency)},
		web.Aspect{Name: w["invoice_tax"] + " (" + texts.Percent(language, i.TaxRate) + ")", Text: w.Money(i.Tax, i.Currency)},
		web.Aspect{Name: w["invoice_tax_note"], Text: i.TaxKind.Note(language)},
		web.Aspect{Name: w["invoice_total"], Text: w.Money(i.Total, i.Currency)},
	)
}

func sellerOf(w web.Words, s billing.Seller) []web.Aspect {
	if s == (billing.Seller{}) {
		return nil
	}
	return web.Told(
		web.Aspect{Name: w["invoice_name"], Text: s.Name},
		web.Aspect{Name: w["invoice_address"], Text: s.Address + ", " + strings.TrimSpace(s.PostalCode+" "+s.City) + ", " + s.Country},
		web.Aspect{Name: w["invoice_tax_id"], Text: s.TaxID},
		web.Aspect{Name: w["invoice_register"], Text: s.Register},
		web.Aspect{Name: w["invoice_iban"], Text: s.IBAN},
		web.Aspect{Name: w["invoice_bic"], Text: s.BIC},
	)
}

// customerOf are who bought; nothing of an erased one.
func customerOf(w web.Words, i projections.Invoice) []web.Aspect {
	return web.Told(
		web.Aspect{Name: w["invoice_name"], Text: i.CustomerName},
		web.Aspect{Name: w["invoice_company"], Text: i.CustomerCompany},
		web.Aspect{Name: w["invoice_address"], Text: i.AddressLine()},
		web.Aspect{Name: w["invoice_tax_id"], Text: i.CustomerTaxID},
		web.Aspect{Name: w["invoice_email"], Text: i.CustomerEmail},
	)
}
