package stripetest

import (
	"fmt"
	"net/url"
	"time"
)

// A Session is a payment page as its customer sees it.
type Session struct {
	ID, URL       string
	Order         string // client_reference_id
	Status        string // open, complete, expired
	PaymentStatus string // unpaid, paid, no_payment_required
	Payment       string // id; empty: no attempt was made
	Minor         int64
	Currency      string // lower case
	ExpiresAt     time.Time
}

// Sessions are those of an order; there should be one.
func (s *Server) Sessions(order string) (found []Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mature()
	for _, x := range s.sessions {
		if x.order != order {
			continue
		}
		one := Session{
			ID: x.id, URL: s.URL + "/c/pay/" + x.id, Order: x.order, Status: x.status, PaymentStatus: x.payment,
			Minor: x.minor, Currency: x.currency, ExpiresAt: x.expires,
		}
		if x.intent != nil {
			one.Payment = x.intent.id
		}
		found = append(found, one)
	}
	return found
}

// A Refund is one as the dashboard shows it.
type Refund struct {
	ID, Payment, Status, Reference string
	Minor                          int64
}

// Refunds are those of a payment, oldest first.
func (s *Server) Refunds(payment string) (found []Refund) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.refunds {
		if r.intent.id == payment {
			found = append(found, Refund{ID: r.id, Payment: payment, Status: r.status, Reference: r.metadata["reference"], Minor: r.minor})
		}
	}
	return found
}

// at finds a session in one of the states, or panics: a test that drives what
// is not there is wrong.
func (s *Server) at(id string, states ...string) *session {
	s.mature()
	x, known := s.sessions[id]
	for _, state := range states {
		if known && x.status == state {
			return x
		}
	}
	panic(fmt.Sprintf("stripetest: no session %s that is %v", id, states))
}

// Pay is the customer who pays what is due.
func (s *Server) Pay(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "open")
	s.pay(x, x.minor, x.currency)
}

// PayOther pays another amount, or in another currency, than what is due.
func (s *Server) PayOther(id string, minor int64, currency string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pay(s.at(id, "open"), minor, currency)
}

func (s *Server) pay(x *session, minor int64, currency string) {
	x.status = "complete"
	if x.payment != "no_payment_required" {
		x.payment = "paid"
		s.intent(x).succeeds(minor, currency, s.now())
		s.keep(x)
	}
	s.emit("checkout.session.completed", s.show(x, nil))
}

// intent is the payment of a session, made by the first try.
func (s *Server) intent(x *session) *intent {
	if x.intent == nil {
		x.intent = &intent{
			id: newID("pi_"), status: "requires_payment_method", minor: x.minor, currency: x.currency,
			metadata: x.ofIntent, created: s.now(),
		}
		s.intents[x.intent.id] = x.intent
	}
	return x.intent
}

func (i *intent) succeeds(minor int64, currency string, at time.Time) {
	i.status, i.failed, i.minor, i.received, i.currency = "succeeded", "", minor, minor, currency
	i.charge = &charge{id: newID("ch_"), minor: minor, created: at}
}

// PayLater is the customer who is done although the bank is not.
func (s *Server) PayLater(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "open")
	x.status, s.intent(x).status = "complete", "processing"
	s.emit("checkout.session.completed", s.show(x, nil))
}

// Settle is the bank that pays after [Server.PayLater].
func (s *Server) Settle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "complete")
	x.payment = "paid"
	x.intent.succeeds(x.minor, x.currency, s.now())
	s.keep(x)
	s.emit("checkout.session.async_payment_succeeded", s.show(x, nil))
}

// Bounce is the bank that does not pay after [Server.PayLater].
func (s *Server) Bounce(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "complete")
	x.intent.status, x.intent.failed = "requires_payment_method", "payment_intent_payment_attempt_failed"
	s.emit("checkout.session.async_payment_failed", s.show(x, nil))
}

// Decline is a card that is refused; the customer may try another. No webhook
// tells of it.
func (s *Server) Decline(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(id, "open")
	s.intent(x).failed = "card_declined generic_decline"
}

// Expire ends an unpaid session.
func (s *Server) Expire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired(s.at(id, "open"))
}

func (s *Server) expired(x *session) {
	x.status = "expired"
	if x.intent != nil {
		x.intent.status = "canceled"
	}
	s.emit("checkout.session.expired", s.show(x, nil))
}

// mature lets sessions expire whose time is over.
func (s *Server) mature() {
	for _, x := range s.sessions {
		if x.status == "open" && !s.now().Before(x.expires) {
			s.expired(x)
		}
	}
}

// ChargesBecome sets what the bank says of charges from now on: succeeded, which it says
// unless told otherwise, processing, requires_action, or the code of a refusal, perhaps with
// a decline code ("card_declined insufficient_funds"). With "refused " before the code the
// charge is not even tried.
func (s *Server) ChargesBecome(outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcome = outcome
}

// SettleCharge is the bank's word about a charge that is processing: succeeded, or the code
// of a refusal.
func (s *Server) SettleCharge(id, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, known := s.intents[id]
	if !known || i.status != "processing" {
		panic("stripetest: no charge " + id + " that is processing")
	}
	s.settle(i, outcome)
}

// Detach is a user of the dashboard who removes a method.
func (s *Server) Detach(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := second(s.detach(request{id: id, params: url.Values{}})); p != nil {
		panic("stripetest: " + p.message)
	}
}

// A Charge is a payment that was asked for without a page.
type Charge struct {
	ID, Order, Status string
	Minor             int64
	Created           time.Time
}

// Charges are those of an order.
func (s *Server) Charges(order string) (found []Charge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.intents {
		if i.metadata["order_id"] == order && i.metadata["charge"] != "" {
			found = append(found, Charge{ID: i.id, Order: order, Status: i.status, Minor: i.minor, Created: i.created})
		}
	}
	return found
}
