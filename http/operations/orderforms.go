package operations

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// An act is what an operator may do with an order by a form of its page. The form has
// the fields of the call of the API with this name, and does the same.
type act struct {
	name   string
	isOpen func(*orderDetail) bool // whether the state of the order may allow it
	grave  bool
	asks   bool // for the password
	inputs func(*orderDetail) []web.Input
	do     func(context.Context, route.Call, *orderDetail, url.Values) error
}

// acts are all of them, in the order of the page.
func (s *orders) acts() []act {
	return []act{
		{name: "retry", isOpen: hasFailed, inputs: optionalReason, do: pressed(s.retryOrder)},
		{name: "skip_step", isOpen: hasFailed, inputs: skipInputs, do: pressed(s.skipStep)},
		{name: "accept", isOpen: isHeldFor(order.MismatchHold), inputs: reasonInput, do: pressed(s.acceptPayment)},
		{name: "recheck", isOpen: always, inputs: optionalReason, do: pressed(s.recheckOrder)},
		{name: "resend_mail", isOpen: isIn(order.StatusActive), inputs: optionalReason, do: pressed(s.resendMail)},
		{name: "refund", isOpen: hasPaid, grave: true, asks: true, inputs: refundInputs, do: pressed(s.refundOrder)},
		{name: "cancel", isOpen: isLive, grave: true, inputs: reasonInput, do: pressed(s.cancelOrder)},
		{name: "end_grace", isOpen: isIn(order.StatusCancelled, order.StatusRefunded), grave: true, inputs: reasonInput, do: pressed(s.endGrace)},
	}
}

// pressed decodes a form and carries it out.
func pressed[Q any, PQ interface {
	*Q
	field.Record
}](do func(context.Context, route.Call, *orderDetail, PQ) error) func(context.Context, route.Call, *orderDetail, url.Values) error {
	return func(ctx context.Context, c route.Call, o *orderDetail, sent url.Values) error {
		wanted := PQ(new(Q))
		if err := web.DecodeForm(wanted, sent); err != nil {
			return err
		}
		return do(ctx, c, o, wanted)
	}
}

func always(*orderDetail) bool { return true }

func hasFailed(o *orderDetail) bool { return o.FailedStep != "" }

func hasPaid(o *orderDetail) bool { return o.PaymentID != "" && o.PaymentStatus == "paid" }

func isLive(o *orderDetail) bool {
	return !isIn(order.StatusCancelled, order.StatusRefunded)(o)
}

func isIn(statuses ...order.Status) func(*orderDetail) bool {
	return func(o *orderDetail) bool { return slices.Contains(statuses, o.Status) }
}

func isHeldFor(hold order.Hold) func(*orderDetail) bool {
	return func(o *orderDetail) bool { return slices.Contains(o.Holds, hold) }
}

func reasonInput(*orderDetail) []web.Input {
	return []web.Input{{Name: "reason", Required: true, Autocomplete: "off", Long: reasonMost}}
}

func optionalReason(*orderDetail) []web.Input {
	return []web.Input{{Name: "reason", Autocomplete: "off", Long: reasonMost}}
}

func skipInputs(o *orderDetail) []web.Input {
	return append([]web.Input{
		{Name: "step", Value: o.FailedStep, Type: "hidden"},
		{Name: "external_id", Autocomplete: "off", Long: 200, Plain: true},
	}, reasonInput(o)...)
}

func refundInputs(o *orderDetail) []web.Input {
	return append([]web.Input{{Name: "amount", Autocomplete: "off", Long: 20, Plain: true}}, reasonInput(o)...)
}

// orderDesk is the page of an order with its forms.
func (s *orders) orderDesk() web.FormPage {
	page := web.FormPage{Show: s.showOrder, Forms: map[string]web.FormHandler{}}
	for _, a := range s.acts() {
		page.Forms[a.name] = s.carryOut(a)
	}
	return page
}

// carryOut does what a form asks for, once, and shows the page again.
func (s *orders) carryOut(a act) web.FormHandler {
	return func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
		o, err := s.orderFile(ctx, c, c.UUID("uuid"))
		if err != nil {
			return nil, err
		}
		if a.asks {
			if err := s.AskUnlessFresh(ctx, c, sent); err != nil {
				return nil, err
			}
		}
		if err := a.do(ctx, s.once(c, sent.Get("number")), o, sent); err != nil && !isRepeated(err) {
			return nil, err
		}
		d := s.Done(notice.OrderPage(o.ID), a.name)
		if a.asks {
			s.RenewUnlessFresh(ctx, c, d)
		}
		return d, nil
	}
}

// An actForm is a form of the page with its heading.
type actForm struct {
	Title, About string
	Form         web.Form
}

// actForms are the forms for what the state of the order may allow. What it forbids
// after all is said at the form.
func (s *orders) actForms(c route.Call, o *orderDetail, back *web.Returned) (all []actForm) {
	w := web.Texts[web.Readers(c)]
	for _, a := range s.acts() {
		if !a.isOpen(o) && (back == nil || back.Form != a.name) {
			continue
		}
		f := web.Form{Name: a.name, Action: notice.OrderPage(o.ID), IsGrave: a.grave, Inputs: a.inputs(o)}
		if a.asks {
			f.Inputs = append(f.Inputs, s.PasswordInputs(c)...)
		}
		f.Inputs = append(f.Inputs, web.Input{Name: "number", Type: "hidden", Value: rand.Text()})
		all = append(all, actForm{w["act_"+a.name], w["act_"+a.name+"_about"], s.Fill(c, f, back)})
	}
	return all
}
