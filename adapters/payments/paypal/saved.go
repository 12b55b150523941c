package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// What PayPal is asked for where the customer agrees that the method is kept.
type (
	attributes struct {
		Vault keeping `json:"vault"`
	}
	keeping struct {
		When    string `json:"store_in_vault"`
		Usage   string `json:"usage_type"`
		Several bool   `json:"permit_multiple_payment_tokens"` // else two customers who share an account at PayPal share a method
	}
)

// A vault is the method that PayPal keeps, as an order shows it, or PayPal by itself.
type vault struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Customer owner  `json:"customer"`
}

// tokens are PayPal's ids of methods. They go into addresses.
var tokens = regexp.MustCompile(`^[0-9A-Za-z_-]{1,255}$`)

// saved is the method that PayPal keeps; nil: none, or not yet. PayPal may keep it some time
// after the payment (APPROVED). It then has no id until a webhook tells of it.
func (v vault) saved() *order.SavedMethod {
	if !tokens.MatchString(v.ID) || v.Status != "VAULTED" && v.Status != "" {
		return nil
	}
	s := &order.SavedMethod{Token: v.ID, Kind: "paypal"}
	if tokens.MatchString(v.Customer.ID) {
		s.Customer = v.Customer.ID
	}
	return s
}

// keep tells of each payment which method was kept with it.
func (c checkout) keep(list []order.Payment) {
	for i := range list {
		if list[i].State == order.StatePaid {
			list[i].Saved = c.Source.PayPal.Attributes.Vault.saved()
		}
	}
}

// Forget removes a method at PayPal. One that PayPal does not have is a success.
func (p *Provider) Forget(ctx context.Context, s order.SavedMethod) error {
	q := question{what: "forget a method", method: http.MethodDelete, path: methodsPath + "/" + s.Token}
	if !tokens.MatchString(s.Token) {
		return domain.Fail(domain.Permanent, "no_such_method", fmt.Errorf("%s: not an id of PayPal's", q.what))
	}
	err := p.ask(ctx, q, nil)
	if no, refused := errors.AsType[*refusal](err); refused && no.gone() {
		return nil
	}
	return classed(q, err)
}
