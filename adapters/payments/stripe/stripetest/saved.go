package stripetest

import (
	"net/http"
	"strings"
)

// A method is one that a customer has paid with, and may be charged again.
type method struct {
	id, customer string // no customer: it is detached
	email        string
}

// keep makes the customer of a page and attaches what was paid with.
func (s *Server) keep(x *session) {
	x.intent.method = &method{id: newID("pm_"), email: x.email}
	s.methods[x.intent.method.id] = x.intent.method
	if x.keeps {
		x.intent.future, x.intent.customer = "off_session", newID("cus_")
		x.intent.method.customer = x.intent.customer
	}
}

func (s *Server) charge(q request) (any, *problem) {
	m, known := s.methods[q.params.Get("payment_method")]
	minor := number(q.params.Get("amount"))
	switch {
	case !known:
		return nil, missing("payment_method", q.params.Get("payment_method")).as(http.StatusBadRequest)
	case m.customer == "", m.customer != q.params.Get("customer"):
		p := missing("payment_method", m.id)
		p.message = "The customer does not have a payment method with the ID " + m.id +
			". The payment method must be attached to the customer."
		return nil, p.as(http.StatusBadRequest)
	case minor < 1:
		return nil, invalid("parameter_invalid_integer", "amount", "This value must be greater than or equal to 1.")
	case !currencies.MatchString(q.params.Get("currency")), q.params.Get("confirm") != "false",
		q.params.Get("payment_method_types[0]") != "card":
		return nil, invalid("", "", "Invalid parameter.")
	}
	if p := checkMetadata(q.params); p != nil {
		return nil, p
	}
	i := &intent{
		id: newID("pi_"), status: "requires_confirmation", minor: minor, currency: q.params.Get("currency"),
		metadata: metadata(q.params, "metadata"),
		customer: m.customer, method: m, created: s.now(),
	}
	s.intents[i.id] = i
	s.made[q.key]++
	return s.wholeIntent(i, q.params, ""), nil
}

func (s *Server) fetchIntent(q request) (any, *problem) {
	i, known := s.intents[q.id]
	if !known {
		return nil, missing("payment_intent", q.id)
	}
	return s.wholeIntent(i, q.params, ""), nil
}

// note changes metadata. As every change, it erases the last error.
func (s *Server) note(q request) (any, *problem) {
	i, known := s.intents[q.id]
	if !known {
		return nil, missing("payment_intent", q.id)
	}
	for name, value := range metadata(q.params, "metadata") {
		i.metadata[name] = value
	}
	i.failed = ""
	return s.wholeIntent(i, q.params, ""), nil
}

func (s *Server) confirm(q request) (any, *problem) {
	i, known := s.intents[q.id]
	switch {
	case !known:
		return nil, missing("payment_intent", q.id)
	case i.status == "requires_payment_method" && !q.params.Has("payment_method"):
		return nil, s.unexpected(i, "You cannot confirm this PaymentIntent because it's missing a payment method.")
	case i.status != "requires_confirmation":
		return nil, s.unexpected(i, "You cannot confirm this PaymentIntent because it has a status of "+i.status+".")
	case i.method.customer == "":
		p := invalid(
			"payment_method_unexpected_state", "",
			"The provided PaymentMethod was detached from a Customer. It may not be used again.",
		)
		return nil, p.begun()
	case strings.HasPrefix(s.outcome, "refused "):
		return nil, invalid(strings.TrimPrefix(s.outcome, "refused "), "", "It cannot be done.").begun()
	}
	s.made[q.key]++
	if p := s.settle(i, s.outcome); p != nil {
		return nil, p
	}
	return s.wholeIntent(i, q.params, ""), nil
}

func (s *Server) unexpected(i *intent, message string) *problem {
	p := invalid("payment_intent_unexpected_state", "", message)
	p.about = s.wholeIntent(i, nil, "")
	return p.begun()
}

// settle is what the bank says of a charge. What it declines takes its method from it.
func (s *Server) settle(i *intent, outcome string) *problem {
	switch outcome {
	case "succeeded":
		i.succeeds(i.minor, i.currency, s.now())
		s.emit("payment_intent.succeeded", s.wholeIntent(i, nil, ""))
		return nil
	case "processing", "requires_action":
		i.status = outcome
		s.emit("payment_intent."+outcome, s.wholeIntent(i, nil, ""))
		return nil
	}
	i.status, i.failed, i.method = "requires_payment_method", outcome, nil
	s.emit("payment_intent.payment_failed", s.wholeIntent(i, nil, ""))
	code, decline, _ := strings.Cut(outcome, " ")
	return &problem{
		status: http.StatusPaymentRequired, kind: "card_error", code: code, decline: decline,
		message: "Your card was declined, said canary@customer.test.",
		about:   s.wholeIntent(i, nil, ""), kept: true,
	}
}

func (i *intent) lastError() map[string]any {
	code, decline, _ := strings.Cut(i.failed, " ")
	return map[string]any{"type": "card_error", "code": code, "decline_code": orNull(decline), "message": "Your card was declined."}
}

func (s *Server) cancelIntent(q request) (any, *problem) {
	i, known := s.intents[q.id]
	switch {
	case !known:
		return nil, missing("payment_intent", q.id)
	case i.status == "succeeded", i.status == "canceled", i.status == "processing":
		return nil, s.unexpected(i, "You cannot cancel this PaymentIntent because it has a status of "+i.status+".")
	}
	i.status, i.failed = "canceled", ""
	s.emit("payment_intent.canceled", s.wholeIntent(i, nil, ""))
	return s.wholeIntent(i, q.params, ""), nil
}

func (s *Server) fetchMethod(q request) (any, *problem) {
	m, known := s.methods[q.id]
	if !known {
		return nil, missing("payment_method", q.id)
	}
	return s.showMethod(m), nil
}

func (s *Server) detach(q request) (any, *problem) {
	m, known := s.methods[q.id]
	switch {
	case !known:
		return nil, missing("payment_method", q.id)
	case m.customer == "":
		return nil, invalid("", "", "The payment method you provided is not attached to a customer so detachment is impossible.").begun()
	}
	m.customer = ""
	return s.showMethod(m), nil
}

func (s *Server) showMethod(m *method) map[string]any {
	return map[string]any{
		"id": m.id, "object": "payment_method", "type": "card", "customer": orNull(m.customer), "livemode": s.live(),
		"metadata":        map[string]string{},
		"billing_details": map[string]any{"email": orNull(m.email), "name": "Ada Canary", "phone": nil, "address": nil},
		"card":            map[string]any{"brand": "visa", "last4": "4242", "exp_month": 4, "exp_year": 2031, "funding": "credit"},
		"created":         s.now().Unix(),
	}
}

func second(_ any, p *problem) *problem { return p }
