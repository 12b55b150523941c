package orders_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

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
		"To the control panel": "", "Look again": "/storefront/return/" + id + "/",
	} {
		if got := b.LinkCalled(text); got != want {
			t.Errorf("unpaid, %s: %q instead of %q", text, got, want)
		}
	}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	b = shows(page, false)
	if b.LinkCalled("To the control panel") != "/panel/" || b.LinkCalled("Pay")+b.LinkCalled("Order again") != "" ||
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
