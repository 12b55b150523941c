package billing

import (
	"context"
	"net/http"
	"strings"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// PageRoutes are the invoices of the tenant for which a user acts, in a browser
// (docs/panel.md).
func PageRoutes(d Deps) route.Area {
	s := &handlers{d}
	return route.Area{
		Name: "Invoices in the browser", Access: d.Session(),
		About: "What a tenant was billed, in the browsers of its users.",
		Routes: []route.Route{
			web.View(web.InvoicesPath, "The tenant's invoices", s.showInvoices).As("invoices_page").
				Taking(field.Int("page", new(int64)).Doc("Which page of the invoices, from 1 on.")),
			web.View(web.InvoicesPath+"{id:uuid}/", "An invoice", s.showInvoice).As("invoice_page").Of("Invoice"),
		},
	}
}

// A documentRow is an invoice or a credit note in a list.
type documentRow struct {
	Path, Number, Total, Status, StatusText string
	At                                      web.Aspect
}

func rowOfInvoice(w web.Words, i projections.Invoice) documentRow {
	return documentRow{
		Path: web.InvoicesPath + i.ID.String() + "/", Number: i.Number, Total: w.Money(i.Total, i.Currency),
		Status: string(i.Status), StatusText: w["invoice_state_"+string(i.Status)], At: w.Moment("", &i.CreatedAt, ""),
	}
}

func (s *handlers) showInvoices(ctx context.Context, c route.Call) (*route.Document, error) {
	if caller.Of(c).Tenant() == 0 {
		return nil, route.SeeOther(web.TenantsPath)
	}
	w := web.Texts[web.Readers(c)]
	asked, bar := web.Asked(c, w)
	found, err := s.Scope(c).Invoices(ctx, asked)
	if err != nil {
		return nil, err
	}
	rows := make([]documentRow, len(found.Rows))
	for i, one := range found.Rows {
		rows[i] = rowOfInvoice(w, one)
	}
	return s.Sheet(c, http.StatusOK, "invoices", "invoices_title", web.Paged(c, bar, found.Count, map[string]any{"Invoices": rows}))
}

func (s *handlers) showInvoice(ctx context.Context, c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	i, err := s.Scope(c).Invoice(ctx, c.UUID("id"))
	if err != nil {
		return nil, err
	}
	notes, err := s.Scope(c).CreditNotesOfOrder(ctx, i.OrderID)
	if err != nil {
		return nil, err
	}
	var credited []documentRow
	for _, n := range notes {
		credited = append(credited, documentRow{Number: n.Number, Total: w.Money(n.Total, n.Currency), At: w.Moment("", &n.CreatedAt, "")})
	}
	return s.Sheet(c, http.StatusOK, "invoice", "invoice_title", map[string]any{
		"Title": w["invoice_title"] + " " + i.Number, "Invoice": rowOfInvoice(w, i), "Lines": linesOf(w, i), "Sums": sumsOf(w, i), "Credited": credited,
		"Seller": sellerOf(w, i.Seller), "Customer": customerOf(w, i), "Wide": true,
	})
}

// A lineRow is a line of an invoice.
type lineRow struct{ Text, Period, Total string }

func linesOf(w web.Words, i projections.Invoice) (rows []lineRow) {
	for _, l := range i.Lines {
		row := lineRow{Text: l.Text, Total: w.Money(l.Total, i.Currency)}
		if !l.PeriodEnd.IsZero() {
			row.Period = w.Date(l.PeriodStart) + " – " + w.Date(l.PeriodEnd)
		}
		rows = append(rows, row)
	}
	return rows
}

func sumsOf(w web.Words, i projections.Invoice) []web.Aspect {
	return []web.Aspect{
		w.Moment(w["invoice_issued"], &i.CreatedAt, ""),
		{Name: w["invoice_subtotal"], Text: w.Money(i.Subtotal, i.Currency)},
		{Name: w["invoice_tax"] + " (" + i.TaxRate.String() + " %)", Text: w.Money(i.Tax, i.Currency)},
		{Name: w["invoice_total"], Text: w.Money(i.Total, i.Currency)},
	}
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
		web.Aspect{Name: w["invoice_email"], Text: i.CustomerEmail},
	)
}
