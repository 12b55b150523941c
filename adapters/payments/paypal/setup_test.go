package paypal_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.SetupFinisher = (*paypal.Provider)(nil)

// adding is a world with the page of a setup, on which nothing is done yet.
func adding(t *testing.T) (*world, order.Session) {
	t.Helper()
	w := newWorld(t)
	w.checkout.EffectKey = "method_setup/" + w.checkout.Order.String() + "/session/1"
	w.checkout.Minor, w.checkout.Number, w.checkout.Description, w.checkout.Save = 0, "", "", true
	w.checkout.ReturnURL, w.checkout.CancelURL = "https://panel.example.com/billing/payment-methods/?setup=1",
		"https://panel.example.com/billing/payment-methods/"
	page, err := w.OpenSetup(t.Context(), w.checkout)
	if err != nil {
		t.Fatal(err)
	}
	w.session = page.ID
	return w, page
}

// agreed is a world whose customer has agreed that the account is kept.
func agreed(t *testing.T) *world {
	t.Helper()
	w, _ := adding(t)
	w.there.Agree(w.setup().ID)
	return w
}

// setup is how it stands at PayPal.
func (w *world) setup() paypaltest.Setup { return w.there.SetupOf(w.checkout.Order.String()) }

func (w *world) finish(generation string) (*order.SavedMethod, error) {
	return w.FinishSetup(
		w.Context(),
		order.SetupCall{Session: w.session, Key: "method_setup/" + w.checkout.Order.String() + "/keep" + generation},
	)
}

// wantSetup checks how far the setup is, and whether its method is kept.
func (w *world) wantSetup(when string, state order.SessionState, token string) {
	w.Helper()
	f, got := w.fetch(), ""
	if f.Saved != nil {
		got = f.Saved.Token
	}
	if f.State != state || f.Order != w.checkout.Order || f.Session != w.session || f.Provider != "paypal" || f.Live ||
		len(f.Payments) != 0 || got != token {
		w.Errorf("%s: %+v, method %q", when, f, got)
	}
}

func (w *world) wantFailure(when string, err error, class domain.Class, code string) {
	w.Helper()
	if is, says := failure(w.T, err); is != class || says != code {
		w.Errorf("%s: %s %s", when, is, says)
	}
}

func TestAnAccountIsKeptWithoutAPayment(t *testing.T) {
	t.Parallel()
	w, page := adding(t)
	if u, err := url.Parse(page.URL); err != nil || u.Host != w.Host() || !page.ExpiresAt.Equal(w.checkout.ExpiresAt) {
		t.Errorf("the page is %+v, %v", page, err)
	}
	again, err := w.OpenSetup(t.Context(), w.checkout)
	if err != nil || again != page || w.there.Done("setup", "") != 1 {
		t.Errorf("the same key opens %+v: %v", again, err)
	}
	w.wantSetup("before the customer has done anything", order.SessionOpen, "")
	if saved, err := w.finish(""); saved != nil || err != nil {
		t.Errorf("finished before the customer agrees: %+v, %v", saved, err)
	}
	w.there.Agree(w.setup().ID)
	w.wantSetup("once the customer has agreed", order.SessionApproved, "")
	for range 2 {
		saved, err := w.finish("")
		if err != nil || saved == nil || *saved != (order.SavedMethod{
			Customer: w.setup().Customer, Token: w.setup().Token, Kind: "paypal",
		}) {
			t.Errorf("kept %+v, %v", saved, err)
		}
	}
	token := w.setup().Token
	w.wantSetup("once it is kept", order.SessionComplete, token)
	if n := w.there.Done("finish", ""); n != 1 || w.there.Done("create", "") != 0 {
		t.Errorf("kept %d times", n)
	}
	added := *w.fetch().Saved
	if err := w.Forget(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	w.wantSetup("once it is forgotten", order.SessionComplete, "")
	silent(t, w)
}

func TestAnAccountThatWasAddedCanBeCharged(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	saved, err := w.finish("")
	if err != nil {
		t.Fatal(err)
	}
	w.renew(*saved)
	if err := w.charge(""); err != nil {
		t.Fatal(err)
	}
	w.wantCharge(order.SessionComplete, order.StatePaid, "")
}

// A lost answer is found by a look, even once PayPal has forgotten the setup token. A second
// conversion is refused.
func TestALostAnswerKeepsOneMethod(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{paypaltest.ResetAfter, paypaltest.FailAfter, paypaltest.Garbage} {
		w := agreed(t)
		w.there.Break(paypaltest.Fault{Call: "finish", What: fault})
		_, err := w.finish("")
		w.wantFailure(fault, err, domain.Unknown, "no_answer")
		token := w.setup().Token
		w.wantSetup(fault, order.SessionComplete, token)
		_, err = w.finish("/2")
		w.wantFailure("a second conversion", err, domain.Unknown, "in_progress")
		w.there.EndSetup(w.setup().ID)
		w.wantSetup("without the setup token", order.SessionComplete, token)
		if n := w.there.Done("finish", ""); n != 1 {
			t.Errorf("%s: kept %d times", fault, n)
		}
	}
}

func TestACallThatWasNotCarriedOutIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	w.there.Break(paypaltest.Fault{Call: "finish", What: paypaltest.ResetBefore})
	_, err := w.finish("")
	w.wantFailure("no answer", err, domain.Unknown, "no_answer")
	w.wantSetup("a look", order.SessionApproved, "")
	if saved, err := w.finish(""); err != nil || saved == nil {
		t.Errorf("%+v, %v", saved, err)
	}
	w.there.Break(paypaltest.Fault{Call: "list", What: paypaltest.FailBefore})
	_, err = w.Fetch(t.Context(), w.session)
	w.wantFailure("a look without an answer", err, domain.Transient, "no_answer")
}

func TestTheOpeningOfASetupWhoseAnswerIsLostIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.there.Break(paypaltest.Fault{Call: "setup", What: paypaltest.ResetAfter})
	_, err := w.OpenSetup(t.Context(), w.checkout)
	w.wantFailure("the first try", err, domain.Unknown, "no_answer")
	if _, err := w.OpenSetup(t.Context(), w.checkout); err != nil || w.there.Done("setup", "") != 1 {
		t.Errorf("%d setups, %v", w.there.Done("setup", ""), err)
	}
}

func TestASetupThatPayPalHasForgottenIsExpired(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	if err := w.ExpireSession(t.Context(), w.session); err != nil {
		t.Fatal(err)
	}
	w.wantSetup("PayPal is not asked to end it", order.SessionApproved, "")
	w.there.EndSetup(w.setup().ID)
	f := w.fetch()
	if f.State != order.SessionExpired || f.Saved != nil || f.Order != uuid.Nil {
		t.Errorf("%+v", f)
	}
	_, err := w.finish("")
	w.wantFailure("converted too late", err, domain.Unknown, "in_progress")
}

func TestAnAccountThatPayPalRefusesIsNotKept(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	for _, issue := range []string{"INSTRUMENT_DECLINED", "PAYER_ACCOUNT_RESTRICTED"} {
		w.there.Unkept(issue)
		_, err := w.finish("")
		if class, code := failure(t, err); class != domain.Permanent || code == "" {
			t.Errorf("%s: %s %s", issue, class, code)
		}
	}
	w.there.Unkept("PAYER_ACTION_REQUIRED")
	if saved, err := w.finish(""); saved != nil || err != nil {
		t.Errorf("the customer has to agree again: %+v, %v", saved, err)
	}
	w.wantSetup("afterwards", order.SessionApproved, "")
}

func TestAnAppThatMayKeepNothingOpensNoSetup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.there.Vaulting("")
	_, err := w.OpenSetup(t.Context(), w.checkout)
	w.wantFailure("without Vault", err, domain.Permanent, "permission_denied")
}

// The webhook names the setup. It is not believed: a look tells.
func TestNewsOfASetupLeadToItAndProveNothing(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	forged := w.there.Tell("VAULT.PAYMENT-TOKEN.CREATED", map[string]any{
		"id": "pmforged", "customer": map[string]string{"id": "custforged", "merchant_customer_id": w.checkout.Order.String()},
	})
	n, err := w.Verify(forged.Raw, forged.Header, time.Now())
	if err != nil || !n.Handled || n.Order != w.checkout.Order || n.ObjectRef != "" || n.Payment != "" {
		t.Errorf("%+v, %v", n, err)
	}
	w.wantSetup("after it", order.SessionApproved, "")
	if _, err := w.finish(""); err != nil {
		t.Fatal(err)
	}
	w.there.Take()
	foreign := w.there.Tell("VAULT.PAYMENT-TOKEN.CREATED", map[string]any{
		"id": "pmforeign", "customer": map[string]string{"id": "custforeign", "merchant_customer_id": "customer-7"},
	})
	if n, err := w.Verify(foreign.Raw, foreign.Header, time.Now()); err != nil || n.Handled || n.Order != uuid.Nil {
		t.Errorf("of another shop: %+v, %v", n, err)
	}
}

func TestWhatBelongsToAnotherSetupIsToldAsSuch(t *testing.T) {
	t.Parallel()
	w := agreed(t)
	other := uuid.New()
	w.there.ChangeSetup(w.setup().ID, func(s *paypaltest.Setup) { s.Reference = other.String() })
	if f := w.fetch(); f.Order != other {
		t.Errorf("%+v", f)
	}
}

func TestOnlyASessionOfASetupIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, session := range []string{"", "SET1", "setup.A", "setup.A.", "setup.../x", "setup.A?b.C", "setup.A.B.C", "setup.A.B&page=2"} {
		_, err := w.FinishSetup(t.Context(), order.SetupCall{Session: session, Key: "k"})
		w.wantFailure("finish "+session, err, domain.Permanent, "no_such_session")
		if session == "SET1" {
			continue
		}
		_, err = w.Fetch(t.Context(), session)
		w.wantFailure("fetch "+session, err, domain.Permanent, "no_such_session")
	}
	if n := w.there.Calls("finish") + w.there.Calls("get setup") + w.there.Calls("get"); n != 0 {
		t.Errorf("%d calls", n)
	}
}
