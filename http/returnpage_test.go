package http_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/domain/order"
	"hostpanel/http/browsertest"
)

// linkCalled is where a link of the page leads; "": there is none.
func (b *browser) linkCalled(text string) string {
	for _, a := range elements(b.page, "a") {
		if textOf(a) == text {
			return attribute(a, "href")
		}
	}
	return ""
}

// Customers whose shop has named no page come to one of the panel. It goes on by itself,
// with and without script, until the order has come to an end.
func TestThePageAfterThePaymentGoesOnByItself(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).open(t)
	bound := []string{"X-API-Key", s.known["bound"], "Origin", "https://shop.example"}
	english := strings.Replace(aHostingOrder, "{", `{"language":"en","domain":"goes.example",`, 1)
	a := read(t, s.order(t, http.StatusCreated, english, bound...))
	id := a.ID
	shows := func(path string, isOpen bool) *browser {
		t.Helper()
		b := s.browser(t)
		w := b.get(path)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		has(t, w.Body.String(), `role="status"`, `src="/panel/live.js"`)
		if strings.Contains(w.Body.String(), `<noscript><meta http-equiv="refresh" content="3"></noscript>`) != isOpen ||
			strings.Contains(w.Body.String(), `id="state" data-every="3"`) != isOpen {
			t.Errorf("open %v: %s", isOpen, w.Body)
		}
		b.isForEverybody(t, "en", w.Body.String())
		return b
	}
	page := "/storefront/return/" + id + "/?outcome=success"
	b := shows(page, true)
	for text, want := range map[string]string{
		"Pay": a.URL, "Go back to the shop": "https://shop.example/?order_id=" + id, "Order again": "", "To the control panel": "", "Look again": "/storefront/return/" + id + "/",
	} {
		if got := b.linkCalled(text); got != want {
			t.Errorf("unpaid, %s: %q instead of %q", text, got, want)
		}
	}
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	b = shows(page, false)
	if b.linkCalled("To the control panel") != "/panel/" || b.linkCalled("Pay")+b.linkCalled("Order again") != "" || b.linkCalled("Go back to the shop") == "" {
		t.Errorf("active: %s", textOf(b.page))
	}

	gone := read(t, s.order(t, http.StatusCreated, strings.Replace(english, "goes.", "gone.", 1), bound...))
	s.press(gone, "action", "cancel")
	s.call("GET", "/storefront/return/"+gone.ID+"/?outcome=cancel", "")
	s.await(t, gone, order.StatusCancelled)
	b = shows("/storefront/return/"+gone.ID+"/?outcome=cancel", false)
	if again := b.linkCalled("Order again"); again != "https://shop.example/?plan_id=1" || b.linkCalled("Go back to the shop") != "" {
		t.Errorf("cancelled: %q", again)
	}
}

// In a browser, the page shows what comes of the order without a click: the payment,
// the setup and its end.
func TestABrowserOnThePageAfterThePaymentSeesTheOrderBecomeActive(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := openShop(t).stock(t).open(t)
	a := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"language":"en","domain":"goes.example",`, 1)))
	p.Go(s.public + "/storefront/return/" + a.ID + "/?outcome=success")
	p.Until(`document.querySelector("[role=status]") && [...document.links].some((a) => a.textContent === "Pay")`)
	s.press(a, "action", "pay")
	p.Until(`[...document.links].some((a) => a.textContent === "To the control panel")`)
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}

// The way back to the shop leads to sites that the order's key is for, and nowhere else:
// with a key, which is public, a caller can name any site as its own.
func TestTheWayBackToTheShopLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	own := strings.Replace(aHostingOrder, "{", `{"language":"en",`, 1)
	half := strings.Replace(own, "{", `{"success_url":"https://shop.example/done?cart=7",`, 1)
	for _, c := range []struct{ what, key, origin, body, path, want string }{
		{"a key for every site", "key", "https://evil.example", own, "", ""},
		{"a key that was used on no site", "bound", "", own, "", ""},
		{"a widget of another site", "bound", "", strings.Replace(withWidget, "allplansallplans", "strangerstranger", 1), "", ""},
		{"an address that names a site", "bound", "", own, "&success_url=https://evil.example/&shop=https://evil.example/", ""},
		{"a page for one of the two ways", "bound", "", half, "", "https://shop.example/done?cart=7&order_id="},
		{"a site of the key", "bound", "https://eu.sub.example", own, "", "https://eu.sub.example/?order_id="},
		{"the first site that it was used on", "bound", "http://localhost:3000", own, "", "https://eu.sub.example/?order_id="},
	} {
		headers := []string{"X-API-Key", s.known[c.key]}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		a := read(t, s.order(t, http.StatusCreated, c.body, headers...))
		b := s.browser(t)
		w := b.get("/storefront/return/" + a.ID + "/?outcome=cancel" + c.path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %v", c.what, w.Code, w.Header())
			continue
		}
		if c.want != "" {
			c.want += a.ID
		}
		if got := b.linkCalled("Go back to the shop") + b.linkCalled("Volver a la tienda"); got != c.want {
			t.Errorf("%s: %q instead of %q", c.what, got, c.want)
		}
		if strings.Contains(html.UnescapeString(w.Body.String()), "evil.example") {
			t.Errorf("%s: %s", c.what, w.Body)
		}
	}
}
