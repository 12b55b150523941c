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
	"hostpanel/http/web"
	"hostpanel/projections"
)

// What an operator's books need of invoices (docs/invoices.md, "Books").

func (s *books) routes() []route.Route {
	return []route.Route{
		route.List(prefix+
			"totals/", "What was billed, by month and currency, latest first", s.totals).As("invoice_totals").For(s.callers.Superuser()),
		route.File(booksPath, "The invoices, credit notes and booked payments of a month, in their order",
			s.books).As("invoice_books").For(s.callers.Superuser()).
			Sending("text/csv", nil).Caching(documentCache).
			Taking(field.Text("month", new(string)).Doc("Of issue, in UTC, such as 2026-11; that of today when absent.")).
			Failing(http.StatusBadRequest, "The month is none."),
	}
}

// pages are the months of the books, each with its sums and the file of it.
func (s *books) pages() []route.Route {
	return []route.Route{
		web.ViewList(s.list(), web.BooksPath, "What was billed, by month").As("books_page").For(s.callers.SuperuserSession()),
	}
}

func (s *books) list() web.List[projections.InvoiceTotal] {
	return web.List[projections.InvoiceTotal]{
		Web: s.web, Name: "books", Fields: (*projections.InvoiceTotal).Fields, Cards: web.Cards{Title: "month"},
		Read: func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[projections.InvoiceTotal], error) {
			all, err := s.totals(ctx, c)
			from := min(len(all), int(l.Offset))
			return projections.Listed[projections.InvoiceTotal]{
				Count: int64(len(all)), Rows: all[from:min(len(all), from+int(l.Limit))],
			}, err
		},
		More: func(c route.Call, t *projections.InvoiceTotal, card *web.Card) {
			w := web.Texts[web.Readers(c)]
			card.Value = w.Money(t.Total, t.Currency)
			if t.Test {
				card.Badges = []web.Badge{{Text: w["credit_test"]}}
			}
			card.Note = []web.Aspect{{Name: w["books_invoices"], Text: strconv.FormatInt(t.Invoices, 10)}}
			for _, sum := range []struct {
				key    string
				amount decimal.Decimal
			}{
				{"books_tax", t.Tax},
				{"books_unpaid", t.Unpaid},
				{"books_credited", t.Credited},
				{"books_received", t.Received},
				{"books_paid_out", t.PaidOut},
			} {
				if !sum.amount.IsZero() {
					card.Note = append(card.Note, web.Aspect{Name: w[sum.key], Text: w.Money(sum.amount, t.Currency)})
				}
			}
			card.Note = append(card.Note, web.Aspect{Text: w["books_file"], Path: booksPath + "?month=" + t.Month.UTC().Format(monthForm)})
		},
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
