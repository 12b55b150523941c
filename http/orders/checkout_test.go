package orders_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/paneltest"
)

const withWidget = `{"plan_id":1,"customer_email":"ana@example.com","customer_name":"Ana","payment_method":"test",` +
	`"widget_id":"allplansallplans"}`

func TestThePaymentPageShowsWhatIsDueAndHasNoCode(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, withWidget))
	w := s.Call("GET", paneltest.PathOf(a.URL), "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	paneltest.Has(t, w.Body.String(), a.Number, "2,99\u00a0€", "Hosting S", `<html lang="es">`, `value="pay"`,
		`value="decline"`, `value="cancel"`, "/panel/style.css")
	paneltest.Has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'", "style-src 'self'",
		"frame-ancestors 'none'",
		"form-action 'self' https://shop.example https://shop.example;")
	for _, forbidden := range []string{"<script", "style=", "onclick", "ana@example.com"} {
		if strings.Contains(w.Body.String(), forbidden) {
			t.Errorf("%s is on the page", forbidden)
		}
	}
	if s.Call("GET", strings.Replace(paneltest.PathOf(a.URL), "cs_test_", "cs_test_0", 1),
		"").Code != http.StatusNotFound {
		t.Error("a session of another form is found")
	}
	if s.Call("GET", "/storefront/checkout/test/cs_test_"+strings.Repeat("a", 24)+"/", "").Code != http.StatusNotFound {
		t.Error("an unknown session is found")
	}
}

func TestADeclinedCardMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(withWidget, "{", `{"language":"en",`, 1)))
	declined := s.Press(a, "action", "decline")
	if declined.Code != http.StatusOK {
		t.Fatalf("%d %s", declined.Code, declined.Body)
	}
	paneltest.Has(t, declined.Body.String(), "The card was declined. You can try again.", `role="alert"`, `value="pay"`)
	paid := s.Press(a, "action", "pay")
	if paid.Code != http.StatusSeeOther || paid.Header().Get("Location") != paneltest.PublicURL+"/storefront/return/"+
		a.ID+"/?outcome=success" {
		t.Fatalf("%d %v", paid.Code, paid.Header())
	}
	late := s.Press(a, "action", "cancel")
	if late.Code != http.StatusConflict {
		t.Fatalf("%d %s", late.Code, late.Body)
	}
	paneltest.Has(t, late.Body.String(), "This order has been paid already.", "outcome=success")
}

func TestCancellingLeadsBackToTheShop(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, withWidget))
	w := s.Press(a, "action", "cancel")
	if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "?outcome=cancel") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	paneltest.Has(t, s.Call("GET", paneltest.PathOf(a.URL), "").Body.String(), "Esta página de pago ya no está abierta.")
}

func TestTheFormOfThePaymentPageIsChecked(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, withWidget))
	for _, fields := range [][]string{
		{},
		{"action", "steal"},
		{"action", "pay", "amount", "-1"},
		{"action", "pay", "amount", "much"},
		{"action", "pay", "currency", "euros"},
		{"action", "pay", "copies", "201"},
		{"action", "pay", "copies", "0"},
		{"action", "pay", "delay_ms", "-1"},
		{"action", "unpaid", "settle_ms", "x"},
	} {
		if w := s.Press(a, fields...); w.Code != http.StatusBadRequest {
			t.Errorf("%v: %d", fields, w.Code)
		}
	}
	if w := s.Call("POST", paneltest.PathOf(a.URL), `{"action":"pay"}`); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("JSON: %d", w.Code)
	}
	if n := s.Count(t, `select count(*) from test_payments.payments`); n != 0 {
		t.Fatal("a wrong form has paid")
	}
}

func TestWhatIsReallyPaidCanBeToldToThePage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, withWidget))
	w := s.Press(a, "action", "pay", "amount", "298", "currency", "usd", "copies", "3", "distinct", "1", "delay_ms", "0",
		"settle_ms", "")
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if n := s.Count(t, `select count(distinct body) from test_payments.webhooks`); n != 3 {
		t.Fatalf("%d events", n)
	}
	if n := s.Count(t, `select count(*) from test_payments.payments where minor = 298 and currency = 'USD'`); n != 1 {
		t.Fatal("the page paid something else")
	}
}

// A step is what a browser gets when it goes to an address.
type step struct {
	status   int
	location string
	page     string
}

// follow is a browser that goes one step.
func follow(t *testing.T, address string) step {
	t.Helper()
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Minute,
	}
	r, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return step{r.StatusCode, r.Header.Get("Location"), string(text)}
}

func TestWhoPaysComesBackToTheShopAndGetsWhatWasBought(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(withWidget, "{", `{"domain":"ana.example",`, 1)))
	paid := s.Press(a, "action", "pay")
	back := follow(t, paid.Header().Get("Location"))
	if want := "https://shop.example/thanks?from=panel&order_id=" + a.ID; back.status != http.StatusSeeOther ||
		back.location != want {
		t.Fatalf("%d %v", back.status, back.location)
	}
	s.Await(t, a, order.StatusActive)
	view := s.Call("GET", "/storefront/api/orders/"+a.ID+"/", "", "X-API-Key", s.Known["key"]).Body.String()
	paneltest.Has(t, view, `"status":"active","status_message":"Su pedido está activo."`)
}

func TestTheCustomerReadsHowFarTheSetupIs(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	slow := faults.Fault{Call: faults.Create, What: faults.Busy, Delay: time.Hour, Times: 100}
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"language":"en",`, 1)))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusProvisioning)
	want := order.Message(order.Standing{Status: order.StatusProvisioning, Step: "tenant.engine"}, "en")
	deadline := time.Now().Add(time.Minute)
	for {
		changed := s.Changed()
		view := s.Call("GET", "/storefront/api/orders/"+a.ID+"/", "", "X-API-Key", s.Known["key"]).Body.String()
		if strings.Contains(view, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s, want %s", view, want)
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestAWebhookFromOutsideIsEnough(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	s.Webhook("/storefront/webhooks/test/", paneltest.Event("evt_1", "checkout.session.completed", a, 299, "paid"))
	s.Await(t, a, order.StatusActive)
}

func TestAWrongAmountIsLookedAtByPeople(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"language":"en",`, 1)))
	back := follow(t, s.Press(a, "action", "pay", "amount", "1").Header().Get("Location"))
	if back.status != http.StatusOK {
		t.Fatal(back.status)
	}
	paneltest.Has(t, back.page, "Your payment is being checked by our team.", a.Number)
}

func TestCustomersAreSentOnlyToSitesThatTheKeyIsFor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	body := strings.Replace(withWidget, "allplansallplans", "strangerstranger", 1)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, body, "X-API-Key", s.Known["bound"]))
	page := s.Call("GET", paneltest.PathOf(a.URL), "")
	if strings.Contains(page.Header().Get("Content-Security-Policy"), "evil.example") {
		t.Error("the form may lead to a foreign site")
	}
	if back := follow(t, s.Press(a, "action", "pay").Header().Get("Location")); back.status != http.StatusOK {
		t.Fatalf("%d %v", back.status, back.location)
	}
	b := paneltest.Read(t, s.Order(t, http.StatusCreated, withWidget, "X-API-Key", s.Known["bound"]))
	if back := follow(t, s.Press(b, "action", "cancel").Header().Get("Location")); back.status != http.StatusSeeOther {
		t.Fatalf("%d %v", back.status, back.location)
	}
}

// An order says itself where its customer goes, if its key names the domain. Otherwise
// links of the panel would lead anywhere.
func TestAnOrderNamesThePagesOfItsShop(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	own := func(success, cancel string) string {
		return strings.Replace(withWidget, "{", fmt.Sprintf(`{"success_url":%q,"cancel_url":%q,`, success, cancel), 1)
	}
	bound := []string{"X-API-Key", s.Known["bound"]}
	for _, test := range []struct{ action, success, cancel, want string }{
		{"pay", "https://shop.example/done?cart=7", "", "https://shop.example/done?cart=7&order_id="},
		{"cancel", "", "https://eu.sub.example/cart", "https://eu.sub.example/cart?order_id="},
		{"cancel", "https://shop.example/done", "", "https://shop.example/cart?order_id="}, // the widget's
		{"pay", "http://localhost:3000/done", "", "http://localhost:3000/done?order_id="},
	} {
		a := paneltest.Read(t, s.Order(t, http.StatusCreated, own(test.success, test.cancel), bound...))
		if policy := s.Call("GET", paneltest.PathOf(a.URL),
			"").Header().Get("Content-Security-Policy"); !strings.Contains(policy, hostOf(test.want)) {
			t.Errorf("the form may not lead to %s: %s", test.want, policy)
		}
		if back := follow(t, s.Press(a, "action",
			test.action).Header().Get("Location")); back.status != http.StatusSeeOther || back.location != test.want+a.ID {
			t.Errorf("%+v: %d %s", test, back.status, back.location)
		}
	}
	for _, key := range []string{"bound", "key"} {
		for _, page := range []string{
			"https://evil.example/", "https://shop.example.evil.example/",
			"https://full.example/",
		} {
			w := s.Order(t, http.StatusBadRequest, own(page, page), "X-API-Key", s.Known[key])
			paneltest.Has(t, w.Body.String(), `{"success_url":["The key does not name this domain."],"cancel_url":["The key `+
				`does not name this domain."]}`)
		}
	}
	w := s.Order(t, http.StatusBadRequest, own("javascript:alert(1)", "http://shop.example/"), bound...)
	paneltest.Has(t, w.Body.String(), `"success_url":["Enter a valid`, `"cancel_url":["Enter a valid`)
}

// What a key no longer names is no longer gone to.
func TestANarrowerKeyLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	body := strings.Replace(withWidget, "{", `{"cancel_url":"https://eu.sub.example/cart",`, 1)
	for _, domains := range []string{`["shop.example"]`, `[]`} {
		a := paneltest.Read(t, s.Order(t, http.StatusCreated, body, "X-API-Key", s.Known["bound"]))
		s.Do(t, storefront.ChangeKey{ID: "BoundKey", Spec: field.Values{"allowed_domains": []byte(domains)}, At: time.Now()})
		s.Server.ForgetKey("BoundKey")
		if back := follow(t, s.Press(a, "action", "cancel").Header().Get("Location")); back.status != http.StatusOK {
			t.Errorf("%s: %d %s", domains, back.status, back.location)
		}
		s.Do(t, storefront.ChangeKey{
			ID: "BoundKey", Spec: field.Values{"allowed_domains": []byte(`["*.sub.example"]`)},
			At: time.Now(),
		})
		s.Server.ForgetKey("BoundKey")
	}
}

func hostOf(address string) string {
	u, _ := url.Parse(address)
	return u.Scheme + "://" + u.Host
}
