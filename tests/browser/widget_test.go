//go:build system

package browser_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"hostpanel/domain/storefront"
	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// A storefrontSite is another website with the order form, under a strict
// policy: scripts and connections of the panel, and nothing else.
type storefrontSite struct {
	*paneltest.Shop
	t    *testing.T
	page *browsertest.Page
	url  string
}

// site starts another website. The panel is at 127.0.0.1, the site at
// localhost: another origin, and another site.
func site(t *testing.T, s *paneltest.Shop) *storefrontSite {
	t.Helper()
	w := &storefrontSite{Shop: s, t: t, page: browsertest.Open(t)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	w.url = fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	return w
}

func (w *storefrontSite) serve(to http.ResponseWriter, r *http.Request) {
	h := to.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %[1]s; connect-src %[1]s; "+
		"require-trusted-types-for 'script'; trusted-types 'none'", w.Public))
	element := r.URL.Query().Get("element")
	container := `<div ` + element + `></div>`
	if strings.Contains(element, "widget-id=") && !strings.Contains(element, "data-widget-id=") {
		container = `<hostpanel-widget ` + element + `></hostpanel-widget>`
	}
	key := r.URL.Query().Get("key")
	if key == "" {
		key = w.Known["key"]
	}
	fmt.Fprintf(to, `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A shop</title></head>
<body><main><h1>A shop</h1><h2>Our plans</h2>%s</main>
<script src="%s/storefront/widget.js" data-api-key="%s" async></script></body></html>`, container, w.Public, key)
}

// visit opens a page with an element of these attributes.
func (w *storefrontSite) visit(attributes string, query ...string) {
	w.t.Helper()
	address := w.url + "/?element=" + escaped(attributes)
	for i := 0; i < len(query); i += 2 {
		address += "&" + query[i] + "=" + escaped(query[i+1])
	}
	w.page.Go(address)
}

func escaped(text string) string {
	return strings.NewReplacer(" ", "%20", `"`, "%22", "&", "%26", "#", "%23", "+", "%2B").Replace(text)
}

// form makes an order form whose customers come back to the site.
func (w *storefrontSite) form(id int64, name, layout, language string, change ...func(*storefront.Widget)) {
	w.t.Helper()
	attributes := escaped(`data-widget-id="` + name + `"`)
	form := &storefront.Widget{
		Name: name, Plans: []int64{1, 2, 3}, ShowHosting: true, ShowVPS: true, ShowFeatures: true, IsActive: true,
		Theme: "auto", Layout: layout, PrimaryColor: "#3F37C9", AccentColor: "#14632F", BorderRadius: 14,
		CTAText: "Order now", Language: language,
		SuccessURL: w.url + "/thanks?element=" + attributes, CancelURL: w.url + "/cancelled?element=" + attributes,
	}
	if language == "es" {
		form.CTAText = "Contratar"
	}
	for _, c := range change {
		c(form)
	}
	w.Do(w.t, storefront.MakeWidget{Widget: id, WidgetID: name, Spec: form.Fields().Values(), At: time.Now()})
}

func (w *storefrontSite) clean() {
	w.t.Helper()
	if said := w.page.Console(); said != "" {
		w.t.Errorf("the console says: %s", said)
	}
}

func TestACustomerBuysOnAnotherSite(t *testing.T) {
	t.Parallel()
	for _, story := range []struct{ layout, language, order, pay, done string }{
		{"cards", "en", "Order now: Hosting S", "Continue to payment · €28.70", "Everything is ready"},
		{"table", "es", "Contratar: Hosting S", "Continuar al pago · 28,70 €", "Todo está listo"},
	} {
		t.Run(story.layout, func(t *testing.T) {
			s := paneltest.Open(t).Stock(t).Start(t)
			w := site(t, s)
			w.form(11, paneltest.WidgetOne, story.layout, story.language)
			p := w.page
			w.visit(`data-widget-id="`+paneltest.WidgetOne+`" data-domain="ana.example"`, "key", w.Known["key"])
			p.Click(`button[aria-label="` + story.order + `"]`)
			p.Type("#hp-customer_name", "Ana Ruiz")
			p.Type("#hp-customer_email", "ana@example.com")
			p.Click(`dialog input[value="yearly"] + .choice`)
			p.See(story.pay)
			p.Click("dialog button[type=submit]")
			p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
			p.Click(`button[value="pay"]`)
			p.See(story.done)
			if at := p.Text("location.origin"); at != w.url {
				t.Errorf("the customer came back to %s", at)
			}
			if n := p.Text("closedRoots"); n != "1" {
				t.Errorf("%s closed shadow roots", n)
			}
			if n := s.Events(t, "order.placed"); n != 1 {
				t.Errorf("%d orders", n)
			}
			w.clean()
		})
	}
}

// buy fills in the form of the plan Hosting S.
func (w *storefrontSite) buy() {
	w.t.Helper()
	w.page.Click(`button[aria-label="Order now: Hosting S"]`)
	w.page.Type("#hp-customer_name", "Ana Ruiz")
	w.page.Type("#hp-customer_email", "ana@example.com")
}

func TestADoubleClickAndTheBackButtonPlaceOneOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	w.visit(`data-widget-id="` + paneltest.WidgetOne + `"`)
	w.buy()
	p.Text(`(([button]) => { button.click(); button.click(); })(deepAll("dialog button[type=submit]"))`)
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	first := p.Text("location.href")
	p.Back()
	p.Until(`location.origin === "` + w.url + `" && deep("button.main")`)
	if p.Text(`Boolean(deep("dialog"))`) == "true" { // the browser kept the page as it was
		p.Click("dialog button[type=submit]")
	} else {
		w.buy()
		p.Click("dialog button[type=submit]")
	}
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	if again := p.Text("location.href"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Errorf("%d orders", n)
	}
	p.Click(`button[value="cancel"]`)
	p.See("The order was cancelled")
	p.Click(`.result button`)
	w.buy()
	p.Click("dialog button[type=submit]")
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	if again := p.Text("location.href"); again == first {
		t.Error("a cancelled order cannot be ordered again")
	}
	w.clean()
}

// lossy drops the answers to orders, after they were placed, so many times.
const lossy = `
const send = window.fetch;
let lost = %d;
window.fetch = async (address, options) => {
  const answer = await send(address, options);
  if (options?.method === "POST" && lost-- > 0) throw new TypeError("the connection broke");
  return answer;
};`

func TestOrdersWhoseAnswersAreLostArePlacedOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	p.Before(fmt.Sprintf(lossy, 4))
	w.visit(`data-widget-id="` + paneltest.WidgetOne + `"`)
	w.buy()
	p.Click("dialog button[type=submit]")
	p.See("Still trying")
	p.See("There is no connection at the moment")
	p.Until(`focused().getAttribute("role") === "alert"`)
	p.Click("dialog button[type=submit]") // the fourth answer is lost, the fifth comes
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Errorf("%d orders", n)
	}
}

func TestAVisitorReadsHelpfulWordsAndTheOwnerTheCause(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	s.Known["foreign"] = s.Issue(t, storefront.Test, "Foreign1", 7,
		&storefront.APIKey{RateLimit: 60, AllowedDomains: []string{"shop.example"}})
	s.Known["tight"] = s.Issue(t, storefront.Test, "TightKey", 7, &storefront.APIKey{RateLimit: 1})
	s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["tight"])
	for _, story := range []struct{ key, widget, says, cause, code string }{
		{
			"foreign", paneltest.WidgetOne, "Orders cannot be placed here at the moment.",
			"does not allow the origin http://localhost:", "origin_not_allowed",
		},
		{
			"expired", paneltest.WidgetOne, "Orders cannot be placed here at the moment.", "the API key has expired",
			"api_key_expired",
		},
		{
			"unknown", paneltest.WidgetOne, "Orders cannot be placed here at the moment.", "the API key is not valid",
			"invalid_api_key",
		},
		{"key", "nosuchwidget0000", "Orders cannot be placed here at the moment.", "no active widget", "not_found"},
		{
			"tight", paneltest.WidgetOne, "There were too many requests. Please try again in",
			"the rate limit of the API key is reached", "throttled",
		},
	} {
		t.Run(story.code, func(t *testing.T) {
			w := site(t, s)
			if story.code == "origin_not_allowed" {
				w.form(11, paneltest.WidgetOne, "cards", "en")
			}
			w.page.Before(`document.addEventListener("hostpanel:error", (e) => { window.code = e.detail.code; });`)
			w.visit(`data-widget-id="`+story.widget+`" data-lang="en"`, "key", s.Known[story.key])
			w.page.See(story.says)
			w.page.Until(`window.code === "` + story.code + `"`)
			if said := w.page.Console(); !strings.Contains(said, "hostpanel widget: ") || !strings.Contains(said, story.cause) {
				t.Errorf("the console says: %s", said)
			}
		})
	}
}

func TestAnAPIThatIsSlowOrAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	p.Before(`
const send = window.fetch, held = [];
window.mode = "hold";
window.release = () => { window.mode = ""; held.splice(0).forEach((go) => go()); };
window.fetch = async (address, options) => {
  if (mode === "hold") await new Promise((go) => held.push(go));
  if (mode === "away") throw new TypeError("no connection");
  return send(address, options);
};`)
	w.visit(`data-widget-id="` + paneltest.WidgetOne + `"`)
	p.See("This takes longer than usual")
	p.Text(`release()`)
	p.See("Hosting S")
	p.Text(`mode = "away"`)
	p.Text(`deepAll("[data-widget-id]").length && ` +
		`(document.querySelector("main").append(Object.assign(document.createElement("hostpanel-widget"), { id: "second" ` +
		`})), document.querySelector("#second").setAttribute("widget-id", "` + paneltest.WidgetOne + `"))`)
	p.See("The plans cannot be shown right now")
	p.Text(`mode = ""`)
	p.Text(`document.querySelector("#second").shadowRoot.querySelector("button").click()`)
	p.Until(`document.querySelector("#second").shadowRoot.querySelector("button[aria-label='Order now: Hosting S']")`)
}

func TestOrderingWorksByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	w.visit(`data-widget-id="`+paneltest.WidgetOne+`" data-plan="hosting-s"`, "key", w.Known["key"])
	p.See("Your choice")
	reach := func(what string) {
		t.Helper()
		for range 30 {
			if p.Text(`Boolean(focused()?.matches(`+"`"+what+"`"+`))`) == "true" {
				return
			}
			p.Keys(kb.Tab)
		}
		t.Fatalf("%s is not reached by the keyboard", what)
	}
	reach(`input[name="period"]`)
	p.Keys(kb.ArrowRight)
	p.See("You save €7.18 a year")
	reach(`button[aria-label="Order now: Hosting S"]`)
	p.Keys(kb.Enter)
	p.Until(`focused().name === "customer_name"`)
	p.Keys(kb.Escape)
	p.Until(`focused().matches("button[aria-label='Order now: Hosting S']") && !deep("dialog")`)
	p.Keys(kb.Enter)
	p.Until(`focused().name === "customer_name"`)
	p.Keys(kb.Enter) // sends what is not filled in yet
	p.Until(`focused().getAttribute("aria-invalid") === "true"`)
	p.Keys("Ana Ruiz" + kb.Tab + "ana@example.com")
	reach("button[type=submit]")
	for range 12 { // the focus stays in the dialog
		p.Keys(kb.Tab)
		if p.Text(`["BODY", "HTML"].includes(focused().tagName) || Boolean(focused().closest("dialog"))`) != "true" {
			t.Fatalf("the focus is at %s", p.Text("focused().outerHTML"))
		}
	}
	reach("button[type=submit]")
	p.Keys(kb.Enter)
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	w.clean()
}

func TestPagesHearOfOrders(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "es", func(f *storefront.Widget) { f.CTAText = "Order now" })
	p := w.page
	p.Before(`for (const name of ["loaded", "plan-selected", "order-created", "error"]) ` +
		`document.addEventListener("hostpanel:" + name, (e) => sessionStorage.setItem(name, JSON.stringify(e.detail)));`)
	w.visit(`widget-id="` + paneltest.WidgetOne + `" lang="en" period="yearly" plan="1" domain="ana.example"`)
	w.buy()
	if domain := p.Text(`deep("#hp-domain").value`); domain != "ana.example" {
		t.Errorf("the domain is %q", domain)
	}
	p.Click("dialog button[type=submit]")
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	p.Go(w.url + "/?element=")
	for name, part := range map[string]string{
		"loaded": `"slug":"hosting-s"`, "plan-selected": `{"plan_id":1,"slug":"hosting-s","period":"yearly"}`,
		"order-created": `"order_number":"ORD-`,
	} {
		if told := p.Text(`sessionStorage.getItem("` + name + `")`); !strings.Contains(told, part) ||
			strings.Contains(told, "Ana") {
			t.Errorf("%s: %s", name, told)
		}
	}
}

func TestAPaymentPageElsewhereIsNotGoneTo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	p.Before(`
const send = window.fetch;
window.fetch = async (address, options) => {
  const answer = await send(address, options);
  if (options?.method !== "POST") return answer;
  return new Response(JSON.stringify({ ...(await answer.json()), payment_url: "https://evil.example/pay" }), { status: 201 });
};`)
	w.visit(`data-widget-id="` + paneltest.WidgetOne + `"`)
	w.buy()
	p.Click("dialog button[type=submit]")
	p.See("The payment page has an unexpected address")
	if said := p.Console(); !strings.Contains(said, "the payment page https://evil.example is none of payment_origins") {
		t.Errorf("the console says: %s", said)
	}
}
