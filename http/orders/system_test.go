//go:build system

package orders_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

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
