package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
)

// What PayPal is asked for (rule P-3).
type (
	newCheckout struct {
		Intent string    `json:"intent"`
		Units  []newUnit `json:"purchase_units"`
		Source *source   `json:"payment_source,omitempty"` // nil: nothing is paid yet, with nothing
	}
	newUnit struct {
		Kind        string `json:"reference_id,omitempty"`
		Reference   string `json:"custom_id"`
		Number      string `json:"invoice_id"`
		Description string `json:"description,omitempty"`
		Amount      amount `json:"amount"`
	}
	source struct {
		PayPal struct {
			Experience experience  `json:"experience_context"`
			Attributes *attributes `json:"attributes,omitempty"`
		} `json:"paypal"`
	}
	experience struct {
		Return   string `json:"return_url"`
		Cancel   string `json:"cancel_url"`
		Locale   string `json:"locale,omitempty"`
		Shipping string `json:"shipping_preference"`
		Action   string `json:"user_action"`
	}
)

const (
	longest     = 127                          // characters of a description
	sessionLife = 24*time.Hour - 5*time.Minute // of one that says nothing else
)

var locales = map[string]string{"en": "en-US", "es": "es-ES"}

// OpenSession makes an order at PayPal and returns the page where the customer
// agrees to pay it. The same effect key answers with the same one, for as long
// as PayPal remembers it: six hours. With a saved method there is no page: the
// session is a charge. An account that may not keep methods gets a page all the
// same, on which none is kept.
func (p *Provider) OpenSession(ctx context.Context, c order.Checkout) (order.Session, error) {
	s, err := p.open(ctx, c)
	if no, refused := errors.AsType[*refusal](err); c.Save && refused && no.says(notKept) {
		c.Save, c.EffectKey = false, c.EffectKey+"/unsaved"
		return p.OpenSession(ctx, c)
	}
	return s, err
}

func (p *Provider) open(ctx context.Context, c order.Checkout) (order.Session, error) {
	q := question{what: "create order", method: http.MethodPost, path: "/v2/checkout/orders", key: c.EffectKey}
	due, err := amountOf(c.Minor, c.Currency)
	if err != nil {
		return order.Session{}, domain.Fail(domain.Permanent, "amount", fmt.Errorf("%s: %w", q.what, err))
	}
	q.body = asked(c, due)
	var made checkout
	if err := classed(q, p.ask(ctx, q, &made)); err != nil {
		return order.Session{}, err
	}
	page := pageOf(made.Links)
	if c.Saved != nil {
		page = "" // PayPal has one, which the customer is never sent to
	}
	if !ids.MatchString(made.ID) || page == "" && c.Saved == nil {
		return order.Session{}, unclear(q, errors.New("the answer has no order, or no page for it"))
	}
	expires := c.ExpiresAt
	if expires.IsZero() {
		expires = clock.Now().Add(sessionLife)
	}
	return order.Session{ID: made.ID, URL: page, ExpiresAt: expires, Payee: made.payee()}, nil
}

func asked(c order.Checkout, due amount) newCheckout {
	ask := newCheckout{Intent: "CAPTURE", Units: []newUnit{{
		Reference: told(c.Order.String(), c.Installation), Number: c.Number, Description: shortened(c.Description), Amount: due,
	}}}
	if c.Saved != nil {
		ask.Units[0].Kind = chargeKind
		return ask
	}
	ask.Source = &source{}
	ask.Source.PayPal.Experience = experience{
		Return: c.ReturnURL, Cancel: c.CancelURL, Locale: locales[c.Language], Shipping: "NO_SHIPPING", Action: "PAY_NOW",
	}
	if c.Save {
		ask.Source.PayPal.Attributes = &attributes{Vault: keeping{When: "ON_SUCCESS", Usage: "MERCHANT", Several: true}}
	}
	return ask
}

func shortened(text string) string {
	if letters := []rune(text); len(letters) > longest {
		return string(letters[:longest])
	}
	return text
}

// payee is the account that PayPal will pay: ours, as we named no other.
func (c checkout) payee() string {
	if len(c.Units) == 0 {
		return ""
	}
	return c.Units[0].Payee.Merchant
}

// pageOf is where the customer is sent. PayPal has two names for it.
func pageOf(links []link) string {
	for _, l := range links {
		if l.Rel == "payer-action" || l.Rel == "approve" {
			return l.Href
		}
	}
	return ""
}

// ExpireSession has nothing to do: PayPal ends its orders itself, and what the
// customer agrees to is not paid until it is captured. The panel captures
// nothing for an order that is over.
func (p *Provider) ExpireSession(context.Context, string) error { return nil }

// Capture takes what the customer agreed to pay. What has been captured
// already is a success. That it worked says nothing about the money: a capture
// may be pending, or declined; Fetch tells.
func (p *Provider) Capture(ctx context.Context, c order.CaptureCall) error {
	if c.Saved != nil {
		return p.charge(ctx, c)
	}
	q := question{
		what: "capture", method: http.MethodPost, path: "/v2/checkout/orders/" + c.Session + "/capture", key: c.Key,
		body: struct{}{},
	}
	if !ids.MatchString(c.Session) {
		return noSuch(q)
	}
	var taken checkout
	err := p.ask(ctx, q, &taken)
	if no, refused := errors.AsType[*refusal](err); refused && no.says(alreadyCaptured) {
		return nil
	}
	return classed(q, err)
}

// noSuch is the failure of a call about something that cannot be PayPal's. Ids
// may come from a webhook, and are part of an address.
func noSuch(q question) error {
	return domain.Fail(domain.Permanent, "no_such_session", fmt.Errorf("%s: not an id of PayPal's", q.what))
}
