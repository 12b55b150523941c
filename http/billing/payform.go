package billing

import (
	"context"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// payForm is the form of an open invoice that leads to the page of the provider.
const payForm = "pay_invoice"

// waysToPay are the methods by which an open invoice can be paid: test money pays for what
// was bought with test money alone.
func (s *invoices) waysToPay(i projections.Invoice) (ways order.Offers) {
	if i.Status != billing.Open {
		return nil
	}
	for _, o := range s.offers {
		_, takes := o.Charge(i.AmountDue, i.Currency)
		if o.Configured && takes && o.Live != billing.IsTest(i.Number) {
			ways = append(ways, o)
		}
	}
	return ways
}

// payFormOf asks for the method only if there is a choice; nil: the invoice is not for the
// reader to pay, or there is no way to.
func (s *invoices) payFormOf(c route.Call, i *invoice, ways order.Offers, back *web.Returned) *web.Form {
	isBack := back != nil && back.Form == payForm
	if !i.mayPay || len(ways) == 0 && !isBack {
		return nil
	}
	f := web.Form{Name: payForm, Action: c.Path}
	if len(ways) > 1 {
		method := web.Input{Name: "payment_method", Type: "select", Required: true}
		for _, o := range ways {
			method.Options = append(method.Options, web.Option{Value: o.Name, Text: methodName(s.offers, web.Readers(c), o.Name)})
		}
		f.Inputs = []web.Input{method}
	} else if len(ways) == 1 {
		f.Inputs = []web.Input{{Name: "payment_method", Type: "hidden", Value: ways[0].Name}}
	}
	if caller.Of(c).Person() != uuid.Nil && slices.ContainsFunc(ways, func(o order.Offer) bool { return o.Saves }) {
		f.Inputs = append(f.Inputs, web.Input{Name: "save_payment_method", Type: "check"})
	}
	f = s.web.Fill(c, f, back)
	return &f
}

// payByForm sends the reader to the page of the provider. A repeat leads to the same page.
func (s *invoices) payByForm(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if _, err := s.invoice(ctx, c); err != nil {
		return nil, err
	}
	var asked payment
	if err := web.DecodeForm(&asked, sent); err != nil {
		return nil, err
	}
	placed, err := s.pay(ctx, c, &asked)
	if err != nil {
		return nil, err
	}
	return web.SeeOther(placed.PaymentURL), nil
}

// invoiceDesk is the page of an invoice with the forms of operators.
func (s *invoices) invoiceDesk() web.ActPage[*invoice] {
	isOpen := func(i *invoice) bool { return i.isOperator && i.Status == billing.Open }
	return web.ActPage[*invoice]{
		Web: s.web, Find: s.invoice, Show: s.showInvoice,
		Acts: []web.Act[*invoice]{
			{Name: "book_payment", IsOpen: isOpen, Inputs: asking(new(receipt)), Do: web.Pressed(byOperators(s.book))},
			{Name: "mark_paid", IsOpen: isOpen, Inputs: asking(new(settlement)), Do: web.Pressed(byOperators(s.markPaid))},
			{Name: "waive_invoice", IsOpen: isOpen, Grave: true, Inputs: asking(new(waiver)), Do: web.Pressed(byOperators(s.waive))},
		},
	}
}

// book books a payment that has arrived without a provider.
func (s *invoices) book(ctx context.Context, c route.Call, i *invoice, p *receipt) error {
	payment, err := p.of(i.Account(), s.callers.Now())
	if err == nil {
		_, err = s.subscriptions.Book(ctx, c.Cause(), payment)
	}
	return err
}

// asking are the inputs for the fields of a request.
func asking[Q field.Record](q Q) func(*invoice) []web.Input {
	return func(*invoice) []web.Input { return web.RecordInputs(q.Fields(), field.Create) }
}

// byOperators refuses all but superusers.
func byOperators[Q any](do func(context.Context, route.Call, *invoice, Q) error) func(context.Context, route.Call, *invoice, Q) error {
	return func(ctx context.Context, c route.Call, i *invoice, q Q) error {
		if !i.isOperator {
			return route.NoPermission
		}
		return do(ctx, c, i, q)
	}
}
