package paypal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain/order"
)

// Fetch reads what PayPal holds for true about an order of its own. One that it
// does not have any more is expired: PayPal forgets unpaid orders.
func (p *Provider) Fetch(ctx context.Context, session string) (order.Fetched, error) {
	if id, is := setupOf(session); is {
		return p.fetchSetup(ctx, id)
	}
	q := question{what: "get order", method: http.MethodGet, path: "/v2/checkout/orders/" + session}
	if !ids.MatchString(session) {
		return order.Fetched{}, noSuch(q)
	}
	var held checkout
	err := p.ask(ctx, q, &held)
	if no, refused := errors.AsType[*refusal](err); refused && no.missing() {
		return order.Fetched{Provider: p.Name(), Session: session, State: order.SessionExpired, ByCapture: true, Live: p.Live()}, nil
	}
	if err != nil {
		return order.Fetched{}, classed(q, err)
	}
	f, err := held.fetched()
	if err != nil || held.ID != session {
		return order.Fetched{}, unclear(q, cmp.Or(err, errors.New("the answer is another order")))
	}
	f.Provider, f.Session, f.Live = p.Name(), session, p.Live()
	return f, nil
}

func (c checkout) fetched() (order.Fetched, error) {
	f := order.Fetched{ByCapture: true}
	var known bool
	if f.State, known = sessions[c.Status]; !known || len(c.Units) == 0 {
		return f, errors.New("an order of a status, or a shape, that is not known")
	}
	f.Order = orderOf(c.Units[0].Reference)
	if c.charges() {
		f.State = c.charged(f.State)
	}
	for _, u := range c.Units {
		paid, err := u.paid()
		if err != nil {
			return f, err
		}
		f.Payments = append(f.Payments, paid...)
	}
	if len(f.Payments) > 0 {
		c.keep(f.Payments)
		return f, nil
	}
	if f.State == order.SessionApproved || c.charges() && f.State == order.SessionComplete {
		agreed, err := c.agreed()
		if err != nil {
			return f, err
		}
		if f.State == order.SessionComplete {
			agreed.State, agreed.Code = order.StateFailed, c.refusal()
		}
		f.Payments = []order.Payment{agreed}
	}
	return f, nil
}

// agreed is what the customer has agreed to pay and is not captured: it has no
// id yet, and its time is that of the agreement (rule P-8).
func (c checkout) agreed() (order.Payment, error) {
	u := c.Units[0]
	minor, err := u.Amount.minor()
	at := c.Updated
	if at.IsZero() {
		at = c.Created
	}
	return order.Payment{State: order.StateCreated, Minor: minor, Currency: u.Amount.Currency, Payee: u.Payee.Merchant, At: at}, err
}

// paid are the payments of a purchase, each with what was given back of it.
func (u unit) paid() ([]order.Payment, error) {
	var list []order.Payment
	for _, c := range u.Payments.Captures {
		state, known := paymentStates[c.Status]
		minor, err := c.Amount.minor()
		if err != nil || !known || !ids.MatchString(c.ID) {
			return nil, cmp.Or(err, fmt.Errorf("a capture of a status, or an id, that is not known"))
		}
		list = append(list, order.Payment{
			ID: c.ID, State: state, Minor: minor, Currency: c.Amount.Currency, Payee: u.Payee.Merchant, Code: c.why(), At: c.Created,
		})
	}
	for _, r := range u.Payments.Refunds {
		reference, _ := parted(u.Reference)
		back, err := r.given(reference)
		if err != nil {
			return nil, err
		}
		if of := r.of(list); of >= 0 {
			list[of].Refunds = append(list[of].Refunds, back)
		}
	}
	return list, nil
}

// of finds the payment that a refund is of: the one that it names, or the only
// one there is.
func (r refund) of(list []order.Payment) int {
	for i, p := range list {
		if p.ID == captured(r.Links) {
			return i
		}
	}
	return len(list) - 1
}

// given is a refund as the order should know it.
func (r refund) given(reference string) (order.Refund, error) {
	state, known := refundStates[r.Status]
	minor, err := r.Amount.minor()
	if err != nil || !known || !ids.MatchString(r.ID) {
		return order.Refund{}, cmp.Or(err, errors.New("a refund of a status, or an id, that is not known"))
	}
	return order.Refund{
		ID: r.ID, State: state, Minor: minor, Currency: r.Amount.Currency, Reference: r.ours(reference), At: r.Created.In(time.UTC),
	}, nil
}

// ours is our reference of a refund: PayPal keeps it as a reference of the
// refund and, shortened, as the number on it. A refund without one takes over
// those of the payment.
func (r refund) ours(unit string) string {
	own, _ := parted(r.Reference)
	if reference := readBack(own); numbered.MatchString(reference) {
		return reference
	}
	if _, n, found := strings.Cut(r.Number, refundMark); found {
		if reference := "order/" + unit + "/refund/" + n; numbered.MatchString(reference) {
			return reference
		}
	}
	return ""
}
