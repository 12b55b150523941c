package orders_test

import (
	"net/http"
	"strings"
	"testing"

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
