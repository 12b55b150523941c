package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
)

// astray is a webhook about a payment under a session that the panel knows of no order any
// more, with the order whose session it was.
func (s *shop) astray(t *testing.T, id string) (webhook int, of answer) {
	t.Helper()
	of = read(t, s.order(t, http.StatusCreated, aHostingOrder))
	s.until(t, "the reaction to the order has seen to its check", func() bool {
		return s.count(t, `select count(*) from readers where name = 'sagas.reactions' and position >= (select position from events where stream = $1 and name = 'order.placed')`, "order-"+of.ID) == 1
	})
	if _, err := s.owner.Exec(t.Context(), `delete from payment_watch where order_id = $1::uuid`, of.ID); err != nil {
		t.Fatal(err)
	}
	if w := s.tell("/storefront/webhooks/test/", event(id, "checkout.session.completed", of, 299, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	if err := s.owner.QueryRow(t.Context(), `update webhook_inbox set state = 'unmatched' where event_id = $1 and state = 'stored' returning id`, id).Scan(&webhook); err != nil {
		t.Fatal(err)
	}
	return webhook, of
}

// An operator matches a webhook with the order whose it is. The payment is held against
// what was ordered as ever, so it waits for the operator's word.
func TestAnOperatorMatchesAWebhookByHand(t *testing.T) {
	s := office(t).open(t)
	webhook, lost := s.astray(t, "evt_astray")
	a := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	vps := read(t, s.order(t, http.StatusCreated, `{"plan_id":2,"customer_name":"Ana","customer_email":"ana@example.com","payment_method":"test","os_choice":"debian-12"}`))
	path := "webhook-inbox/" + strconv.Itoa(webhook) + "/match/"
	refused := func(of, says string) {
		t.Helper()
		w := s.operate("POST", path, `{"order":"`+of+`","reason":"paid by link"}`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	refused(a.Number, "its session is that of another order")
	if _, err := s.owner.Exec(t.Context(), `update test_payments.sessions set reference = '' where reference = $1`, lost.ID); err != nil {
		t.Fatal(err)
	}
	refused(vps.ID, "its amount differs")
	refused("ORD-1", "There is no such order.")
	refused(uuid.NewString(), "There is no such order.")
	if w := s.operate("POST", path, `{"order":"`+a.Number+`"}`); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"reason"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := s.count(t, `select count(*) from webhook_inbox where id = $1 and state = 'unmatched' and order_id is distinct from $2::uuid`, webhook, a.ID); n != 1 {
		t.Error("a refusal has changed the webhook")
	}

	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	page := "/storefront/inbox/" + strconv.Itoa(webhook) + "/"
	spanish := s.browser(t).enter("es" + opMail)
	spanish.get(page)
	has(t, spanish.send("match", "order", vps.Number, "reason", "enlace").Body.String(), "el importe es otro")
	b := s.browser(t).enter(opMail)
	b.isForEverybody(t, "en", b.get(page).Body.String())
	form, sent := b.fill("match", "order", strings.ToLower(a.Number), "reason", "paid by link")
	twin := b.twin()
	goes(t, b.do("POST", form, sent.Encode()), page)
	goes(t, twin.do("POST", form, sent.Encode()), page)
	text := b.get(page).Body.String()
	has(t, text, "The webhook is matched", "/storefront/orders/"+a.ID+"/")
	if strings.Contains(text, `value="match"`) {
		t.Error("it can be matched twice")
	}
	notNow(t, s.operate("POST", path, `{"order":"`+a.Number+`","reason":"once more"}`))
	if n := s.count(t, `select count(*) from events where name = 'order.webhook_matched' and actor = 'operator:901' and stream = $1`, "order-"+a.ID); n != 1 {
		t.Errorf("%d events of the operator", n)
	}
	s.until(t, "its payment is held", func() bool {
		return strings.Contains(s.operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), a.ID)
	})
	s.accepted(t, "orders/"+a.ID+"/accept/", `{"reason":"it is theirs"}`)
	s.await(t, a, order.StatusActive)
	has(t, b.get("/storefront/orders/"+a.ID+"/").Body.String(), "Webhook matched by hand", "paid by link")
}

// A webhook that names the order's own session pays the order at once.
func TestAMatchedWebhookOfTheOwnSessionPaysTheOrder(t *testing.T) {
	s := office(t).open(t)
	webhook, a := s.astray(t, "evt_own")
	has(t, s.accepted(t, "webhook-inbox/"+strconv.Itoa(webhook)+"/match/", `{"order":"`+a.ID+`","reason":"its check was lost"}`), `"state":"done"`, a.ID)
	s.await(t, a, order.StatusActive)
}
