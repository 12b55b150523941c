package http_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/http/web"
)

const opMail = "op@example.com"

// An operator finds the order that needs a person, sees why, and lets it go on.
func TestAnOperatorLetsAStoppedOrderGoOnInTheBrowser(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
		has(t, b.get("/storefront/orders/"+s.known["running"]+"/").Body.String(), `id="hooks"`)
		for _, link := range elements(elements(b.page, "main")[0], "a") {
			if attribute(link, "href") == b.at {
				t.Errorf("the page of an order leads to itself: %s", textOf(link))
			}
		}
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

// What may be written in the history of an order has words in both languages.
func TestEachKindOfTheHistoryOfAnOrderHasWords(t *testing.T) {
	t.Parallel()
	kinds := []string{"operations.recheck_requested", "operations.webhook_replayed", "operations.webhooks_replayed", "operations.runs_rebuilt", "webhook.received", "attempt.failed", "effect.intended", "effect.unknown", "effect.deferred", "effect.undoing"}
	examples := 0
	for _, folder := range []string{"../domain/order", "../domain/billing", "../domain/hosting", "../domain/webhook", "../sagas"} {
		files, err := filepath.Glob(folder + "/testdata/events/*.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if strings.HasPrefix(name, "operation.") || strings.Contains(name, "deliver") {
				continue // no page shows their streams
			}
			kinds, examples = append(kinds, strings.TrimRight(name, ".0123456789")), examples+1
		}
	}
	if examples < 50 {
		t.Fatalf("only %d examples of events", examples)
	}
	for language, words := range web.Texts {
		for _, kind := range kinds {
			if words["kind_"+kind] == "" {
				t.Errorf("%s has no words in %s", kind, language)
			}
		}
	}
}

// An order whose setup stopped goes on with another domain, which is checked first.
func TestAStoppedOrderGoesOnWithAnotherDomainInTheBrowser(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	page := "/storefront/orders/" + s.known["failed"] + "/"
	has(t, b.get(page).Body.String(), "Let it go on with something changed", `value="fails.example"`, "Website of the domain", "Setup stopped", "Webhooks about it", "/storefront/inbox/")
	for _, wrong := range []string{"", "not a domain"} {
		if w := b.send("retry_with", "input", wrong); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", wrong, w.Code)
		}
	}
	has(t, b.send("retry_with", "input", "-").Body.String(), `id="retry_with-input-wrong"`)
	goes(t, b.send("retry_with", "input", "works.example", "reason", "the customer has another"), page)
	s.await(t, answer{ID: s.known["failed"]}, order.StatusActive)
	has(t, b.get(page).Body.String(), `badge active">Active`, "Setup goes on")
	if n := s.count(t, `select count(*) from events where name = 'saga.retried' and data -> 'corrections' ->> 'domain' = 'works.example' and actor = 'operator:901'`); n != 1 {
		t.Errorf("%d runs go on with the other domain", n)
	}
}

// Operators hear what becomes of an order, by token and by session; others hear nothing.
func TestOperatorsHearWhatBecomesOfAnOrder(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	path := "/operations/api/v1/orders/" + s.known["failed"] + "/events/"
	b := s.browser(t).enter(opMail)
	byToken := s.hear(t, path, bearer(s.known["root"])...)
	bySession := s.hear(t, path, b.asScript()...)
	for _, h := range []*hearing{byToken, bySession} {
		h.is("order", `"status":"failed"`)
	}
	s.accepted(t, "orders/"+s.known["failed"]+"/retry/", `{"input":{"domain":"else.example"}}`)
	for _, h := range []*hearing{byToken, bySession} {
		for e := h.is("order", `"id":"`+s.known["failed"]+`"`); !strings.Contains(e.data, `"status":"active"`); {
			e = h.is("order", `"id":"`+s.known["failed"]+`"`)
		}
	}
	elsewhere := append(b.asScript()[:2:2], "Sec-Fetch-Site", "cross-site")
	for _, headers := range [][]string{nil, elsewhere, s.browser(t).enter("not" + opMail).asScript()} {
		if h := s.dial(t, path, headers...); h.answer.StatusCode != http.StatusUnauthorized && h.answer.StatusCode != http.StatusForbidden {
			t.Error(h.answer.Status)
		}
	}
}

// asScript are the headers of a call by a script of the page.
func (b *browser) asScript() []string {
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	return []string{"Cookie", strings.Join(cookies, "; "), "Sec-Fetch-Site", "same-origin"}
}

// What the invoice will say of its buyer stands on the page of the order and in its file.
func TestAnOrderShowsOperatorsTheAddressOfItsBuyer(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	placed := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{",
		`{"customer_address":"Gran Vía 2","customer_city":"Bilbao","customer_country":"es","customer_tax_id":"b87654321",`, 1)))
	page := s.browser(t).enter(opMail).get("/storefront/orders/" + placed.ID + "/").Body.String()
	has(t, page, "Gran Vía 2, Bilbao, ES", "Tax number", "B87654321")
	file := s.call("GET", "/operations/api/v1/orders/"+placed.ID+"/", "", "Authorization", "Bearer "+s.known["root"])
	has(t, file.Body.String(), `"customer_address":"Gran Vía 2","customer_city":"Bilbao","customer_postal_code":"","customer_country":"ES","customer_tax_id":"B87654321",`)
}
