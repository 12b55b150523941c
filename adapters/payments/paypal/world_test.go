package paypal_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// panel is the installation that calls.
const panel = "3f9a2b1c07"

// A world is a PayPal, the provider that asks it, and one order that is to be
// paid there.
type world struct {
	*testing.T
	*paypal.Provider
	there    *paypaltest.PayPal
	log      *bytes.Buffer
	checkout order.Checkout
	session  string
}

func newWorld(t *testing.T, change ...func(*paypal.Config)) *world {
	t.Helper()
	there := paypaltest.Start()
	t.Cleanup(there.Close)
	w := &world{T: t, there: there, log: &bytes.Buffer{}}
	c := paypal.Config{
		ClientID: paypaltest.ClientID, ClientSecret: paypaltest.ClientSecret, WebhookIDs: []string{paypaltest.WebhookID}, URL: there.URL,
		Roots: there.Roots(), Dial: there.Dial, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, change := range change {
		change(&c)
	}
	var err error
	if w.Provider, err = paypal.New(c); err != nil {
		t.Fatal(err)
	}
	w.checkout = someCheckout()
	return w
}

func someCheckout() order.Checkout {
	id := uuid.New()
	return order.Checkout{
		Installation: panel,
		Order:        id, Number: "ORD-20261121-7F3K9Q", EffectKey: "order/" + id.String() + "/session/1", Minor: 2870, Currency: "EUR",
		Total: decimal.RequireFromString("28.70"), Description: "Hosting S", Email: "customer-canary@example.com", Language: "es",
		ReturnURL: "https://panel.example.com/storefront/return/?outcome=success",
		CancelURL: "https://panel.example.com/storefront/return/?outcome=cancel",
		ExpiresAt: time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second),
	}
}

// opened is a world with a session.
func opened(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	s, err := w.OpenSession(t.Context(), w.checkout)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(s.URL); err != nil || u.Host != w.Host() || !s.ExpiresAt.Equal(w.checkout.ExpiresAt) ||
		s.Payee != paypaltest.Merchant {
		t.Fatalf("the session is %+v, %v", s, err)
	}
	w.session = s.ID
	return w
}

// paid is a world with a payment.
func paid(t *testing.T) *world {
	t.Helper()
	w := opened(t)
	w.there.Approve(w.session)
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) capture() error {
	key := "order/" + w.checkout.Order.String() + "/capture"
	return w.Capture(w.Context(), order.CaptureCall{Order: w.checkout.Order, Session: w.session, Key: key, Installation: panel})
}

func (w *world) refund(n string, minor int64) (order.Refund, error) {
	reference := "order/" + w.checkout.Order.String() + "/refund/" + n
	return w.Refund(w.Context(), order.RefundCall{
		Installation: panel,
		Order:        w.checkout.Order, Number: w.checkout.Number, Session: w.session, Payment: w.payment().ID,
		Reference: reference, Key: reference, Minor: minor, Currency: w.checkout.Currency,
	})
}

func (w *world) fetch() order.Fetched {
	w.Helper()
	f, err := w.Fetch(w.Context(), w.session)
	if err != nil {
		w.Fatal(err)
	}
	return f
}

// payment is the only one.
func (w *world) payment() order.Payment {
	w.Helper()
	f := w.fetch()
	if len(f.Payments) != 1 {
		w.Fatalf("%d payments: %+v", len(f.Payments), f)
	}
	return f.Payments[0]
}

func failure(t *testing.T, err error) (domain.Class, string) {
	t.Helper()
	f, ok := err.(*domain.Failure) //nolint:errorlint // an adapter answers with nothing else
	if !ok {
		t.Fatalf("not a failure of the outside: %v", err)
	}
	return f.Class, f.Code
}
