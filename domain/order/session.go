package order

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// OpenSession records where the customer is sent to pay. Only a page on the
// provider's own host is accepted.
type OpenSession struct {
	ID      uuid.UUID
	Session Session
	Host    string // where the provider's payment pages are: "pay.example.com", "127.0.0.1:8080"
	At      time.Time
}

// FailSession records that the provider opened no page. The order waits to be
// tried again.
type FailSession struct {
	ID   uuid.UUID
	Code string
	At   time.Time
}

func (c OpenSession) decide(o Order) ([]Event, error) {
	switch {
	case c.Session.ID != "" && c.Session.ID == o.Session:
		return nil, nil
	case o.Status != StatusPending:
		return nil, o.forbids("cannot be paid in another session")
	case !c.acceptable(o):
		return nil, &domain.Error{
			Code: domain.Unavailable, Reason: "payment_provider_unavailable",
			Message: "The payment provider is temporarily unavailable.",
		}
	}
	return o.move(StatusPaymentProcessing, PaymentSessionOpened{
		Session: c.Session.ID, URL: c.Session.URL, ExpiresAt: c.Session.ExpiresAt, Payee: c.Session.Payee, At: c.At,
	})
}

// acceptable tells whether the session can be used. One that charges a kept method has no
// page.
func (c OpenSession) acceptable(o Order) bool {
	if o.Charges() {
		return c.Session.isOpen(c.At) && c.Session.URL == ""
	}
	return c.Session.LeadsTo(c.Host, c.At)
}

// isOpen tells whether a session can still be finished.
func (s Session) isOpen(at time.Time) bool { return s.ID != "" && s.ExpiresAt.After(at) }

// LeadsTo tells whether a session has a page on the provider's own host that customers may
// be sent to.
func (s Session) LeadsTo(host string, at time.Time) bool {
	u, err := url.Parse(s.URL)
	if err != nil || !s.isOpen(at) {
		return false
	}
	safe := u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
	return safe && u.User == nil && u.Host != "" && u.Host == host
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func (c FailSession) decide(o Order) ([]Event, error) {
	if o.Status != StatusPending {
		return nil, nil // it was opened, or given up, meanwhile
	}
	return []Event{PaymentSessionFailed{Code: c.Code, At: c.At}}, nil
}

func (c OpenSession) Stream() domain.Stream { return Stream(c.ID) }
func (c FailSession) Stream() domain.Stream { return Stream(c.ID) }
