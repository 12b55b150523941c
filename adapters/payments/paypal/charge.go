package paypal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// A charge is an order at PayPal that the customer does not see. It is made without a method
// and captured with one, so that money moves in the second call alone.

const (
	chargeKind  = "charge"    // reference of its purchase unit
	refusedMark = ".refused." // in its custom_id: why PayPal refused to capture it
)

// What PayPal is asked for to charge a saved method while the customer is away.
type (
	capturing struct {
		Source savedSource `json:"payment_source"`
	}
	savedSource struct {
		PayPal struct {
			Vault      string     `json:"vault_id"`
			Credential credential `json:"stored_credential"`
		} `json:"paypal"`
	}
	credential struct {
		Initiator string `json:"payment_initiator"`
		Usage     string `json:"usage"`
		Pattern   string `json:"usage_pattern"`
	}
)

// charges tells whether this is a charge.
func (c checkout) charges() bool { return len(c.Units) > 0 && c.Units[0].Kind == chargeKind }

// charged is how far a charge is: the customer has agreed to it before it was made. One that
// waits for the customer is over, as no page leads to it.
func (c checkout) charged(state order.SessionState) order.SessionState {
	switch {
	case state != order.SessionOpen && state != order.SessionApproved:
		return state
	case c.refusal() != "":
		return order.SessionComplete
	}
	return order.SessionApproved
}

// refusal is why a charge was not captured; "": it may be.
func (c checkout) refusal() string {
	if _, why, marked := strings.Cut(c.Units[0].Reference, refusedMark); marked {
		return why
	}
	if c.Status == "PAYER_ACTION_REQUIRED" {
		return order.NeedsCustomer
	}
	return ""
}

// why is the reason of a capture that came to nothing.
func (c capture) why() string {
	if paymentStates[c.Status] != order.StateFailed {
		return ""
	}
	if reasons.MatchString(c.Details.Reason) {
		return strings.ToLower(c.Details.Reason)
	}
	return "declined"
}

// charge captures an order with a saved method. What PayPal refuses is final.
func (p *Provider) charge(ctx context.Context, c order.CaptureCall) error {
	q := question{what: "charge", method: http.MethodPost, path: "/v2/checkout/orders/" + c.Session + "/capture", key: c.Key}
	switch {
	case !ids.MatchString(c.Session):
		return noSuch(q)
	case !tokens.MatchString(c.Saved.Token):
		return domain.Fail(domain.Permanent, order.MethodGone, fmt.Errorf("%s: the method has no id of PayPal's", q.what))
	}
	var body capturing
	body.Source.PayPal.Vault = c.Saved.Token
	body.Source.PayPal.Credential = credential{Initiator: "MERCHANT", Usage: "SUBSEQUENT", Pattern: "RECURRING_PREPAID"}
	q.body = body
	var taken checkout
	err := p.ask(ctx, q, &taken)
	if no, refused := errors.AsType[*refusal](err); refused {
		return p.refused(ctx, q, c, no)
	}
	if err != nil {
		return err
	}
	return taken.verdict(q)
}

// refused makes a refusal final, and has PayPal's order tell it: PayPal itself keeps no trace
// of a capture that it refused. What may change without us (credentials, limits, no answer)
// is no refusal of the charge.
func (p *Provider) refused(ctx context.Context, q question, c order.CaptureCall, no *refusal) error {
	failed := no.failure(q)
	switch {
	case no.says(alreadyCaptured):
		return nil
	case no.status == http.StatusUnauthorized, domain.ClassOf(failed) != domain.Permanent && !notYet[no.issue]:
		return failed
	}
	code := no.code()
	reference := told(c.Order.String(), c.Installation) + refusedMark + code
	note := question{what: "note a refusal", method: http.MethodPatch, path: "/v2/checkout/orders/" + c.Session, body: []patch{{
		Op: "replace", Path: "/purchase_units/@reference_id=='" + chargeKind + "'/custom_id", Value: reference,
	}}}
	err := p.ask(ctx, note, nil)
	why, unnoted := errors.AsType[*refusal](err)
	switch {
	case unnoted && why.says(alreadyCompleted):
		return nil // another call has captured it; Fetch tells
	case unnoted && why.says(notFound):
		return noSuch(q) // what is gone is the order, not the method
	case err != nil && domain.ClassOf(classed(note, err)) != domain.Permanent:
		return classed(note, err) // the charge is looked up, and tried again
	}
	return domain.Fail(domain.Permanent, code, fmt.Errorf("%s: %w", q.what, no))
}

// A patch changes one field of an order.
type patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value"`
}

// verdict is what an answered charge means for the call that asked for it.
func (c checkout) verdict(q question) error {
	why := ""
	if c.Status == "PAYER_ACTION_REQUIRED" {
		why = order.NeedsCustomer
	}
	for _, u := range c.Units {
		for _, taken := range u.Payments.Captures {
			why = cmp.Or(why, taken.why())
		}
	}
	if why == "" {
		return nil
	}
	return domain.Fail(domain.Permanent, why, fmt.Errorf("%s: PayPal took nothing", q.what))
}

// Refusals of charges that the port has words for.
var (
	absent = map[string]bool{
		notFound: true, "TOKEN_ID_NOT_FOUND": true, "TOKEN_EXPIRED": true, "IDENTIFIER_NOT_FOUND": true,
		"BILLING_AGREEMENT_NOT_FOUND": true, "AGREEMENT_ALREADY_CANCELLED": true,
	}
	askPayer = map[string]bool{"PAYER_ACTION_REQUIRED": true, "ORDER_NOT_APPROVED": true, "REDIRECT_PAYER_FOR_ALTERNATE_FUNDING": true}
)

// gone tells whether PayPal does not keep the method any more.
func (r *refusal) gone() bool { return absent[r.issue] || absent[r.name] }

// code is the reason in the words of [order.Payment].
func (r *refusal) code() string {
	switch {
	case r.gone():
		return order.MethodGone
	case askPayer[r.issue]:
		return order.NeedsCustomer
	}
	return strings.ToLower(cmp.Or(r.issue, r.name, "refused"))
}
