package paypaltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

func (p *PayPal) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/oauth2/token", p.around("token", p.tokens))
	mux.HandleFunc("POST /v2/checkout/orders", p.around("create", p.let(p.create)))
	mux.HandleFunc("GET /v2/checkout/orders/{order}", p.around("get", p.let(p.get)))
	mux.HandleFunc("POST /v2/checkout/orders/{order}/capture", p.around("capture", p.let(p.capture)))
	mux.HandleFunc("POST /v2/payments/captures/{capture}/refund", p.around("refund", p.let(p.refund)))
	mux.HandleFunc("PATCH /v2/checkout/orders/{order}", p.around("patch", p.let(p.patch)))
	mux.HandleFunc("DELETE /v3/vault/payment-tokens/{token}", p.around("forget", p.let(p.forget)))
	mux.HandleFunc("POST /v3/vault/setup-tokens", p.around("setup", p.let(p.createSetup)))
	mux.HandleFunc("GET /v3/vault/setup-tokens/{token}", p.around("get setup", p.let(p.getSetup)))
	mux.HandleFunc("POST /v3/vault/payment-tokens", p.around("finish", p.let(p.finish)))
	mux.HandleFunc("GET /v3/vault/payment-tokens", p.around("list", p.let(p.list)))
	mux.HandleFunc("/checkoutnow", p.page)
	mux.HandleFunc("/agreements/approve", p.setupPage)
	return mux
}

// tokens hands out the token that is good until it is revoked.
func (p *PayPal) tokens(r *http.Request) reply {
	id, secret, _ := r.BasicAuth()
	if id != ClientID || secret != ClientSecret || r.FormValue("grant_type") != "client_credentials" {
		return reply{
			http.StatusUnauthorized,
			map[string]string{"error": "invalid_client", "error_description": "Client Authentication failed"},
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" {
		p.token = p.id("A21AATOKEN")
	}
	return reply{http.StatusOK, map[string]any{"access_token": p.token, "token_type": "Bearer", "app_id": "APP-TEST", "expires_in": 32400}}
}

// let makes an endpoint one for callers with a good token alone.
func (p *PayPal) let(endpoint func(*http.Request) reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		p.mu.Lock()
		good := p.token != "" && r.Header.Get("Authorization") == "Bearer "+p.token
		p.mu.Unlock()
		if !good {
			return reply{
				http.StatusUnauthorized,
				map[string]string{"error": "invalid_token", "error_description": "Token signature verification failed"},
			}
		}
		return endpoint(r)
	}
}

// A reply is a status and what is written as JSON.
type reply struct {
	status int
	body   any
}

// refuse is how PayPal says no.
func refuse(status int, name, issue string) reply {
	return reply{status, map[string]any{
		"name": name, "message": "The requested action could not be performed.", "debug_id": "f0e1d2c3b4a59",
		"details": []map[string]string{{"issue": issue, "description": "Somebody Private, 1 Main St"}},
	}}
}

func unprocessable(issue string) reply {
	return refuse(http.StatusUnprocessableEntity, "UNPROCESSABLE_ENTITY", issue)
}

func absent() reply { return refuse(http.StatusNotFound, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID") }

// asked is what a PayPal-Request-Id stands for.
type asked struct {
	body string
	now  func() any // how it stands; nil: still under way
}

// once does a write once for each PayPal-Request-Id. The same id answers with
// how the first one stands now; while the first is under way it fails; with
// another body it is refused. What was refused is forgotten.
func (p *PayPal) once(r *http.Request, do func(body []byte) (status int, now func() any, refused *reply)) reply {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return refuse(http.StatusBadRequest, "INVALID_REQUEST", "MALFORMED_REQUEST_JSON")
	}
	key := r.Header.Get("PayPal-Request-Id")
	if key == "" {
		return refuse(http.StatusBadRequest, "INVALID_REQUEST", "PAYPAL_REQUEST_ID_REQUIRED")
	}
	at := r.URL.Path + " " + key
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, repeated := p.asked[at]; repeated {
		switch {
		case first.now == nil:
			return refuse(http.StatusConflict, "RESOURCE_CONFLICT", "PREVIOUS_REQUEST_IN_PROGRESS")
		case first.body != string(body):
			return refuse(http.StatusUnprocessableEntity, "UNPROCESSABLE_ENTITY", "PAYPAL_REQUEST_ID_PREVIOUSLY_USED")
		}
		return reply{http.StatusOK, first.now()}
	}
	p.asked[at] = &asked{body: string(body)}
	status, now, refused := p.slowly(r, body, do)
	if refused != nil {
		delete(p.asked, at)
		return *refused
	}
	p.asked[at].now = now
	return reply{status, now()}
}

// slowly lets others in while a call that was ordered to be slow inside takes
// its time: the second of two equal calls fails then.
func (p *PayPal) slowly(r *http.Request, body []byte, do func([]byte) (int, func() any, *reply)) (int, func() any, *reply) {
	if f := faultOf(r); f != nil && f.What == SlowInside {
		p.mu.Unlock()
		p.rest(r.Context(), f.For)
		p.mu.Lock()
	}
	return do(body)
}

func write(w http.ResponseWriter, a reply) {
	if a.status == http.StatusNoContent {
		w.WriteHeader(a.status)
		return
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(fmt.Sprintf("paypaltest: an answer that is no JSON: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(text)
}

// page is where the customer agrees to pay, or does not.
func (p *PayPal) page(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("token")
	o, found := p.Order(id)
	if !found {
		http.NotFound(w, r)
		return
	}
	agreement{o.CancelURL, with(o.ReturnURL, "token="+id), func() { p.Approve(id) }}.ask(w, r)
}

// An agreement is what the customer is asked for on a page, and where both answers lead.
type agreement struct {
	cancelled, agreed string
	agree             func()
}

// ask shows the page: POST with action "approve" or "cancel". The answer leads back to the
// shop.
func (a agreement) ask(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost:
		showButtons(w)
	case r.FormValue("action") == "cancel":
		http.Redirect(w, r, a.cancelled, http.StatusSeeOther)
	default:
		a.agree()
		http.Redirect(w, r, a.agreed, http.StatusSeeOther)
	}
}

func showButtons(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(
		w,
		`<form method="post"><button name="action" value="approve">Agree</button>`+
			`<button name="action" value="cancel">Cancel</button></form>`,
	)
}

// with is an address with another parameter behind it.
func with(address, parameter string) string {
	if strings.Contains(address, "?") {
		return address + "&" + parameter
	}
	return address + "?" + parameter
}
