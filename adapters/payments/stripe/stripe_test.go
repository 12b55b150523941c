package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// panel is the installation that calls.
const panel = "3f9a2b1c07"

var _ order.Provider = (*stripe.Provider)(nil)

// account is a provider at a Stripe of the test's own.
func account(t *testing.T) (*stripe.Provider, *stripetest.Server) {
	t.Helper()
	s := stripetest.Start(t, stripetest.Options{})
	return at(t, s.URL, stripetest.Key), s
}

func at(t *testing.T, url, key string) *stripe.Provider {
	t.Helper()
	p, err := stripe.New(stripe.Options{Key: key, Secrets: []string{stripetest.Secret}, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func checkout() order.Checkout {
	id := uuid.New()
	return order.Checkout{
		Installation: panel,
		Order:        id, Number: "ORD-20261121-7F3K9Q", EffectKey: "order/" + id.String() + "/session/1", Minor: 3509, Currency: "EUR",
		Total: decimal.RequireFromString("35.09"), Description: "Web S", Email: "canary@customer.test", Language: "es",
		ReturnURL: "https://panel.example/storefront/return/1/?outcome=success",
		CancelURL: "https://panel.example/storefront/return/1/?outcome=cancel",
		ExpiresAt: time.Now().Add(24*time.Hour - 5*time.Minute).Truncate(time.Second),
	}
}

func open(t *testing.T, p *stripe.Provider, c order.Checkout) order.Session {
	t.Helper()
	s, err := p.OpenSession(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fetch(t *testing.T, p *stripe.Provider, session string) order.Fetched {
	t.Helper()
	f, err := p.Fetch(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// paid is the one payment of a session.
func paid(t *testing.T, p *stripe.Provider, session string) order.Payment {
	t.Helper()
	f := fetch(t, p, session)
	if len(f.Payments) != 1 {
		t.Fatalf("%d payments instead of one: %+v", len(f.Payments), f)
	}
	return f.Payments[0]
}

// wantFailure checks class and code, and that no personal data stands in the
// text.
func wantFailure(t *testing.T, what string, err error, class domain.Class, code string) {
	t.Helper()
	var f *domain.Failure
	if !errors.As(err, &f) || f.Class != class || f.Code != code {
		t.Errorf("%s: %v, not a %s failure (%s)", what, err, class, code)
		return
	}
	for _, canary := range []string{stripetest.Key, stripetest.Secret, "canary@customer.test", "html"} {
		if strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error tells %q: %v", what, canary, err)
		}
	}
}

func TestASessionIsForWhatTheOrderCosts(t *testing.T) { // S-4
	p, s := account(t)
	c := checkout()
	got := open(t, p, c)
	if !strings.HasPrefix(got.URL, "http://"+p.Host()+"/") || !got.ExpiresAt.Equal(c.ExpiresAt) || got.ID == "" {
		t.Errorf("the session is %+v at %s", got, p.Host())
	}
	asked := s.Calls("open")[0]
	for name, want := range map[string]string{
		"mode": "payment", "line_items[0][quantity]": "1", "line_items[0][price_data][currency]": "eur",
		"line_items[0][price_data][unit_amount]":  "3509",
		"line_items[0][price_data][tax_behavior]": "inclusive", "line_items[0][price_data][product_data][name]": "Web S",
		"client_reference_id": c.Order.String(), "metadata[order_id]": c.Order.String(),
		"payment_intent_data[metadata][order_id]": c.Order.String(),
		"metadata[installation]":                  panel, "payment_intent_data[metadata][installation]": panel,
		"payment_intent_data[description]": c.Number, "expires_at": fmt.Sprint(c.ExpiresAt.Unix()),
		"success_url": c.ReturnURL, "cancel_url": c.CancelURL,
		"locale": "es", "customer_email": c.Email, "adaptive_pricing[enabled]": "false",
	} {
		if asked.Params[name] != want {
			t.Errorf("%s is %q, not %q", name, asked.Params[name], want)
		}
		delete(asked.Params, name)
	}
	if asked.Key != c.EffectKey || len(asked.Params) > 0 {
		t.Errorf("asked under key %q, and also for %v", asked.Key, asked.Params)
	}
}

func TestAPageIsInTheCustomersLanguageOrTheBrowsers(t *testing.T) {
	p, s := account(t)
	for language, want := range map[string]string{"es": "es", "pt-BR": "pt-BR", "de-AT": "de", "gl": "auto", "": "auto"} {
		c := checkout()
		c.Language = language
		open(t, p, c)
		calls := s.Calls("open")
		if got := calls[len(calls)-1].Params["locale"]; got != want {
			t.Errorf("%q: %q, not %q", language, got, want)
		}
	}
}

func TestTheSameKeyOpensTheSameSession(t *testing.T) {
	p, s := account(t)
	c := checkout()
	first, again := open(t, p, c), open(t, p, c)
	if first != again || s.Created(c.EffectKey) != 1 {
		t.Errorf("%+v, then %+v; %d made", first, again, s.Created(c.EffectKey))
	}
	c.Minor++
	_, err := p.OpenSession(t.Context(), c)
	wantFailure(t, "another amount under the same key", err, domain.Permanent, "key_reused")
}

func TestStripesBooksTellHowFarASessionIs(t *testing.T) { // S-5
	p, s := account(t)
	for _, c := range []struct {
		name     string
		happens  func(id string)
		state    order.SessionState
		payments string
	}{
		{"nothing", func(string) {}, order.SessionOpen, ""},
		{"declined", s.Decline, order.SessionOpen, "declined 3509 EUR"},
		{"declined, then paid", func(id string) { s.Decline(id); s.Pay(id) }, order.SessionComplete, "paid 3509 EUR"},
		{"paid", s.Pay, order.SessionComplete, "paid 3509 EUR"},
		{"a cent less", func(id string) { s.PayOther(id, 3508, "eur") }, order.SessionComplete, "paid 3508 EUR"},
		{"another currency", func(id string) { s.PayOther(id, 3509, "usd") }, order.SessionComplete, "paid 3509 USD"},
		{"unpaid", s.PayLater, order.SessionComplete, "pending 3509 EUR"},
		{"unpaid, settled", func(id string) { s.PayLater(id); s.Settle(id) }, order.SessionComplete, "paid 3509 EUR"},
		{"unpaid, bounced", func(id string) { s.PayLater(id); s.Bounce(id) }, order.SessionComplete, "failed 3509 EUR"},
		{"expired", s.Expire, order.SessionExpired, ""},
		{"declined, expired", func(id string) { s.Decline(id); s.Expire(id) }, order.SessionExpired, "declined 3509 EUR"},
	} {
		c0 := checkout()
		session := open(t, p, c0)
		c.happens(session.ID)
		f := fetch(t, p, session.ID)
		var payments string
		for _, pay := range f.Payments {
			payments += fmt.Sprint(pay.State, " ", pay.Minor, " ", pay.Currency)
			if !strings.HasPrefix(pay.ID, "pi_") || pay.Payee != "" || time.Since(pay.At).Abs() > time.Minute {
				t.Errorf("%s: the payment is %+v", c.name, pay)
			}
		}
		if f.State != c.state || payments != c.payments || f.Order != c0.Order || f.Session != session.ID ||
			f.Provider != "stripe" || f.Live || f.ByCapture {
			t.Errorf("%s: %+v (%s), not %s (%s)", c.name, f, payments, c.state, c.payments)
		}
	}
}

func TestWhatCostsNothingIsPaidByTheSession(t *testing.T) { // M-10, S-5
	p, s := account(t)
	c := checkout()
	c.Minor, c.Total = 0, decimal.Zero
	session := open(t, p, c)
	if f := fetch(t, p, session.ID); len(f.Payments) > 0 {
		t.Errorf("paid before the customer agreed: %+v", f)
	}
	s.Pay(session.ID)
	if pay := paid(t, p, session.ID); pay.ID != session.ID || pay.State != order.StatePaid || pay.Minor != 0 || pay.Currency != "EUR" {
		t.Errorf("the payment is %+v", pay)
	}
}

func TestASessionThatStripeDoesNotKnowIsNone(t *testing.T) {
	p, _ := account(t)
	_, err := p.Fetch(t.Context(), "cs_test_nobodys")
	wantFailure(t, "fetch", err, domain.Permanent, "resource_missing")
	wantFailure(t, "expire", p.ExpireSession(t.Context(), "cs_test_nobodys"), domain.Permanent, "resource_missing")
}

func TestASessionThatIsOverIsExpired(t *testing.T) {
	p, s := account(t)
	for what, happens := range map[string]func(string){"open": func(string) {}, "paid": s.Pay, "expired": s.Expire} {
		id := open(t, p, checkout()).ID
		happens(id)
		for range 2 {
			if err := p.ExpireSession(t.Context(), id); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if f := fetch(t, p, id); f.State == order.SessionOpen {
			t.Errorf("%s: it can still be paid", what)
		}
	}
}

// A failure that is stored under a key must not make a session immortal.
func TestExpiringIsTriedUnderAnotherKeyEachTime(t *testing.T) { // S-6
	p, s := account(t)
	id := open(t, p, checkout()).ID
	s.Fail(stripetest.Fault{Call: "expire", Kind: stripetest.ErrorBefore})
	wantFailure(t, "the first try", p.ExpireSession(t.Context(), id), domain.Unknown, "server_error")
	if err := p.ExpireSession(t.Context(), id); err != nil {
		t.Errorf("the second try: %v", err)
	}
}

func TestSettingsThatCannotBeAreRefusedWithoutTellingThem(t *testing.T) {
	good := stripe.Options{Key: stripetest.Key, Secrets: []string{"whsec_1"}}
	for wrong, change := range map[error][]func(*stripe.Options){
		stripe.ErrKey: {
			func(o *stripe.Options) { o.Key = "" }, func(o *stripe.Options) { o.Key = "pk_live_canary" },
			func(o *stripe.Options) { o.Key = "sk_live_canary canary" },
		},
		stripe.ErrSecret: {func(o *stripe.Options) { o.Secrets = []string{"whsec_canary", " "} }},
		stripe.ErrURL: {
			func(o *stripe.Options) { o.URL = "http://canary.example" }, func(o *stripe.Options) {
				o.URL = "https://canary:canary@api.stripe.com"
			},
			func(o *stripe.Options) { o.URL = "canary" }, func(o *stripe.Options) { o.URL = "https://api.stripe.com/v1" },
		},
	} {
		for _, c := range change {
			o := good
			c(&o)
			if _, err := stripe.New(o); !errors.Is(err, wrong) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v should be %v and tell nothing", err, wrong)
			}
		}
	}
	for url, host := range map[string]string{
		"": "checkout.stripe.com", "https://api.stripe.com/": "checkout.stripe.com",
		"https://stripe.example:8443": "stripe.example:8443", "http://127.0.0.1:12111": "127.0.0.1:12111",
	} {
		if p, err := stripe.New(stripe.Options{Key: "rk_live_x", URL: url}); err != nil || p.Host() != host ||
			!p.Live() || p.Name() != "stripe" {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	p, s := account(t)
	s.Fail(stripetest.Fault{Kind: stripetest.Slow, Delay: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.Fetch(ctx, "cs_test_1")
	wantFailure(t, "no patience", err, domain.Unknown, "no_answer")
}
