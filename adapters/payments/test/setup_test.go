package test_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.Keeper = (*test.Provider)(nil)

func TestACardIsAddedWithoutAPayment(t *testing.T) {
	c := newClock()
	p := provider(t, c)
	asked := checkout(c, uuid.New())
	page, err := p.OpenSetup(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.OpenSetup(t.Context(), asked); err != nil || again != page {
		t.Errorf("the same key opens %+v: %v", again, err)
	}
	if _, err := p.OpenSession(t.Context(), asked); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("the same key for a payment: %v", err)
	}
	act(t, p, order.HostedAction{Session: page.ID, Action: "decline"})
	if f := fetch(t, p, page.ID); f.State != order.SessionOpen || f.Saved != nil {
		t.Errorf("before: %+v", f)
	}
	for range 2 {
		act(t, p, order.HostedAction{Session: page.ID, Action: "pay", Card: "decline"})
	}
	f := fetch(t, p, page.ID)
	if f.State != order.SessionComplete || f.Order != asked.Order || len(f.Payments) != 0 || f.Saved == nil || f.Saved.Last4 != "0341" {
		t.Errorf("afterwards: %+v %+v", f, f.Saved)
	}
}

func TestACancelledSetupKeepsNothing(t *testing.T) {
	c := newClock()
	p := provider(t, c)
	page, err := p.OpenSetup(t.Context(), checkout(c, uuid.New()))
	if err != nil {
		t.Fatal(err)
	}
	act(t, p, order.HostedAction{Session: page.ID, Action: "cancel"})
	if f := fetch(t, p, page.ID); f.State != order.SessionExpired || f.Saved != nil {
		t.Errorf("the books have %+v", f)
	}
}
