package paypaltest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Methods that are kept, and charges of them.

// An asking is the payment source of a new order.
type asking struct {
	PayPal struct {
		Vault      string `json:"vault_id"`
		Experience struct {
			Return string `json:"return_url"`
			Cancel string `json:"cancel_url"`
		} `json:"experience_context"`
		Attributes struct {
			Vault *struct {
				When    string `json:"store_in_vault"`
				Usage   string `json:"usage_type"`
				Several bool   `json:"permit_multiple_payment_tokens"`
			} `json:"vault"`
		} `json:"attributes"`
	} `json:"paypal"`
}

// askFor makes an order one that its customer is asked to pay. Without a source it waits for
// one.
func (p *PayPal) askFor(o *Order, ask *asking) *reply {
	if ask == nil {
		return nil
	}
	wallet := ask.PayPal
	if wallet.Vault != "" {
		no := refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE") // it would be captured at once
		return &no
	}
	if v := wallet.Attributes.Vault; v != nil {
		var no reply
		switch {
		case v.When != "ON_SUCCESS", v.Usage != "MERCHANT":
			no = refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
		case wallet.Experience.Return == "":
			no = unprocessable("RETURN_URL_REQUIRED")
		case p.vaulting == "":
			no = unprocessable("NOT_ENABLED_TO_VAULT_PAYMENT_SOURCE")
		default:
			o.Keeps = true
		}
		if !o.Keeps {
			return &no
		}
	}
	o.Status, o.ReturnURL, o.CancelURL = "PAYER_ACTION_REQUIRED", wallet.Experience.Return, wallet.Experience.Cancel
	return nil
}

// A savedSource is how a charge names its method.
type savedSource struct {
	Vault      string `json:"vault_id"`
	Credential struct {
		Initiator string `json:"payment_initiator"`
		Usage     string `json:"usage"`
	} `json:"stored_credential"`
}

func savedIn(body []byte) *savedSource {
	var ask struct {
		Source struct {
			PayPal *savedSource `json:"paypal"`
		} `json:"payment_source"`
	}
	_ = json.Unmarshal(body, &ask)
	return ask.Source.PayPal
}

// charge captures an order with a method, or refuses to; a refusal leaves no trace in it,
// unless its payer is asked to act.
func (p *PayPal) charge(o *Order, with *savedSource, key string) *reply {
	as := or(o.CaptureAs, p.captures)
	var no reply
	switch {
	case with.Credential.Initiator != "MERCHANT" || with.Credential.Usage != "SUBSEQUENT":
		no = refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
	case !p.methods[with.Vault]:
		no = unprocessable("TOKEN_ID_NOT_FOUND")
	case as == "COMPLETED", as == "PENDING", as == "DECLINED":
		p.take(o, key)
		return nil
	default:
		if as == "PAYER_ACTION_REQUIRED" {
			o.Status = as
		}
		no = unprocessable(as)
	}
	return &no
}

// patch changes the reference of an order that is not completed.
func (p *PayPal) patch(r *http.Request) reply {
	var ops []struct{ Op, Path, Value string }
	err := json.NewDecoder(r.Body).Decode(&ops)
	p.mu.Lock()
	defer p.mu.Unlock()
	o, found := p.orders[r.PathValue("order")]
	switch {
	case !found:
		return absent()
	case err != nil || len(ops) != 1 || ops[0].Op != "replace" || !allowed(ops[0].Value):
		return refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_SYNTAX")
	case o.Status == "COMPLETED":
		return unprocessable("ORDER_ALREADY_COMPLETED")
	case o.Status != "CREATED" && o.Status != "APPROVED":
		return unprocessable("NOT_PATCHABLE")
	case ops[0].Path != "/purchase_units/@reference_id=='"+o.Unit+"'/custom_id":
		return unprocessable("REFERENCE_ID_NOT_FOUND")
	}
	o.Reference = ops[0].Value
	return reply{status: http.StatusNoContent}
}

func (p *PayPal) forget(r *http.Request) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := r.PathValue("token")
	if !p.methods[token] {
		return absent()
	}
	delete(p.methods, token)
	p.did("forget", "")
	return reply{status: http.StatusNoContent}
}

// keep saves the method of an order that was captured.
func (p *PayPal) keep(o *Order) {
	if o.Keeps && p.vaulting == "VAULTED" {
		o.Token = strings.ToLower(p.id("pm"))
		p.methods[o.Token] = true
	}
}

// Vaulting tells what becomes of methods that are to be kept from now on: VAULTED at once,
// or later (APPROVED); "": the account may not keep any.
func (p *PayPal) Vaulting(status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.vaulting = status
}

// Keep ends the wait of a method that was APPROVED, and says so.
func (p *PayPal) Keep(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, before := p.must(id), p.vaulting
	p.vaulting = "VAULTED"
	p.keep(o)
	p.vaulting = before
	p.tell("VAULT.PAYMENT-TOKEN.CREATED", object{
		"id": o.Token, "metadata": object{"order_id": o.ID}, "customer": object{"id": "cust" + o.Token},
		"payment_source": object{"paypal": object{"email_address": "customer-canary@example.com", "usage_type": "MERCHANT"}},
	})
}

// Remove is a payer who takes the consent back at PayPal.
func (p *PayPal) Remove(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.methods, token)
}

// shownWallet is what an order tells of its payer's account.
func (p *PayPal) shownWallet(o *Order) object {
	wallet := object{
		"email_address": "customer-canary@example.com", "account_id": "PAYER0CANARY",
		"name": object{"given_name": "Ada", "surname": "Canary"},
	}
	up := object{"href": p.URL + "/v2/checkout/orders/" + o.ID, "rel": "up", "method": "GET"}
	switch {
	case !o.Keeps || o.Status != "COMPLETED":
	case o.Token == "":
		wallet["attributes"] = object{"vault": object{"status": "APPROVED", "links": []any{up}}}
	default:
		wallet["attributes"] = object{"vault": object{
			"id": o.Token, "status": "VAULTED", "customer": object{"id": "cust" + o.Token}, "links": []any{up},
		}}
	}
	return wallet
}
