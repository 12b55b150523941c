package stripetest

import (
	"net/http"
	"net/url"
	"time"
)

// A session is a payment page.
type session struct {
	id, order, status, payment string
	minor                      int64
	currency                   string
	metadata, ofIntent         map[string]string
	email, success, cancel     string
	locale                     string
	keeps                      bool   // makes a customer and attaches the method
	setup                      *setup // a method is added, and nothing is paid
	created, expires           time.Time
	intent                     *intent
}

// An intent is a payment that a session leads to.
type intent struct {
	id, status      string
	minor, received int64
	currency        string
	metadata        map[string]string
	failed          string // the last try: a code and perhaps a decline code
	future          string // setup_future_usage
	customer        string
	method          *method
	charge          *charge
	created         time.Time
}

// A charge is a try that worked, or may.
type charge struct {
	id       string
	minor    int64
	refunded int64
	disputed bool
	created  time.Time
}

type refund struct {
	id, status string
	intent     *intent
	minor      int64
	metadata   map[string]string
	created    time.Time
}

type dispute struct {
	id, status string
	intent     *intent
	minor      int64
	moved      []int64 // to our account
	created    time.Time
}

func (s *Server) open(q request) (any, *problem) {
	if p := checkOpening(q.params, s.now()); p != nil {
		return nil, p
	}
	x := &session{
		id: newID("cs_" + s.mode()), order: q.params.Get("client_reference_id"), status: "open", payment: "unpaid",
		minor: number(q.params.Get(price + "[unit_amount]")), currency: q.params.Get(price + "[currency]"),
		metadata: metadata(q.params, "metadata"), ofIntent: metadata(q.params, "payment_intent_data[metadata]"),
		email: q.params.Get("customer_email"), success: q.params.Get("success_url"), cancel: q.params.Get("cancel_url"),
		locale: q.params.Get("locale"),
		keeps:  q.params.Get("customer_creation") == "always" && q.params.Get(future) == "off_session", created: s.now(),
		expires: s.now().Add(24 * time.Hour),
	}
	if q.params.Has("expires_at") {
		x.expires = time.Unix(number(q.params.Get("expires_at")), 0)
	}
	if q.params.Get("mode") == "setup" {
		x.currency, x.setup = q.params.Get("currency"), &setup{
			id: newID("seti_"), status: "requires_payment_method",
			metadata: metadata(q.params, "setup_intent_data[metadata]"),
		}
		s.setups[x.setup.id] = x.setup
	}
	if x.minor == 0 {
		x.payment = "no_payment_required"
	}
	s.sessions[x.id] = x
	s.made[q.key]++
	return s.show(x, q.params), nil
}

func (s *Server) fetch(q request) (any, *problem) {
	x, known := s.sessions[q.id]
	if !known {
		return nil, missing("session", q.id)
	}
	return s.show(x, q.params), nil
}

func missing(what, id string) *problem {
	return invalid("resource_missing", what, "No such "+what+": '"+id+"'").as(http.StatusNotFound)
}

func (s *Server) expire(q request) (any, *problem) {
	x, known := s.sessions[q.id]
	if !known {
		return nil, missing("session", q.id)
	}
	if x.status != "open" {
		return nil, invalid(
			"", "",
			`Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of `+"`"+x.status+"`.",
		).begun()
	}
	s.expired(x)
	return s.show(x, q.params), nil
}

func (s *Server) refund(q request) (any, *problem) {
	i, known := s.intents[q.params.Get("payment_intent")]
	if !known {
		return nil, missing("payment_intent", q.params.Get("payment_intent"))
	}
	minor := i.left()
	if q.params.Has("amount") {
		minor = number(q.params.Get("amount"))
	}
	if p := checkMetadata(q.params); p != nil {
		return nil, p
	}
	if p := i.refuses(minor); p != nil {
		return nil, p
	}
	r := s.giveBack(i, minor, s.becomes, metadata(q.params, "metadata"))
	s.made[q.key]++
	return s.showRefund(r), nil
}

// left is what can still be given back.
func (i *intent) left() int64 {
	if i.charge == nil || i.status != "succeeded" {
		return 0
	}
	return i.charge.minor - i.charge.refunded
}

func (i *intent) refuses(minor int64) *problem {
	switch left := i.left(); {
	case i.status != "succeeded":
		return invalid(
			"payment_intent_unexpected_state", "payment_intent",
			"This PaymentIntent does not have a successful charge to refund.",
		).begun()
	case left == 0:
		return invalid("charge_already_refunded", "", "Charge "+i.charge.id+" has already been refunded.").begun()
	case minor < 1:
		return invalid("parameter_invalid_integer", "amount", "Invalid positive integer")
	case minor > left:
		return invalid(
			"", "amount",
			"Refund amount ("+formatInt(minor)+") is greater than unrefunded amount on charge ("+formatInt(left)+").",
		).begun()
	}
	return nil
}

func (s *Server) listRefunds(q request) (any, *problem) {
	var all []any
	for _, r := range s.refunds {
		if r.intent.id == q.params.Get("payment_intent") {
			all = append([]any{s.showRefund(r)}, all...)
		}
	}
	return page(all, q.params, "/v1/refunds")
}

func (s *Server) listDisputes(q request) (any, *problem) {
	var all []any
	for _, d := range s.disputes {
		if d.intent.id == q.params.Get("payment_intent") {
			all = append([]any{s.showDispute(d)}, all...)
		}
	}
	return page(all, q.params, "/v1/disputes")
}

// page is a part of a list, newest first.
func page(all []any, q url.Values, at string) (any, *problem) {
	limit := number(q.Get("limit"))
	if !q.Has("limit") {
		limit = 10
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("parameter_invalid_integer", "limit", "This value must be between 1 and 100.")
	}
	if after := q.Get("starting_after"); after != "" {
		for len(all) > 0 {
			found := all[0].(map[string]any)["id"] == after
			if all = all[1:]; found {
				break
			}
		}
	}
	more := int64(len(all)) > limit
	if more {
		all = all[:limit]
	}
	if all == nil {
		all = []any{}
	}
	return map[string]any{"object": "list", "url": at, "has_more": more, "data": all}, nil
}
