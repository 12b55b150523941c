package http_test

import (
	"testing"

	"hostpanel/paneltest"
)

// billedForExamples has tenants 1 and 2 billed.
func billedForExamples(t testing.TB, s *paneltest.Shop) *paneltest.Shop {
	t.Helper()
	invoice, note := s.Billed(t, 1)
	s.Known["invoice"], s.Known["credit_note"], s.Known["open_invoice"] = invoice.String(), note.String(),
		s.Owes(t, 1, invoice).String()
	s.Documented(t)
	s.Machined(t, 991, 1, invoice)
	other, _ := s.Billed(t, 2)
	s.Known["card"] = s.KeepsCard(t, 1, s.BuyerOf(t, invoice), invoice).String()
	s.Known["waived_invoice"], s.Known["subscription"] = s.Owes(t, 2, other).String(), s.Subscribed(t, 2).String()
	s.Known["balance"], s.Known["movement"] = s.Credited(t, 1)
	s.Known["changing"] = s.OffersPlans(t).Running(t, 2).String()
	return s
}
