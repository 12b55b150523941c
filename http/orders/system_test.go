//go:build system

package orders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// The way back to the shop leads to sites that the order's key is for, and nowhere else:
// with a key, which is public, a caller can name any site as its own.
func TestTheWayBackToTheShopLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	own := strings.Replace(paneltest.HostingOrder, "{", `{"language":"en",`, 1)
	half := strings.Replace(own, "{", `{"success_url":"https://shop.example/done?cart=7",`, 1)
	var visits sync.WaitGroup // each waits for a payment that does not come
	defer visits.Wait()
	for _, c := range []struct{ what, key, origin, body, path, want string }{
		{"a key for every site", "key", "https://evil.example", own, "", ""},
		{"a key that was used on no site", "bound", "", own, "", ""},
		{
			"a widget of another site", "bound", "", strings.Replace(withWidget, "allplansallplans", "strangerstranger", 1), "",
			"",
		},
		{
			"an address that names a site", "bound", "", own, "&success_url=https://evil.example/&shop=https://evil.example/",
			"",
		},
		{"a page for one of the two ways", "bound", "", half, "", "https://shop.example/done?cart=7&order_id="},
		{"a site of the key", "bound", "https://eu.sub.example", own, "", "https://eu.sub.example/?order_id="},
		{
			"the first site that it was used on", "bound", "http://localhost:3000", own, "",
			"https://eu.sub.example/?order_id=",
		},
	} {
		headers := []string{"X-API-Key", s.Known[c.key]}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		if c.origin == "https://eu.sub.example" {
			visits.Wait() // the key remembers this site
		}
		a := paneltest.Read(t, s.Order(t, http.StatusCreated, c.body, headers...))
		visits.Go(func() {
			b := s.Browser(t)
			w := b.Get("/storefront/return/" + a.ID + "/?outcome=cancel" + c.path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d %v", c.what, w.Code, w.Header())
				return
			}
			if c.want != "" {
				c.want += a.ID
			}
			if got := b.LinkCalled("Go back to the shop") + b.LinkCalled("Volver a la tienda"); got != c.want {
				t.Errorf("%s: %q instead of %q", c.what, got, c.want)
			}
			if strings.Contains(html.UnescapeString(w.Body.String()), "evil.example") {
				t.Errorf("%s: %s", c.what, w.Body)
			}
		})
	}
}

func TestTheVisitOfTheReturnPageProvesNothing(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"language":"en",`, 1)))
	began := time.Now()
	back := follow(t, s.Public+"/storefront/return/"+a.ID+"/?outcome=success&status=paid")
	if took := time.Since(began); back.status != http.StatusOK || took < 2*time.Second || took > 6*time.Second {
		t.Fatalf("%d after %v", back.status, took)
	}
	paneltest.Has(t, back.page, "Waiting for payment.", a.URL)
	s.Await(t, a, order.StatusPaymentProcessing)
	if follow(t, s.Public+"/storefront/return/00000000-0000-4000-8000-000000000000/").status != http.StatusNotFound {
		t.Fatal("an unknown order is found")
	}
}

// Customers whose shop has named no page come to one of the panel. It goes on by itself,
// with and without script, until the order has come to an end.
func TestThePageAfterThePaymentGoesOnByItself(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	bound := []string{"X-API-Key", s.Known["bound"], "Origin", "https://shop.example"}
	english := strings.Replace(paneltest.HostingOrder, "{", `{"language":"en","domain":"goes.example",`, 1)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, english, bound...))
	id := a.ID
	shows := func(path string, isOpen bool) *paneltest.Browser {
		t.Helper()
		b := s.Browser(t)
		w := b.Get(path)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), `role="status"`, `src="/panel/live.js"`)
		if strings.Contains(w.Body.String(), `<noscript><meta http-equiv="refresh" content="3"></noscript>`) != isOpen ||
			strings.Contains(w.Body.String(), `id="state" data-every="3"`) != isOpen {
			t.Errorf("open %v: %s", isOpen, w.Body)
		}
		b.IsForEverybody(t, "en", w.Body.String())
		return b
	}
	page := "/storefront/return/" + id + "/?outcome=success"
	b := shows(page, true)
	for text, want := range map[string]string{
		"Pay": a.URL, "Go back to the shop": "https://shop.example/?order_id=" + id, "Order again": "",
		"Open the control panel": "", "Look again": "/storefront/return/" + id + "/",
	} {
		if got := b.LinkCalled(text); got != want {
			t.Errorf("unpaid, %s: %q instead of %q", text, got, want)
		}
	}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	b = shows(page, false)
	paneltest.Has(t, paneltest.TextOf(b.Page), "The mail went to", "…@", "Have a new link sent.")
	if b.LinkCalled("Open the control panel") != "/panel/" || b.LinkCalled("Pay")+b.LinkCalled("Order again") != "" ||
		b.LinkCalled("Go back to the shop") == "" {
		t.Errorf("active: %s", paneltest.TextOf(b.Page))
	}

	gone := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(english, "goes.", "gone.", 1), bound...))
	s.Press(gone, "action", "cancel")
	s.Call("GET", "/storefront/return/"+gone.ID+"/?outcome=cancel", "")
	s.Await(t, gone, order.StatusCancelled)
	b = shows("/storefront/return/"+gone.ID+"/?outcome=cancel", false)
	if again := b.LinkCalled("Order again"); again != "https://shop.example/?plan_id=1" ||
		b.LinkCalled("Go back to the shop") != "" {
		t.Errorf("cancelled: %q", again)
	}
}

// While the engine is away the costs are known, and the answer says what is not.
func TestAPreviewSaysWhichSystemDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	if _, err := sandbox.New(s.Pool()).Faults().Order(t.Context(),
		faults.Fault{Call: faults.Find, What: faults.ErrorBefore, Times: 100}); err != nil {
		t.Fatal(err)
	}
	p := foresee(t, s, `{"plan_id":1,"domain":"new.example"}`)
	if strings.Join(p.Unanswered, " ") != "engine:sandbox" || p.Total != "2.99" || p.calls() != "" || p.codes() != "" {
		t.Errorf("%+v", p)
	}
}

func TestALinkThatIsFollowedAfterThePaymentIsRefused(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com")))
	path := order.JoinPath + s.Joining(paneltest.Ana, uuid.MustParse(a.ID)) + "/"
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	w := picks(s, path, "1")
	if w.Code != http.StatusConflict {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	paneltest.Has(t, w.Body.String(), "The order is already paid, and a new tenant is made for it.")
	if n := s.Events(t, "order.tenant_chosen"); n != 0 {
		t.Errorf("%d events", n)
	}
}

func TestManyKeysComeInPages(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/storefront/keys/")
	b.Send("create", "name", "First", "password", paneltest.Password)
	for range 29 {
		b.Get("/storefront/keys/")
		b.Send("create", "name", "Key")
	}
	b.Get("/storefront/keys/")
	if got := cards(b); len(got) != 25 || got[0] != "Key" {
		t.Errorf("%v", got)
	}
	paneltest.Has(t, b.Get("/storefront/keys/?page=2").Body.String(), `href="/storefront/keys/?page=1"`)
	if got := cards(b); len(got) != 5 || got[4] != "First" {
		t.Errorf("%v", got)
	}
	for _, page := range []string{"0", "-1", "x", "99999999999999999999"} {
		if w := b.Get("/storefront/keys/?page=" + page); w.Code != http.StatusOK || len(cards(b)) != 25 {
			t.Errorf("page %s: %d", page, w.Code)
		}
	}
}

func TestAnAdministratorOrdersInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	const page = "/billing/orders/"
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(page).Body.String(), "VPS M", "49.90", "Setup fee", `name="plan_id"`, "Order and pay")
	wrong := orderFormOf(b, "plan_id", "1", "billing_period", "monthly", "payment_method", "test", "os_choice", "beos")
	if w := b.Do("POST", page, wrong.Encode()); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	b.Get(page)
	sent := orderFormOf(b, "plan_id", "2", "billing_period", "monthly", "payment_method", "test")
	first := b.Do("POST", page, sent.Encode())
	again := b.Do("POST", page, sent.Encode())
	if to := first.Header().Get("Location"); first.Code != http.StatusSeeOther ||
		!strings.Contains(to, "/storefront/checkout/") || again.Header().Get("Location") != to {
		t.Fatalf("%d %v, then %d %v", first.Code, first.Header(), again.Code, again.Header())
	}
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Errorf("%d orders", n)
	}
	member := s.Visiting(t, paneltest.Ben)
	shown := member.Get(page).Body.String()
	paneltest.Has(t, shown, "VPS M", "unpaid", first.Header().Get("Location"))
	if strings.Contains(shown, "Order and pay") {
		t.Error("a member may order")
	}
	if w := member.Do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("a member orders: %d", w.Code)
	}
	var id string
	if err := s.Owner.QueryRow(t.Context(), `select id::text from orders`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Answer{ID: id, URL: first.Header().Get("Location")}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	paneltest.Has(t, member.Get(page).Body.String(), "VPS M", "active")
}

func TestOneOfManyCustomersGetsADomain(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	answers := s.AtOnce(20, func(i int) *httptest.ResponseRecorder {
		body := strings.Replace(paneltest.HostingOrder, "{",
			fmt.Sprintf(`{"domain":"wanted.example","language":"%s",`, []string{"es", "en"}[i%2]), 1)
		return s.Call("POST", "/storefront/api/orders/", body, "X-API-Key", s.Known["key"])
	})
	won := 0
	for _, w := range answers {
		switch {
		case w.Code == http.StatusCreated:
			won++
		case w.Code != http.StatusBadRequest || w.Body.String() != `{"domain":["site with this domain already exists."]}`:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Events(t, "order.placed"); won != 1 || n != 1 {
		t.Fatalf("%d won, %d orders were placed", won, n)
	}
}

func TestAHundredEqualRequestsAtOnceMakeOneOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	named := strings.Replace(paneltest.HostingOrder, `{`, `{"domain":"hundred.example",`,
		1) // which no second order may have
	answers := s.AtOnce(100, func(int) *httptest.ResponseRecorder {
		return s.Call("POST", "/storefront/api/orders/", named, "X-API-Key", s.Known["key"], "Idempotency-Key", "once")
	})
	ids := map[string]bool{}
	for _, w := range answers {
		switch w.Code {
		case http.StatusCreated:
			ids[paneltest.Read(t, w).ID] = true
		case http.StatusConflict:
			if w.Header().Get("Retry-After") != "1" || paneltest.Read(t, w).Code != "idempotency_in_progress" {
				t.Errorf("%s %v", w.Body, w.Header())
			}
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Events(t, "order.placed"); n != 1 || len(ids) != 1 {
		t.Fatalf("%d orders were placed, %d answered", n, len(ids))
	}
	if !ids[paneltest.Read(t, s.Order(t, http.StatusCreated, named, "Idempotency-Key", "once")).ID] {
		t.Fatal("a later repeat got another order")
	}
}
