package http_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
)

const opMail = "op@example.com"

// An operator finds the order that needs a person, sees why, and lets it go on.
func TestAnOperatorLetsAStoppedOrderGoOnInTheBrowser(t *testing.T) {
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	page := "/storefront/orders/" + s.known["failed"] + "/"
	s.until(t, "operators are told, with the way to the page", func() bool {
		return s.count(t, `select count(*) from events where name = 'notification.raised' and data->>'url' = $1`, page) > 0
	})
	has(t, b.get("/storefront/orders/").Body.String(), s.known["running_number"], s.known["failed_number"], s.known["unpaid_number"], `<span class="count">3</span>`)
	failed := b.get("/storefront/orders/?status=failed&search=fails.example").Body.String()
	has(t, failed, page, "Failed")
	if strings.Contains(failed, s.known["running_number"]) {
		t.Error("orders in another status are shown")
	}
	text := b.get(page).Body.String()
	has(t, text, "fails.example", `badge parked">stopped`, "What has happened", "Let it go on")
	if n := strings.Count(text, `name="form" value="retry"`); n != 1 {
		t.Errorf("%d forms to go on", n)
	}
	if err := faults.For(s.Pool(), "engine").Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	goes(t, b.send("retry", "reason", "the engine is well again"), page)
	has(t, b.get(page).Body.String(), "The order goes on.")
	s.await(t, answer{ID: s.known["failed"]}, order.StatusActive)
	has(t, b.get(page).Body.String(), `badge active">Active`, "Send the welcome mail again")
}

// A refund asks for the password, and a double click gives the money back once.
func TestARefundInTheBrowserIsMadeOnce(t *testing.T) {
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	page := "/storefront/orders/" + s.known["running"] + "/"
	b.get(page)
	path, sent := b.fill("refund", "amount", "1.00", "reason", "goodwill", "password", "wrong")
	if w := b.do("POST", path, sent.Encode()); w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	path, sent = b.fill("refund", "amount", "1.00", "reason", "goodwill", "password", password)
	twin := b.twin()
	goes(t, b.do("POST", path, sent.Encode()), page)
	twin.do("POST", path, sent.Encode())
	if n := s.events(t, "order.refund_requested"); n != 1 {
		t.Errorf("%d refunds", n)
	}
	b.get(page)
	if w := b.send("refund", "amount", "99999", "reason", "too much"); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestThePagesOfOrdersAreForEverybodyAndOperatorsAlone(t *testing.T) {
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range []string{"", "?status=nonsense&page=-1", "?search=nothing+like+it", s.known["running"] + "/", s.known["failed"] + "/", s.known["unpaid"] + "/"} {
			w := b.get("/storefront/orders/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
		b.get("/storefront/orders/" + s.known["running"] + "/")
		b.isForEverybody(t, language, b.send("cancel").Body.String())
	}
	if w := s.browser(t).enter(opMail).get("/storefront/orders/" + s.known["run"] + "/"); w.Code != http.StatusNotFound {
		t.Errorf("no order: %d", w.Code)
	}
	if w := s.browser(t).enter("not" + opMail).get("/storefront/orders/"); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
	goes(t, s.browser(t).get("/storefront/orders/"), "/login/?next=%2Fstorefront%2Forders%2F")
}
