//go:build system

package browser_test

import (
	"strings"
	"testing"
	"time"

	"hostpanel/domain/storefront"
	"hostpanel/http/browsertest"
	"hostpanel/http/demo"
	"hostpanel/paneltest"
)

func TestANewcomerBuysInTheShopOfTheDemoAndReadsTheMails(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.WithDemo).Stock(t)
	s.Server.Demo.Key = s.Known["key"]
	s.Start(t)
	back := demo.ShopURL(s.Public)
	if want := strings.Replace(s.Public, "127.0.0.1", "localhost", 1) + "/demo/shop/"; back != want {
		t.Fatalf("the shop is at %s, not at %s", back, want)
	}
	form := &storefront.Widget{
		Name: "Shop", Plans: []int64{1, 2, 3}, ShowHosting: true, ShowVPS: true, ShowFeatures: true, IsActive: true,
		Theme: "auto", Layout: "cards",
		PrimaryColor: "#3F37C9", AccentColor: "#14632F", BorderRadius: 12, CTAText: "Order", Language: "en", SuccessURL: back,
		CancelURL: back,
	}
	s.Do(t, storefront.MakeWidget{Widget: 21, WidgetID: paneltest.WidgetOne, Spec: form.Fields().Values(), At: time.Now()})
	p := browsertest.Open(t)
	p.Go(s.Public + "/demo/mail/")
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
	p.See("The mail went to a…@example.com. Nothing has come? Have a new link sent.")
	if to := p.Text(`deep("a.main").href`); to != s.Public+"/panel/" {
		t.Errorf("the panel is at %s", to)
	}
	if at := p.Text("location.href"); !strings.HasPrefix(at, back+"?order_id=") {
		t.Errorf("the customer came back to %s", at)
	}
	p.Accessible("the shop after an order")
	p.Picture("shop-done")
	p.Go(s.Public + "/demo/mail/")
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
