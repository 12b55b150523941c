package stripe_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.Keeper = (*stripe.Provider)(nil)

// adding asks for a page on which a method is added.
func adding() order.Checkout {
	c := checkout()
	c.Order = uuid.New()
	c.EffectKey = "method_setup/" + c.Order.String() + "/session/1"
	c.Minor, c.Number, c.Description = 0, "", ""
	return c
}

func setup(t *testing.T, p *stripe.Provider, c order.Checkout) order.Session {
	t.Helper()
	s, err := p.OpenSetup(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAMethodIsAddedWithoutAPayment(t *testing.T) {
	t.Parallel()
	p, s := account(t)
	c := adding()
	page := setup(t, p, c)
	if again := setup(t, p, c); again != page || s.Created(c.EffectKey) != 1 {
		t.Errorf("the same key opens %+v and %+v", page, again)
	}
	if f := fetch(t, p, page.ID); f.State != order.SessionOpen || f.Saved != nil || f.Order != c.Order {
		t.Errorf("before the customer has done anything: %+v", f)
	}
	method := s.Add(page.ID)
	f := fetch(t, p, page.ID)
	if f.State != order.SessionComplete || len(f.Payments) != 0 || f.Saved == nil || f.Saved.Token != method ||
		f.Saved.Customer == "" || f.Saved.Last4 != "4242" {
		t.Fatalf("afterwards: %+v", f)
	}
	charge := renewal(*f.Saved)
	session := open(t, p, charge)
	if err := p.Capture(t.Context(), captureOf(charge, session.ID)); err != nil {
		t.Errorf("it cannot be charged: %v", err)
	}
	if err := p.Forget(t.Context(), *f.Saved); err != nil {
		t.Error(err)
	}
	if kept := fetch(t, p, page.ID).Saved; kept != nil {
		t.Errorf("after it is forgotten: %+v", kept)
	}
}

func TestAMethodThatItsBankHasToConfirmIsNotKeptYet(t *testing.T) {
	t.Parallel()
	p, s := account(t)
	page := setup(t, p, adding())
	s.AddLater(page.ID)
	if f := fetch(t, p, page.ID); f.Saved != nil || f.State != order.SessionComplete {
		t.Errorf("the books have %+v", f)
	}
}

func TestASetupThatIsGivenUpCannotBeFinished(t *testing.T) {
	t.Parallel()
	p, _ := account(t)
	page := setup(t, p, adding())
	for range 2 {
		if err := p.ExpireSession(t.Context(), page.ID); err != nil {
			t.Fatal(err)
		}
	}
	if f := fetch(t, p, page.ID); f.State != order.SessionExpired || f.Saved != nil {
		t.Errorf("the books have %+v", f)
	}
}

func TestASetupWhoseAnswerIsLostIsOneSession(t *testing.T) {
	t.Parallel()
	p, s := account(t)
	c := adding()
	lose(s, "open", stripetest.ResetAfter)
	_, err := p.OpenSetup(t.Context(), c)
	wantFailure(t, "the first try", err, domain.Unknown, "no_answer")
	s.Repair()
	setup(t, p, c)
	if n := len(s.Sessions(c.Order.String())); n != 1 {
		t.Errorf("%d sessions", n)
	}
}
