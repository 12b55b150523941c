package stripe_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
)

func TestWhatDoesNotWorkSaysWhetherItMayHaveHappened(t *testing.T) {
	for _, c := range []struct {
		kind  stripetest.Kind
		class domain.Class
		code  string
		made  int
	}{
		{stripetest.Busy, domain.Transient, "rate_limited", 0},
		{stripetest.InUse, domain.Transient, "key_in_use", 0},
		{stripetest.Denied, domain.Permanent, "auth_refused", 0},
		{stripetest.ErrorBefore, domain.Unknown, "server_error", 0},
		{stripetest.ErrorAfter, domain.Unknown, "server_error", 1},
		{stripetest.TimeoutBefore, domain.Unknown, "no_answer", 0},
		{stripetest.TimeoutAfter, domain.Unknown, "no_answer", 1},
		{stripetest.ResetBefore, domain.Unknown, "no_answer", 0},
		{stripetest.ResetAfter, domain.Unknown, "no_answer", 1},
		{stripetest.Garbage, domain.Unknown, "garbage", 1},
		{stripetest.Moved, domain.Unknown, "no_answer", 0},
	} {
		p, s := account(t)
		s.Fail(stripetest.Fault{Kind: c.kind, Delay: 50 * time.Millisecond})
		o := checkout()
		_, err := p.OpenSession(t.Context(), o)
		wantFailure(t, string(c.kind), err, c.class, c.code)
		if made, calls := s.Created(o.EffectKey), len(s.Calls("")); made != c.made || calls != 1 {
			t.Errorf("%s: %d made in %d calls; one try is one call", c.kind, made, calls)
		}
	}
}

func TestStripeIsGivenTheTimeItAsksFor(t *testing.T) {
	p, s := account(t)
	s.Fail(stripetest.Fault{Kind: stripetest.Busy, Delay: 7 * time.Second})
	_, err := p.Fetch(t.Context(), "cs_test_1")
	var f *domain.Failure
	if !errors.As(err, &f) || f.RetryAfter != 7*time.Second {
		t.Errorf("%v asks for %v", err, f)
	}
}

func TestAnUnreachableProviderHasDoneNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	p := at(t, nobody, stripetest.Key)
	_, err = p.OpenSession(t.Context(), checkout())
	wantFailure(t, "connection refused", err, domain.Transient, "unreachable")
}

func TestAnotherAccountsKeyIsRefused(t *testing.T) {
	_, s := account(t)
	p := at(t, s.URL, "sk_test_OfSomebodyElse")
	_, err := p.OpenSession(t.Context(), checkout())
	wantFailure(t, "a wrong key", err, domain.Permanent, "auth_refused")
}

func TestWhatStripeFindsWrongIsNotTriedAgain(t *testing.T) {
	p, _ := account(t)
	c := checkout()
	c.Email = "canary@customer.test, and another"
	_, err := p.OpenSession(t.Context(), c)
	wantFailure(t, "an address", err, domain.Permanent, "email_invalid")
	c = checkout()
	c.ExpiresAt = time.Now().Add(25 * time.Hour)
	_, err = p.OpenSession(t.Context(), c)
	wantFailure(t, "a day and an hour", err, domain.Permanent, "invalid_request")
}

// Both modes look alike from outside: only livemode tells them apart.
func TestMoneyIsRealWhereTheKeyIs(t *testing.T) {
	s := stripetest.Start(t, stripetest.Options{Key: "sk_live_OfTheTests"})
	p := at(t, s.URL, "sk_live_OfTheTests")
	if f := fetch(t, p, open(t, p, checkout()).ID); !f.Live || !p.Live() {
		t.Errorf("the key is live: %v; the session: %v", p.Live(), f.Live)
	}
	if _, err := stripe.New(stripe.Options{Key: stripetest.Key}); err != nil {
		t.Error(err)
	}
}
