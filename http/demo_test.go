package http_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/storefront"
	"hostpanel/http/browsertest"
	"hostpanel/http/demo"
)

// withDemo gives the panel the pages that only a demo has.
func withDemo(s *shop) {
	s.server.Demo = &demo.Settings{Widget: widgetOne, Letters: os.DirFS(s.letters), Link: &demo.Link{}, Operator: "olga@example.com"}
}

func (s *shop) from(peer, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr, r.Host = peer, "127.0.0.1:8080"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	w := httptest.NewRecorder()
	s.server.Handler().ServeHTTP(w, r)
	return w
}

func TestANewcomerBuysInTheShopOfTheDemoAndReadsTheMails(t *testing.T) {
	t.Parallel()
	s := openShop(t, withDemo).stock(t)
	s.server.Demo.Key = s.known["key"]
	s.open(t)
	back := demo.ShopURL(s.public)
	if want := strings.Replace(s.public, "127.0.0.1", "localhost", 1) + "/demo/shop/"; back != want {
		t.Fatalf("the shop is at %s, not at %s", back, want)
	}
	form := &storefront.Widget{
		Name: "Shop", Plans: []int64{1, 2, 3}, ShowHosting: true, ShowVPS: true, ShowFeatures: true, IsActive: true, Theme: "auto", Layout: "cards",
		PrimaryColor: "#3F37C9", AccentColor: "#14632F", BorderRadius: 12, CTAText: "Order", Language: "en", SuccessURL: back, CancelURL: back,
	}
	s.do(t, storefront.MakeWidget{Widget: 21, WidgetID: widgetOne, Spec: form.Fields().Values(), At: time.Now()})
	p := browsertest.Open(t)
	p.Go(s.public + "/demo/mail/")
	p.See("There are no mails yet")
	p.Accessible("an empty mail program")
	p.Go(back)
	p.See("Your website, running in a minute")
	p.Click(`button[aria-label="Order: Hosting S"]`)
	p.Type("#hp-customer_name", "Ana Ruiz")
	p.Type("#hp-customer_email", "ana@example.com")
	p.Click("dialog button[type=submit]")
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	p.Click(`button[value="pay"]`)
	p.See("Everything is ready")
	if at := p.Text("location.href"); !strings.HasPrefix(at, back+"?order_id=") {
		t.Errorf("the customer came back to %s", at)
	}
	p.Accessible("the shop after an order")
	p.Picture("shop-done")
	p.Go(s.public + "/demo/mail/")
	p.See("ana@example.com")
	p.Accessible("the mail program")
	p.Picture("mail")
	p.Click(`a[href$=".eml/"]`)
	p.Until(`location.pathname.endsWith(".eml/")`)
	p.Go(back + "?lang=es")
	p.See("Su web, en marcha en un minuto")
	p.See("Precios con impuestos incluidos")
	p.Accessible("the shop")
	p.Picture("shop")
	p.Size(320, 800)
	p.Prefers("prefers-color-scheme", "dark")
	p.Go(back)
	p.See("Prices include tax")
	p.Accessible("the shop on a small screen")
	p.Picture("shop-320-dark")
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}

func TestTheDemosMailsAndLinkAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	s := openShop(t, withDemo)
	s.resident(t, 71, "olga@example.com", "en", true)
	for _, path := range []string{"/demo/mail/", "/demo/mail/x.eml/", "/demo/mail/x.eml/html/", "/demo/sign-in/"} {
		for _, call := range []struct{ peer, name, value string }{
			{"192.0.2.7:5", "Accept", "*/*"},
			{"127.0.0.1:5", "X-Forwarded-For", "127.0.0.1"},
			{"[::1]:5", "Forwarded", "for=127.0.0.1"},
			{"127.0.0.1:5", "Host", "evil.example:8080"},
			{"127.0.0.1:5", "Host", "localhost.evil.example"},
			{"127.0.0.1:5", "Host", ""},
		} {
			if w := s.from(call.peer, path, call.name, call.value); w.Code != http.StatusForbidden {
				t.Errorf("%s from %v: %d", path, call, w.Code)
			}
		}
	}
	for _, name := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "localhost"} {
		if w := s.from("127.0.0.1:5", "/demo/mail/x.eml/", "Host", name); w.Code != http.StatusNotFound {
			t.Errorf("a mail that is not there, at %s: %d", name, w.Code)
		}
	}
	plain := openShop(t)
	for _, path := range []string{"/demo/mail/", "/demo/shop/", "/demo/sign-in/"} {
		if w := plain.from("127.0.0.1:5", path); w.Code != http.StatusNotFound {
			t.Errorf("%s without a demo: %d", path, w.Code)
		}
	}
}

func TestTheDemosLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t, withDemo)
	s.resident(t, 71, "olga@example.com", "en", true)
	link := strings.TrimPrefix(s.server.Demo.Link.Draw(public), public)
	for _, story := range []struct{ path, to string }{
		{link + "x", "/login/"}, {"/demo/sign-in/", "/login/"}, {link, "/storefront/"}, {link, "/login/"},
	} {
		w := s.from("127.0.0.1:5", story.path)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != story.to || (w.Header().Get("Set-Cookie") != "") != (story.to == "/storefront/") {
			t.Errorf("%s: %d to %s", story.path, w.Code, w.Header().Get("Location"))
		}
	}
}
