package test_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.Saver = (*test.Provider)(nil)

// keptCard is a card that was kept by a payment on the page, and will do this when it is
// charged.
func keptCard(t *testing.T, does string) (*test.Provider, *clock, *order.SavedMethod) {
	t.Helper()
	c := newClock()
	p := provider(t, c)
	asked := checkout(c, uuid.New())
	asked.Save = true
	session := open(t, p, asked).ID
	act(t, p, order.HostedAction{Session: session, Action: "pay", Card: does})
	card := fetch(t, p, session).Payments[0].Saved
	if card == nil || card.Token == "" || card.Kind != "card" || len(card.Last4) != 4 || card.Expires() != "2099-12" {
		t.Fatalf("the provider keeps %+v", card)
	}
	return p, c, card
}

// chargeOf opens a session that charges a card, without a page.
func chargeOf(t *testing.T, p *test.Provider, c *clock, card *order.SavedMethod) (order.CaptureCall, order.Session) {
	t.Helper()
	id := uuid.New()
	asked := checkout(c, id)
	asked.Saved = card
	s := open(t, p, asked)
	return order.CaptureCall{Order: id, Session: s.ID, Key: "order/" + id.String() + "/capture", Saved: card}, s
}

func TestACardIsKeptOnlyIfItsOwnerAgrees(t *testing.T) {
	p, _, _, session := opened(t)
	act(t, p, order.HostedAction{Session: session, Action: "pay", Card: "decline"})
	if kept := fetch(t, p, session).Payments[0].Saved; kept != nil {
		t.Errorf("without an agreement the provider keeps %+v", kept)
	}
}

func TestAKeptCardIsChargedOnceAndWithoutAPage(t *testing.T) {
	p, c, card := keptCard(t, "succeed")
	call, s := chargeOf(t, p, c, card)
	f := fetch(t, p, s.ID)
	if s.URL != "" || f.State != order.SessionApproved || !f.ByCapture || len(f.Payments) != 1 ||
		f.Payments[0].State != order.StateCreated {
		t.Fatalf("before the charge: %+v %+v", s, f)
	}
	if _, err := p.Session(t.Context(), s.ID); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("the session of a charge has a page: %v", err)
	}
	if _, err := p.Act(t.Context(), order.HostedAction{Session: s.ID, Action: "pay"}); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("the session of a charge has buttons: %v", err)
	}
	for range 3 {
		if err := p.Capture(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	wantBooks(t, p, s.ID, order.SessionComplete, order.Payment{State: order.StatePaid, Minor: 3509, Currency: "EUR", ID: f.Payments[0].ID})
}

func TestACardRefusesAsItsOwnerHasChosen(t *testing.T) {
	for does, code := range map[string]string{
		"decline": "card_declined", "authenticate": order.NeedsCustomer, "disappear": order.MethodGone,
	} {
		p, c, card := keptCard(t, does)
		call, s := chargeOf(t, p, c, card)
		for range 2 {
			var f *domain.Failure
			if err := p.Capture(t.Context(), call); !errors.As(err, &f) || f.Class != domain.Permanent || f.Code != code {
				t.Errorf("%s: %v", does, err)
			}
		}
		if pay := fetch(t, p, s.ID).Payments[0]; pay.State != order.StateFailed || pay.Code != code {
			t.Errorf("%s: the books have %+v", does, pay)
		}
	}
}

func TestAnExpiredChargeTakesNoMoney(t *testing.T) {
	p, c, card := keptCard(t, "succeed")
	call, s := chargeOf(t, p, c, card)
	if err := p.ExpireSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if err := p.Capture(t.Context(), call); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("an expired charge: %v", err)
	}
	wantBooks(t, p, s.ID, order.SessionExpired)
}

func TestAForgottenCardIsChargedNoMore(t *testing.T) {
	p, c, card := keptCard(t, "succeed")
	call, _ := chargeOf(t, p, c, card)
	for range 2 {
		if err := p.Forget(t.Context(), *card); err != nil {
			t.Fatal(err)
		}
	}
	asked := checkout(c, uuid.New())
	asked.Saved = card
	var f *domain.Failure
	if _, err := p.OpenSession(t.Context(), asked); !errors.As(err, &f) || f.Code != order.MethodGone || f.Class != domain.Permanent {
		t.Errorf("a session for it: %v", err)
	}
	if err := p.Capture(t.Context(), call); !errors.As(err, &f) || f.Code != order.MethodGone {
		t.Errorf("a charge that had begun: %v", err)
	}
}

// The answer to a charge is lost after it was made.
func TestTheBooksTellWhatALostAnswerDoesNot(t *testing.T) {
	p, c, card := keptCard(t, "succeed")
	call, s := chargeOf(t, p, c, card)
	if _, err := p.Faults().Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "charge", What: faults.TimeoutAfter}); err != nil {
		t.Fatal(err)
	}
	if err := p.Capture(t.Context(), call); domain.ClassOf(err) != domain.Unknown {
		t.Fatalf("a lost answer: %v", err)
	}
	wantBooks(t, p, s.ID, order.SessionComplete, order.Payment{State: order.StatePaid, Minor: 3509, Currency: "EUR"})
}
