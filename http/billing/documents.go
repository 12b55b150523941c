package billing

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/texts"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Documents are those of invoices and credit notes, as they were stored once.
type Documents interface {
	// Document is a stored document of an invoice, by its number. It is refused with
	// [billing.ErrNotMade] until it is stored, with [billing.ErrDocumentErased] once its
	// key is destroyed, and with a conflict if the XML would break a rule.
	Document(ctx context.Context, invoice uuid.UUID, number, format string) ([]byte, error)
}

// A format is one in which a document can be had.
type format struct{ name, media string }

var formats = []format{{"html", "text/html"}, {"pdf", "application/pdf"}, {"xml", "application/xml"}}

// document declares the file of the record in a path.
func (s *documents) document(
	path, what string, find func(context.Context, route.Call) (invoice uuid.UUID, number string, err error),
) route.Route {
	r := route.File(path+"{id:uuid}/document/", what+" as a page, as a PDF, or as XML by EN 16931", func(
		ctx context.Context, c route.Call,
	) (*route.Document, error) {
		as, err := formatOf(c)
		if err != nil {
			return nil, err
		}
		invoice, number, err := find(ctx, c)
		if err != nil {
			return nil, err
		}
		body, err := s.documents.Document(ctx, invoice, number, as.name)
		if errors.Is(err, billing.ErrDocumentErased) {
			return nil, &route.Refusal{
				Status: http.StatusGone, Detail: billing.ErrDocumentErased.Message,
				Code: billing.ErrDocumentErased.Reason,
			}
		}
		if err != nil {
			return nil, err
		}
		return fileOf(number, as, body), nil
	})
	for _, one := range formats {
		r = r.Sending(one.media, nil)
	}
	return r.Caching(documentCache).
		Taking(field.Text("format", new(string)).Among("html", "pdf", "xml").Doc("Instead of the header Accept.")).
		Saying("In the language of the order. It was written once, and says what held when it was issued.").
		Failing(http.StatusNotAcceptable, "The header Accept names none of the formats.").
		Failing(http.StatusConflict, "The XML would break rules of EN 16931, which are named.").
		Failing(http.StatusGone, "The document was erased, when the legal period was over.").
		Failing(http.StatusServiceUnavailable, "The document is being made.")
}

const documentCache = "private, no-store"

// formatOf is the format that the caller asks for, by its name or by Accept.
func formatOf(c route.Call) (format, error) {
	if name := c.Param("format"); name != "" {
		i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
		if i < 0 {
			return format{}, &route.Refusal{Status: http.StatusNotFound, Detail: "Not found.", Slug: "not_found"}
		}
		return formats[i], nil
	}
	media, err := c.Preferred(formats[0].media, formats[1].media, formats[2].media)
	return formats[max(slices.IndexFunc(formats, func(f format) bool { return f.media == media }), 0)], err
}

// documentPolicy lets a page have its own style and nothing else.
const documentPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

func fileOf(number string, as format, body []byte) *route.Document {
	file := &route.Document{Type: as.media, Body: body, Header: http.Header{
		"Content-Disposition": {`attachment; filename="` + number + "." + as.name + `"`},
	}}
	if as.name == "html" {
		file.Type += "; charset=utf-8"
		file.Header.Set("Content-Disposition", `inline; filename="`+number+`.html"`)
		file.Header.Set("Content-Security-Policy", documentPolicy)
	}
	return file
}

func (s *documents) invoiceDocument(ctx context.Context, c route.Call) (uuid.UUID, string, error) {
	i, err := s.callers.Scope(c).Billing().Invoice(ctx, c.UUID("id"))
	return i.ID, i.Number, err
}

func (s *documents) creditNoteDocument(ctx context.Context, c route.Call) (uuid.UUID, string, error) {
	n, err := s.callers.Scope(c).Billing().CreditNote(ctx, c.UUID("id"))
	return n.InvoiceID, n.Number, err
}

// saidBy is what the document of an invoice says, without how it was paid.
func saidBy(i projections.Invoice) document.Document {
	var terms document.Terms
	if i.DueAt != nil {
		terms.Due = *i.DueAt
	}
	d := document.OfInvoice(billing.InvoiceIssued{
		Name: i.CustomerName, Email: i.CustomerEmail, Company: i.CustomerCompany, Details: i.Details(), Seller: i.Seller, Lines: i.Lines,
		Total: i.Total, Subtotal: i.Subtotal, Tax: i.Tax, TaxRate: i.TaxRate, Treatment: i.Treatment,
		Currency: i.Currency, Status: i.Status, At: i.CreatedAt,
	}, terms)
	d.Number = i.Number
	return d
}

// methodName is a payment method as customers read it.
func methodName(offers order.Offers, language, name string) string {
	if slices.Contains(billing.ManualMethods, name) {
		return texts.Say(language, "documents.method_"+name)
	}
	return offers.Called(language, name)
}
