package stripe_test

import (
	"testing"

	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

func TestAMethodIsForgottenOnce(t *testing.T) {
	p, s := account(t)
	m := saved(t, p, s)
	s.Fail(stripetest.Fault{Call: "detach", Kind: stripetest.ErrorBefore})
	wantFailure(t, "the first try", p.Forget(t.Context(), m), domain.Unknown, "server_error")
	lose(s, "detach", stripetest.ResetAfter)
	wantFailure(t, "the second", p.Forget(t.Context(), m), domain.Unknown, "no_answer")
	s.Repair()
	for range 2 {
		if err := p.Forget(t.Context(), m); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
	if err := p.Forget(t.Context(), order.SavedMethod{Token: "pm_none"}); err != nil {
		t.Errorf("it never was: %v", err)
	}
	s.Fail(stripetest.Fault{Call: "detach", Kind: stripetest.Denied})
	wantFailure(t, "the key", p.Forget(t.Context(), m), domain.Permanent, "auth_refused")
}
