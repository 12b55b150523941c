package billing

import (
	"bytes"
	"context"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/texts"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// What an operator's books need of invoices (docs/invoices.md, "Books").

func (s *books) routes() []route.Route {
	return []route.Route{
		route.List(prefix+
			"totals/", "What was billed, by month and currency, latest first", s.totals).As("invoice_totals").For(s.callers.Superuser()),
		route.File(prefix+
			"books/", "The invoices, credit notes and booked payments of a month, in their order",
			s.books).As("invoice_books").For(s.callers.Superuser()).
			Sending("text/csv", nil).Caching(documentCache).
			Taking(field.Text("month", new(string)).Doc("Of issue, in UTC, such as 2026-11; that of today when absent.")).
			Failing(http.StatusBadRequest, "The month is none."),
	}
}

func (s *books) totals(ctx context.Context, c route.Call) ([]projections.InvoiceTotal, error) {
	return s.callers.Scope(c).Billing().InvoiceTotals(ctx)
}

const monthForm = "2006-01"

// bookHead names the columns of the books. Further ones come after these.
var bookHead = []string{
	"kind", "number", "issued_at", "due_at", "paid_at", "status", "payment_method", "reference", "of_invoice", "order", "tenant",
	"customer_name", "customer_company", "customer_country", "customer_tax_id", "subtotal", "tax_rate", "tax", "total", "currency",
}

func (s *books) books(ctx context.Context, c route.Call) (*route.Document, error) {
	month := s.callers.Now().UTC().Format(monthForm)
	if asked := c.Param("month"); asked != "" {
		month = asked
	}
	from, err := time.Parse(monthForm, month)
	if err != nil {
		return nil, domain.RefuseField("month", "Enter a month such as 2026-11.")
	}
	rows, err := s.callers.Scope(c).Billing().Booked(ctx, from, from.AddDate(0, 1, 0))
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	_ = w.Write(bookHead) // into memory
	for _, b := range rows {
		_ = w.Write(bookLine(b))
	}
	w.Flush()
	return &route.Document{Type: "text/csv; charset=utf-8", Body: body.Bytes(), Header: http.Header{
		"Content-Disposition": {`attachment; filename="books-` + from.Format(monthForm) + `.csv"`},
	}}, w.Error()
}

// bookLine is an entry as the books show it. Credit notes, payouts and reversed payments
// have amounts below zero.
func bookLine(b projections.BookDocument) []string {
	sign, order := decimal.NewFromInt(1), ""
	if b.OfInvoice != "" {
		sign = decimal.NewFromInt(-1)
	}
	if b.OrderID != nil {
		order = b.OrderID.String()
	}
	amount := func(d decimal.Decimal) string { return d.Mul(sign).StringFixed(2) }
	line := []string{
		b.Kind, b.Number, stamp(&b.CreatedAt), stamp(b.DueAt), stamp(b.PaidAt), b.Status, b.PaymentMethod, b.Reference,
		b.OfInvoice, order, strconv.FormatInt(b.Tenant, 10),
		b.CustomerName, b.CustomerCompany, b.CustomerCountry, b.CustomerTaxID,
	}
	for i, text := range line {
		line[i] = texts.Cell(text)
	}
	return slices.Concat(line, []string{amount(b.Subtotal), b.TaxRate.StringFixed(2), amount(b.Tax), amount(b.Total), b.Currency})
}

// stamp is a moment of the books; "": there is none.
func stamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
