package operations_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// astray is a webhook about a payment under a session that the panel knows of no order any
// more, with the order whose session it was.
func astray(t *testing.T, s *paneltest.Shop, id string) (webhook int, of paneltest.Answer) {
	t.Helper()
	of = paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	s.Until(t, "the reaction to the order has seen to its check", func() bool {
		return s.Count(t, `select count(*) from readers where name = 'sagas.reactions' and position >= (select position `+
			`from events where stream = $1 and name = 'order.placed')`, "order-"+of.ID) == 1
	})
	if _, err := s.Owner.Exec(t.Context(), `delete from payment_watch where order_id = $1::uuid`, of.ID); err != nil {
		t.Fatal(err)
	}
	if w := s.Webhook("/storefront/webhooks/test/",
		paneltest.Event(id, "checkout.session.completed", of, 299, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	if err := s.Owner.QueryRow(t.Context(),
		`update webhook_inbox set state = 'unmatched' where event_id = $1 and state = 'stored' returning id`,
		id).Scan(&webhook); err != nil {
		t.Fatal(err)
	}
	return webhook, of
}

// An operator matches a webhook with the order whose it is. The payment is held against
// what was ordered as ever, so it waits for the operator's word.
func TestAnOperatorMatchesAWebhookByHand(t *testing.T) {
	s := paneltest.Office(t).Start(t)
	webhook, lost := astray(t, s, "evt_astray")
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	vps := paneltest.Read(t, s.Order(t, http.StatusCreated,
		`{"plan_id":2,"customer_name":"Ana","customer_email":"ana@example.com","payment_method":"test","os_choice":"debian-12"}`))
	path := "webhook-inbox/" + strconv.Itoa(webhook) + "/match/"
	refused := func(of, says string) {
		t.Helper()
		w := s.Operate("POST", path, `{"order":"`+of+`","reason":"paid by link"}`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	refused(a.Number, "its session is that of another order")
	if _, err := s.Owner.Exec(t.Context(), `update test_payments.sessions set reference = '' where reference = $1`,
		lost.ID); err != nil {
		t.Fatal(err)
	}
	refused(vps.ID, "its amount differs")
	refused("ORD-1", "There is no such order.")
	refused(uuid.NewString(), "There is no such order.")
	if w := s.Operate("POST", path, `{"order":"`+a.Number+`"}`); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), `"reason"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := s.Count(t, `select count(*) from webhook_inbox where id = $1 and state = 'unmatched' and order_id is `+
		`distinct from $2::uuid`, webhook, a.ID); n != 1 {
		t.Error("a refusal has changed the webhook")
	}

	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	page := "/storefront/inbox/" + strconv.Itoa(webhook) + "/"
	spanish := s.Browser(t).Enter("es" + paneltest.OpMail)
	spanish.Get(page)
	paneltest.Has(t, spanish.Send("match", "order", vps.Number, "reason", "enlace").Body.String(), "el importe es otro")
	b := s.Browser(t).Enter(paneltest.OpMail)
	b.IsForEverybody(t, "en", b.Get(page).Body.String())
	form, sent := b.Fill("match", "order", strings.ToLower(a.Number), "reason", "paid by link")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", form, sent.Encode()), page)
	paneltest.Goes(t, twin.Do("POST", form, sent.Encode()), page)
	text := b.Get(page).Body.String()
	paneltest.Has(t, text, "The webhook is matched", "/storefront/orders/"+a.ID+"/")
	if strings.Contains(text, `value="match"`) {
		t.Error("it can be matched twice")
	}
	notNow(t, s.Operate("POST", path, `{"order":"`+a.Number+`","reason":"once more"}`))
	if n := s.Count(t, `select count(*) from events where name = 'order.webhook_matched' and actor = 'operator:901' `+
		`and stream = $1`, "order-"+a.ID); n != 1 {
		t.Errorf("%d events of the operator", n)
	}
	s.Until(t, "its payment is held", func() bool {
		return strings.Contains(s.Operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), a.ID)
	})
	s.Accepted(t, "orders/"+a.ID+"/accept/", `{"reason":"it is theirs"}`)
	s.Await(t, a, order.StatusActive)
	paneltest.Has(t, b.Get("/storefront/orders/"+a.ID+"/").Body.String(), "Webhook matched by hand", "paid by link")
}

// A webhook that names the order's own session pays the order at once.
func TestAMatchedWebhookOfTheOwnSessionPaysTheOrder(t *testing.T) {
	s := paneltest.Office(t).Start(t)
	webhook, a := astray(t, s, "evt_own")
	paneltest.Has(t, s.Accepted(t, "webhook-inbox/"+strconv.Itoa(webhook)+"/match/",
		`{"order":"`+a.ID+`","reason":"its check was lost"}`), `"state":"done"`, a.ID)
	s.Await(t, a, order.StatusActive)
}
