package paypaltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Methods that are added without a payment: setup tokens, and what is made of them.

// A Setup is PayPal's setup token, with the method that was made of it.
type Setup struct {
	ID        string
	Status    string // PAYER_ACTION_REQUIRED, APPROVED, VAULTED
	Customer  string // PayPal's id, made for this setup
	Reference string // ours: the panel's setup
	ReturnURL string
	CancelURL string
	Token     string // of the method; "": none yet
}

// askingSetup is what a new setup token is asked for with.
type askingSetup struct {
	Customer struct {
		ID        string `json:"id"`
		Reference string `json:"merchant_customer_id"`
	} `json:"customer"`
	Source struct {
		PayPal *struct {
			Usage      string `json:"usage_type"`
			Several    bool   `json:"permit_multiple_payment_tokens"`
			Experience struct {
				Return   string `json:"return_url"`
				Cancel   string `json:"cancel_url"`
				Shipping string `json:"shipping_preference"`
				Vault    string `json:"vault_instruction"`
			} `json:"experience_context"`
		} `json:"paypal"`
	} `json:"payment_source"`
}

// references are those that PayPal keeps of a merchant's customer.
var references = regexp.MustCompile(`^[0-9a-zA-Z_.^*$@#-]{1,64}$`)

// wrong tells whether PayPal's description of its API does not allow the request.
func (a askingSetup) wrong() bool {
	w := a.Source.PayPal
	return w == nil || w.Usage != "MERCHANT" || !w.Several || w.Experience.Return == "" || w.Experience.Cancel == "" ||
		w.Experience.Vault != "ON_CREATE_PAYMENT_TOKENS" || !references.MatchString(a.Customer.Reference) || a.Customer.ID != ""
}

func (p *PayPal) createSetup(r *http.Request) reply {
	return p.once(r, func(body []byte) (int, func() any, *reply) {
		var ask askingSetup
		no := reply{}
		switch err := json.Unmarshal(body, &ask); {
		case err != nil || ask.wrong():
			no = refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
		case p.vaulting == "":
			no = refuse(http.StatusForbidden, "NOT_AUTHORIZED", "PERMISSION_DENIED")
		default:
			w := ask.Source.PayPal.Experience
			s := &Setup{
				ID: p.id("SET"), Status: "PAYER_ACTION_REQUIRED", Customer: p.id("cust"), Reference: ask.Customer.Reference,
				ReturnURL: w.Return, CancelURL: w.Cancel,
			}
			p.setups[s.ID] = s
			p.did("setup", r.Header.Get("PayPal-Request-Id"))
			return http.StatusCreated, func() any { return p.shownSetup(s) }, nil
		}
		return 0, nil, &no
	})
}

func (p *PayPal) getSetup(r *http.Request) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, found := p.setups[r.PathValue("token")]
	if !found {
		return absent()
	}
	return reply{http.StatusOK, p.shownSetup(s)}
}

// shownSetup is a setup token as the API shows it. It never shows what was made of it.
func (p *PayPal) shownSetup(s *Setup) any {
	shown := object{
		"id": s.ID, "status": s.Status, "customer": object{"id": s.Customer, "merchant_customer_id": s.Reference},
		"payment_source": object{
			"paypal": object{"usage_type": "MERCHANT", "customer_type": "CONSUMER", "permit_multiple_payment_tokens": true},
		},
	}
	links := []any{object{"href": p.URL + "/v3/vault/setup-tokens/" + s.ID, "rel": "self", "method": "GET"}}
	if s.Status == "PAYER_ACTION_REQUIRED" {
		links = append(links, object{"href": p.URL + "/agreements/approve?approval_session_id=" + s.ID, "rel": "approve", "method": "GET"})
	}
	shown["links"] = links
	return shown
}

// finish makes a method of a setup token, once.
func (p *PayPal) finish(r *http.Request) reply {
	return p.once(r, func(body []byte) (int, func() any, *reply) {
		var ask struct {
			Source struct {
				Token struct{ ID, Type string } `json:"token"`
			} `json:"payment_source"`
		}
		err := json.Unmarshal(body, &ask)
		s, found := p.setups[ask.Source.Token.ID]
		no := reply{}
		switch {
		case err != nil || ask.Source.Token.Type != "SETUP_TOKEN":
			no = refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
		case !found:
			no = absent()
		case s.Status == "VAULTED":
			no = unprocessable("SETUP_TOKEN_ALREADY_TOKENIZED")
		case s.Status != "APPROVED":
			no = unprocessable("PAYER_ACTION_REQUIRED")
		case p.unkept != "":
			no = unprocessable(p.unkept)
		default:
			s.Status, s.Token = "VAULTED", strings.ToLower(p.id("pm"))
			p.methods[s.Token] = true
			p.kept = append(p.kept, s)
			p.did("finish", r.Header.Get("PayPal-Request-Id"))
			p.tell("VAULT.PAYMENT-TOKEN.CREATED", p.shownMethod(s))
			return http.StatusCreated, func() any { return p.shownMethod(s) }, nil
		}
		return 0, nil, &no
	})
}

func (p *PayPal) shownMethod(s *Setup) any {
	return object{
		"id": s.Token, "customer": object{"id": s.Customer, "merchant_customer_id": s.Reference},
		"payment_source": object{
			"paypal": object{"email_address": "customer-canary@example.com", "payer_id": "PAYER0CANARY", "usage_type": "MERCHANT"},
		},
		"links": []any{object{"href": p.URL + "/v3/vault/payment-tokens/" + s.Token, "rel": "self", "method": "GET"}},
	}
}

// list shows the methods of a customer.
func (p *PayPal) list(r *http.Request) reply {
	customer := r.URL.Query().Get("customer_id")
	if len(customer) < 7 || len(customer) > 36 {
		return refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, shown := []any{}, object{"customer": object{"id": customer}}
	for _, s := range p.kept {
		if s.Customer == customer && p.methods[s.Token] {
			kept = append(kept, p.shownMethod(s))
		}
	}
	shown["payment_tokens"] = kept
	return reply{http.StatusOK, shown}
}

// SetupOf is the setup that carries a reference of the panel's.
func (p *PayPal) SetupOf(reference string) (found Setup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.setups {
		if strings.HasPrefix(s.Reference, reference) {
			found = *s
		}
	}
	return found
}

func (p *PayPal) mustSetup(id string) *Setup {
	s, found := p.setups[id]
	if !found {
		panic(fmt.Sprintf("paypaltest: there is no setup %q", id))
	}
	return s
}

// Agree is the customer's yes to a setup. PayPal sends no news of it.
func (p *PayPal) Agree(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.mustSetup(id); s.Status == "PAYER_ACTION_REQUIRED" {
		s.Status = "APPROVED"
	}
}

// EndSetup is what PayPal does with old setup tokens, used or not.
func (p *PayPal) EndSetup(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mustSetup(id)
	delete(p.setups, id)
}

// ChangeSetup makes a setup anything at all, in silence.
func (p *PayPal) ChangeSetup(id string, how func(*Setup)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how(p.mustSetup(id))
}

// Unkept makes PayPal keep no method of a setup from now on, for this reason; "": it does.
func (p *PayPal) Unkept(issue string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unkept = issue
}

// setupPage is where the customer agrees that an account is kept, or does not.
func (p *PayPal) setupPage(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	s, found := p.setups[r.URL.Query().Get("approval_session_id")]
	p.mu.Unlock()
	if !found {
		http.NotFound(w, r)
		return
	}
	back := with(s.ReturnURL, "approval_token_id="+s.ID+"&approval_session_id="+s.ID)
	agreement{s.CancelURL, back, func() { p.Agree(s.ID) }}.ask(w, r)
}
