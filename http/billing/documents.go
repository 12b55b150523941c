package billing

import (
	"context"
	"net/http"
	"slices"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/field"
	"hostpanel/domain/texts"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Documents write invoices and credit notes for people.
type Documents struct {
	HTML, PDF func(document.Document) ([]byte, error)
}

// A format is one in which a document can be had.
type format struct {
	name, media string
	write       func(document.Document) ([]byte, error)
}

func (s *handlers) formats() []format {
	return []format{{"html", "text/html", s.Documents.HTML}, {"pdf", "application/pdf", s.Documents.PDF}, {"xml", "application/xml", document.XML}}
}

// document declares the file of the record in a path.
func (s *handlers) document(path, what string, find func(context.Context, route.Call) (document.Document, error)) route.Route {
	r := route.File(path+"{id:uuid}/document/", what+" as a page, as a PDF, or as XML by EN 16931", func(ctx context.Context, c route.Call) (*route.Document, error) {
		as, err := s.formatOf(c)
		if err != nil {
			return nil, err
		}
		d, err := find(ctx, c)
		if err != nil {
			return nil, err
		}
		return written(d, as)
	})
	for _, one := range s.formats() {
		r = r.Sending(one.media, nil)
	}
	return r.Caching(documentCache).
		Taking(field.Text("format", new(string)).Among("html", "pdf", "xml").Doc("Instead of the header Accept.")).
		Saying("In the language of the order. Each call makes it anew.").
		Failing(http.StatusNotAcceptable, "The header Accept names none of the formats.").
		Failing(http.StatusConflict, "The XML would break rules of EN 16931, which are named.")
}

const documentCache = "private, no-store"

// formatOf is the format that the caller asks for, by its name or by Accept.
func (s *handlers) formatOf(c route.Call) (format, error) {
	all := s.formats()
	if name := c.Param("format"); name != "" {
		i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
		if i < 0 {
			return format{}, &route.Refusal{Status: http.StatusNotFound, Detail: "Not found.", Slug: "not_found"}
		}
		return all[i], nil
	}
	media, err := c.Preferred(all[0].media, all[1].media, all[2].media)
	return all[max(slices.IndexFunc(all, func(f format) bool { return f.media == media }), 0)], err
}

// documentPolicy lets a page have its own style and nothing else.
const documentPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

func written(d document.Document, as format) (*route.Document, error) {
	body, err := as.write(d)
	if err != nil {
		return nil, err
	}
	file := &route.Document{Type: as.media, Body: body, Header: http.Header{
		"Content-Disposition": {`attachment; filename="` + d.Number + "." + as.name + `"`},
	}}
	if as.name == "html" {
		file.Type += "; charset=utf-8"
		file.Header.Set("Content-Disposition", `inline; filename="`+d.Number+`.html"`)
		file.Header.Set("Content-Security-Policy", documentPolicy)
	}
	return file, nil
}

func (s *handlers) invoiceDocument(ctx context.Context, c route.Call) (document.Document, error) {
	i, err := s.Scope(c).Invoice(ctx, c.UUID("id"))
	if err != nil {
		return document.Document{}, err
	}
	return s.documentOf(ctx, c, i)
}

// documentOf is what an invoice says. The read table has what its event says, and whether
// it was paid since.
func (s *handlers) documentOf(ctx context.Context, c route.Call, i projections.Invoice) (document.Document, error) {
	bought, err := s.System().Order(ctx, i.OrderID)
	if err != nil {
		return document.Document{}, err
	}
	terms := document.Terms{Language: bought.Language, Order: bought.OrderNumber}
	if i.DueAt != nil {
		terms.Due = *i.DueAt
	}
	if i.Status == billing.Paid {
		terms.Method = s.methodName(bought.Language, methodOf(i, bought))
	}
	d := document.OfInvoice(billing.InvoiceIssued{
		Name: i.CustomerName, Email: i.CustomerEmail, Company: i.CustomerCompany, Details: i.Details(), Seller: i.Seller, Lines: i.Lines,
		Total: i.Total, Subtotal: i.Subtotal, Tax: i.Tax, TaxRate: i.TaxRate, Treatment: i.Treatment, Currency: i.Currency, Status: i.Status, At: i.CreatedAt,
	}, terms)
	d.Number = i.Number
	if d.Withdrawn {
		notes, err := s.Scope(c).CreditNotesOfInvoice(ctx, i.ID)
		if err != nil {
			return d, err
		}
		for _, n := range notes {
			d.Reason = texts.Say(d.Language, "documents.withdrawn_by", "number", n.Number)
		}
	}
	return d, nil
}

// methodOf is how an invoice was paid: the first one of an order with that order.
func methodOf(i projections.Invoice, bought projections.Order) string {
	if i.ID == bought.ID {
		return bought.PaymentMethod
	}
	return i.PaymentMethod
}

// methodName is a payment method as customers read it.
func (s *handlers) methodName(language, name string) string {
	if slices.Contains(manualMethods, name) {
		return texts.Say(language, "documents.method_"+name)
	}
	offer, _ := s.Offers.Configured(name)
	if texts.Spoken(language) == texts.English {
		return offer.Label.EN
	}
	return offer.Label.ES
}

func (s *handlers) creditNoteDocument(ctx context.Context, c route.Call) (document.Document, error) {
	n, err := s.Scope(c).CreditNote(ctx, c.UUID("id"))
	if err != nil {
		return document.Document{}, err
	}
	i, err := s.Scope(c).Invoice(ctx, n.InvoiceID)
	if err != nil {
		return document.Document{}, err
	}
	of, err := s.documentOf(ctx, c, i)
	if err != nil {
		return of, err
	}
	reason := ""
	if of.Withdrawn {
		reason = texts.Say(of.Language, "documents.withdrawn_"+n.Refund)
	}
	d := document.OfCreditNote(billing.CreditNoteIssued{
		Total: n.Total, Subtotal: n.Subtotal, Tax: n.Tax, TaxRate: n.TaxRate, Currency: n.Currency, At: n.CreatedAt,
	}, of, reason)
	d.Number = n.Number
	return d, nil
}
