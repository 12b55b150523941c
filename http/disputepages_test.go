package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
)

// The page of an order tells a dispute in words: how it stands, and what happens next. Of
// one that the provider only reports, an operator says how it stands.
func TestADisputeIsToldInWordsOnThePageOfItsOrder(t *testing.T) {
	s := office(t).open(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	b, spanish := s.browser(t).enter(opMail), s.browser(t).enter("es"+opMail)
	a := s.bought(t, "claimed.example")
	page := "/storefront/orders/" + a.ID + "/"
	if text := b.get(page).Body.String(); strings.Contains(text, `aria-labelledby="dispute"`) || strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute is told of that there is not")
	}
	s.do(t, order.ReportDispute{ID: uuid.MustParse(a.ID), At: time.Now()})
	text := b.get(page).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, "to be confirmed", "the report could be forged", "Look at the provider how it stands")

	if w := b.send("dispute", "outcome", "open"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	b.get(page)
	goes(t, b.send("dispute", "outcome", "open", "reason", "seen at the provider"), page)
	s.until(t, "the service is off", func() bool {
		return strings.Contains(b.get(page).Body.String(), "The service is off until the dispute is decided.")
	})
	text = b.get(page).Body.String()
	has(t, text, "bank claims €2.99 back.", "If it is won, everything is as it was before.", "and its service ends.", `badge open">open`)
	if strings.Contains(text, `<option value="open"`) {
		t.Error("an open dispute can be opened")
	}
	spanishText := spanish.get(page).Body.String()
	spanish.isForEverybody(t, "es", spanishText)
	has(t, spanishText, "El banco del cliente reclama 2,99\u00a0€.", "El servicio está apagado")

	goes(t, b.send("dispute", "outcome", "won", "reason", "the bank gives in"), page)
	text = b.get(page).Body.String()
	has(t, text, "The dispute is won: €2.99 stays", "The state of the dispute is recorded.")
	if strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute that is over can be decided")
	}
	s.accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"lost","reason":"the bank has thought better of it"}`)
	has(t, b.get(page).Body.String(), "The dispute is lost: €2.99 went back", "The order counts as refunded", `badge failed">lost`)
}
