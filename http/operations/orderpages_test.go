package operations_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// A refund asks for the password, and a double click gives the money back once.
func TestARefundInTheBrowserIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/orders/" + s.Known["running"] + "/"
	b.Get(page)
	path, sent := b.Fill("refund", "amount", "1.00", "reason", "goodwill", "password", "wrong")
	if w := b.Do("POST", path, sent.Encode()); w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	path, sent = b.Fill("refund", "amount", "1.00", "reason", "goodwill", "password", paneltest.Password)
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), page)
	twin.Do("POST", path, sent.Encode())
	if n := s.Events(t, "order.refund_requested"); n != 1 {
		t.Errorf("%d refunds", n)
	}
	b.Get(page)
	if w := b.Send("refund", "amount", "99999", "reason", "too much"); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What may be written in the history of an order has words in both languages.
func TestEachKindOfTheHistoryOfAnOrderHasWords(t *testing.T) {
	t.Parallel()
	kinds := []string{
		"operations.recheck_requested", "operations.webhook_replayed", "operations.webhooks_replayed",
		"operations.runs_rebuilt", "webhook.received", "attempt.failed", "effect.intended", "effect.unknown",
		"effect.deferred", "effect.undoing",
	}
	examples := 0
	for _, folder := range []string{
		"../../domain/order", "../../domain/billing", "../../domain/hosting",
		"../../domain/webhook", "../../sagas",
	} {
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
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/orders/" + s.Known["failed"] + "/"
	paneltest.Has(t, b.Get(page).Body.String(), "Let it go on with something changed", `value="fails.example"`,
		"Website of the domain", "Setup stopped", "Webhooks about it", "/storefront/inbox/")
	for _, wrong := range []string{"", "not a domain"} {
		if w := b.Send("retry_with", "input", wrong); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", wrong, w.Code)
		}
	}
	paneltest.Has(t, b.Send("retry_with", "input", "-").Body.String(), `id="retry_with-input-wrong"`)
	paneltest.Goes(t, b.Send("retry_with", "input", "works.example", "reason", "the customer has another"), page)
	s.Await(t, paneltest.Answer{ID: s.Known["failed"]}, order.StatusActive)
	paneltest.Has(t, b.Get(page).Body.String(), `badge active">Active`, "Setup goes on")
	if n := s.Count(t, `select count(*) from events where name = 'saga.retried' and data -> 'corrections' ->> 'domain' `+
		`= 'works.example' and actor = 'operator:901'`); n != 1 {
		t.Errorf("%d runs go on with the other domain", n)
	}
}

// Operators hear what becomes of an order, by token and by session; others hear nothing.
func TestOperatorsHearWhatBecomesOfAnOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 903, "not"+paneltest.OpMail, "en", false)
	path := "/operations/api/v1/orders/" + s.Known["failed"] + "/events/"
	b := s.Browser(t).Enter(paneltest.OpMail)
	byToken := s.Stream(t, path, paneltest.Bearer(s.Known["root"])...)
	bySession := s.Stream(t, path, asScript(b)...)
	for _, h := range []*paneltest.EventStream{byToken, bySession} {
		h.Is("order", `"status":"failed"`)
	}
	s.Accepted(t, "orders/"+s.Known["failed"]+"/retry/", `{"input":{"domain":"else.example"}}`)
	for _, h := range []*paneltest.EventStream{byToken, bySession} {
		for e := h.Is("order", `"id":"`+s.Known["failed"]+`"`); !strings.Contains(e.Data, `"status":"active"`); {
			e = h.Is("order", `"id":"`+s.Known["failed"]+`"`)
		}
	}
	elsewhere := append(asScript(b)[:2:2], "Sec-Fetch-Site", "cross-site")
	for _, headers := range [][]string{nil, elsewhere, asScript(s.Browser(t).Enter("not" + paneltest.OpMail))} {
		if h := s.Dial(t, path, headers...); h.Answer.StatusCode != http.StatusUnauthorized &&
			h.Answer.StatusCode != http.StatusForbidden {
			t.Error(h.Answer.Status)
		}
	}
}

// asScript are the headers of a call by a script of the page.
func asScript(b *paneltest.Browser) []string {
	var cookies []string
	for name, value := range b.Cookies {
		cookies = append(cookies, name+"="+value)
	}
	return []string{"Cookie", strings.Join(cookies, "; "), "Sec-Fetch-Site", "same-origin"}
}

// What the invoice will say of its buyer stands on the page of the order and in its file.
func TestAnOrderShowsOperatorsTheAddressOfItsBuyer(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	placed := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(paneltest.HostingOrder, "{",
		`{"customer_address":"Gran Vía 2","customer_city":"Bilbao","customer_country":"es","customer_tax_id":"b87654321",`,
		1)))
	page := s.Browser(t).Enter(paneltest.OpMail).Get("/storefront/orders/" + placed.ID + "/").Body.String()
	paneltest.Has(t, page, "Gran Vía 2, Bilbao, ES", "Tax number", "B87654321")
	file := s.Call("GET", "/operations/api/v1/orders/"+placed.ID+"/", "", "Authorization", "Bearer "+s.Known["root"])
	paneltest.Has(t, file.Body.String(), `"customer_address":"Gran Vía 2","customer_city":"Bilbao",`+
		`"customer_postal_code":"","customer_country":"ES","customer_tax_id":"B87654321",`)
}
