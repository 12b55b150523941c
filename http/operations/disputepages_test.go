package operations_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// The page of an order tells a dispute in words: how it stands, and what happens next. Of
// one that the provider only reports, an operator says how it stands.
func TestADisputeIsToldInWordsOnThePageOfItsOrder(t *testing.T) {
	s := paneltest.Office(t).Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	b, spanish := s.Browser(t).Enter(paneltest.OpMail), s.Browser(t).Enter("es"+paneltest.OpMail)
	a := s.Bought(t, "claimed.example")
	page := "/storefront/orders/" + a.ID + "/"
	if text := b.Get(page).Body.String(); strings.Contains(text, `aria-labelledby="dispute"`) ||
		strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute is told of that there is not")
	}
	s.Do(t, order.ReportDispute{ID: uuid.MustParse(a.ID), At: time.Now()})
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "to be confirmed", "the report could be forged", "Look at the provider how it stands")

	if w := b.Send("dispute", "outcome", "open"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("dispute", "outcome", "open", "reason", "seen at the provider"), page)
	s.Until(t, "the service is off", func() bool {
		return strings.Contains(b.Get(page).Body.String(), "The service is off until the dispute is decided.")
	})
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "bank claims €2.99 back.", "If it is won, everything is as it was before.",
		"and its service ends.", `badge open">open`)
	if strings.Contains(text, `<option value="open"`) {
		t.Error("an open dispute can be opened")
	}
	spanishText := spanish.Get(page).Body.String()
	spanish.IsForEverybody(t, "es", spanishText)
	paneltest.Has(t, spanishText, "El banco del cliente reclama 2,99\u00a0€.", "El servicio está apagado")

	paneltest.Goes(t, b.Send("dispute", "outcome", "won", "reason", "the bank gives in"), page)
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "The dispute is won: €2.99 stays", "The state of the dispute is recorded.")
	if strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute that is over can be decided")
	}
	s.Accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"lost","reason":"the bank has thought better of it"}`)
	paneltest.Has(t, b.Get(page).Body.String(), "The dispute is lost: €2.99 went back", "The order counts as refunded",
		`badge failed">lost`)
}
