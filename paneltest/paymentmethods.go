package paneltest

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/projections"
)

// KeepsCard saves a card of a person in a tenant, with the order that was paid by it.
func (s *Shop) KeepsCard(t testing.TB, tenant int64, person, with uuid.UUID) (card uuid.UUID) {
	t.Helper()
	card = uuid.NewSHA1(with, person[:])
	s.Do(t, billing.SaveMethod{ID: card, Tenant: tenant, At: BilledAt, Kept: billing.KeptMethod{
		SubjectID: person, Order: with, Provider: "test", Customer: "cus_1", Token: "pm_" + card.String(), Kind: "card", Brand: "visa", Last4: "4242", Expires: "2029-03",
	}})
	return card
}

// BuyerOf is the person who has placed an order.
func (s *Shop) BuyerOf(t testing.TB, id uuid.UUID) uuid.UUID {
	t.Helper()
	o, err := s.Tables.For(projections.System).Order(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return o.Subject
}
