package stripetest

import (
	"net/url"
	"time"
)

// A setup is a setup intent: a method that is added without a payment.
type setup struct {
	id, status string
	metadata   map[string]string
	method     *method
}

// checkSetup refuses what Stripe would not make a session in the mode "setup" of.
func checkSetup(q url.Values, now time.Time) *problem {
	for _, name := range []string{"success_url", "currency"} {
		if q.Get(name) == "" {
			return invalid("parameter_missing", name, "Missing required param: "+name+".")
		}
	}
	expires := time.Unix(number(q.Get("expires_at")), 0)
	for name, wrong := range map[string]bool{
		"currency":                     !currencies.MatchString(q.Get("currency")),
		quantity:                       q.Has(quantity),
		future:                         q.Has(future),
		"payment_intent_data[metadata": q.Has("payment_intent_data[description]"),
		"customer_creation":            q.Get("customer_creation") != "always",
		"expires_at": q.Has("expires_at") && (expires.Before(now.Add(30*time.Minute)) ||
			expires.After(now.Add(24*time.Hour))),
		"locale":      q.Has("locale") && !locales.MatchString(q.Get("locale")),
		"success_url": !isURL(q.Get("success_url")),
	} {
		if wrong {
			return invalid("", name, "Invalid "+name+".")
		}
	}
	if email := q.Get("customer_email"); q.Has("customer_email") && !isEmail(email) {
		return invalid("email_invalid", "customer_email", "Invalid email address: "+email)
	}
	return checkMetadata(q)
}

func (s *Server) fetchSetup(q request) (any, *problem) {
	x, known := s.setups[q.id]
	if !known {
		return nil, missing("setup_intent", q.id)
	}
	v := map[string]any{
		"id": x.id, "object": "setup_intent", "livemode": s.live(), "status": x.status, "metadata": x.metadata, "usage": "off_session",
		"customer": nil, "payment_method": nil, "last_setup_error": nil, "client_secret": x.id + "_secret_canary",
		"created": s.now().Unix(),
	}
	if x.method != nil {
		v["customer"], v["payment_method"] = x.method.customer, x.method.id
		if expanded(q.params, "payment_method") {
			v["payment_method"] = s.showMethod(x.method)
		}
	}
	return v, nil
}

// Add is the customer who adds a card on the page of a setup.
func (s *Server) Add(id string) (method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "open")
	s.added(x, "succeeded")
	return x.setup.method.id
}

// AddLater is a bank account that is confirmed after the page is finished.
func (s *Server) AddLater(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added(s.at(id, "open"), "processing")
}

func (s *Server) added(x *session, status string) {
	m := &method{id: newID("pm_"), customer: newID("cus_"), email: x.email}
	s.methods[m.id], x.setup.method, x.setup.status, x.status = m, m, status, "complete"
	s.emit("checkout.session.completed", s.show(x, nil))
}
