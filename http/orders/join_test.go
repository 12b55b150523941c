package orders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// picks sends the form of the page.
func picks(s *paneltest.Shop, path, tenant string) *httptest.ResponseRecorder {
	return s.Call("POST", path, url.Values{"form": {"join"}, "tenant": {tenant}}.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
}

func TestTheCustomerChoosesTheTenantOfAnOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com")))
	path := order.JoinPath + s.Joining(paneltest.Ana, uuid.MustParse(a.ID)) + "/"
	for range 2 { // a GET changes nothing
		w := s.Call("GET", path, "", "Accept-Language", "en")
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), a.Number, "VPS M", `<option value="1" selected>`,
			`<option value="new">a new tenant</option>`, `name="robots" content="noindex"`)
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Robots-Tag": "noindex, nofollow",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %q", header, got)
			}
		}
	}
	for tenant, text := range map[string]string{
		"": "This field is required.", "2": "is not a valid choice.",
		"x": "is not a valid choice.",
	} {
		w := picks(s, path, tenant)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), text) && tenant == "" {
			t.Errorf("%q: %d %s", tenant, w.Code, w.Body)
		}
	}
	if w := s.Call("POST", path, "List-Unsubscribe=One-Click", "Content-Type",
		"application/x-www-form-urlencoded"); w.Code != http.StatusBadRequest {
		t.Errorf("another body: %d", w.Code)
	}
	if n := s.Events(t, "order.tenant_chosen"); n != 0 {
		t.Fatalf("%d events", n)
	}
	for _, w := range s.AtOnce(100, func(int) *httptest.ResponseRecorder { return picks(s, path, "1") }) {
		paneltest.Goes(t, w, path)
	}
	if n := s.Count(t, `select count(*) from events where name = 'order.tenant_chosen' and actor = $1 and stream = $2`,
		fmt.Sprint("user:", paneltest.Ana), "order-"+a.ID); n != 1 || s.Events(t, "order.tenant_chosen") != 1 {
		t.Errorf("%d events", n)
	}
	paneltest.Goes(t, picks(s, path, "new"), path)
	paneltest.Has(t, s.Call("GET", path, "", "Accept-Language", "en").Body.String(),
		`<option value="1" selected>`) // the only one
	paneltest.Goes(t, picks(s, path, "1"), path)

	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	if n := s.Count(t, `select count(*) from orders where id = $1 and tenant = 1`, a.ID); n != 1 {
		t.Error("the order has not joined")
	}
	paneltest.Has(t, s.Call("GET", path, "", "Accept-Language", "en").Body.String(),
		"already paid, and joins the tenant that you have chosen")
	if w := picks(s, path, "new"); w.Code != http.StatusConflict {
		t.Errorf("after the payment: %d", w.Code)
	}
	if strings.Contains(s.Logged.String(), strings.Trim(path, "/")) {
		t.Error("a link that works is in the log")
	}
}

// What a forged link is answered tells nothing of orders and accounts.
func TestALinkOfAnotherOrderOrUserIsAnsweredLikeAnUnknownOne(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com")))
	mine := uuid.MustParse(a.ID)
	bodies := map[string]bool{}
	good := s.Joining(paneltest.Ana, mine)
	for _, token := range []string{
		"x", lastChanged(good), good[1:], s.Unsubscribe(paneltest.Ana), s.Joining(paneltest.Eve, mine),
		s.Joining(paneltest.Ana, uuid.New()), s.Joining(999, mine),
		notice.Joining{User: paneltest.Ana, Order: mine}.Token([]byte("the key of another panel, of any length")),
	} {
		path := order.JoinPath + token + "/"
		for _, w := range []*httptest.ResponseRecorder{
			s.Call("GET", path, "", "Accept-Language", "en"),
			picks(s, path, "1"),
		} {
			if w.Code != http.StatusNotFound {
				t.Errorf("%s: %d", token, w.Code)
			}
		}
		bodies[s.Call("GET", path, "", "Accept-Language", "en").Body.String()] = true
	}
	if n := s.Events(t, "order.tenant_chosen"); n != 0 || len(bodies) != 1 {
		t.Errorf("%d events, %d different pages", n, len(bodies))
	}
}

// lastChanged is the token with another last character. The token has no unused bits there.
func lastChanged(token string) string {
	last := "A"
	if strings.HasSuffix(token, last) {
		last = "B"
	}
	return token[:len(token)-1] + last
}

// The shop cannot tell whether an address has an account.
func TestTheAnswerToAnOrderDoesNotTellWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	masked := func(email string) string {
		w := s.Order(t, http.StatusCreated, paneltest.VPSOrder(email))
		a := paneltest.Read(t, w)
		s.Until(t, "the order has been reacted to", func() bool {
			return s.Count(t, `select count(*) from readers where name = $2 and position >= (select position from events `+
				`where stream = $1 and version = 1)`, "order-"+a.ID, sagas.ReactionsReader) == 1
		})
		if email == "ana@example.com" { // the process of this test signs no links, so it asks no user
			s.Do(t, account.OfferJoining{User: paneltest.Ana, Order: uuid.MustParse(a.ID), At: time.Now()})
		}
		shown := s.Call("GET", "/storefront/api/orders/"+a.ID+"/", "", "X-API-Key", s.Known["key"])
		text := fmt.Sprint(w.Code, w.Body, shown.Code, shown.Body, len(shown.Header()))
		for _, own := range []string{a.ID, a.Number, a.URL, view(t, s, a.ID)} {
			text = strings.ReplaceAll(text, own, "…")
		}
		return text
	}
	known, unknown := masked("ana@example.com"), masked("who@example.com")
	if known != unknown {
		t.Errorf("%s\n%s", known, unknown)
	}
	if n := s.Events(t, "account.joining_offered"); n != 1 {
		t.Errorf("%d offers", n)
	}
}

// view is when an order was placed, as the shop reads it.
func view(t *testing.T, s *paneltest.Shop, id string) (created string) {
	t.Helper()
	_, rest, _ := strings.Cut(s.Call("GET", "/storefront/api/orders/"+id+"/", "", "X-API-Key",
		s.Known["key"]).Body.String(), `"created_at":"`)
	created, _, _ = strings.Cut(rest, `"`)
	return created
}
