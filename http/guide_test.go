package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/http/browsertest"
	"hostpanel/http/samplecode/samplecodetest"
)

const guidePath = "/storefront/integration/"

// samples are the programs that a page shows in one language.
func (b *browser) samples(language string) (all []string) {
	for _, code := range elements(b.page, "code") {
		if attribute(code, "data-sample") == language {
			all = append(all, rawText(code))
		}
	}
	return all
}

func rawText(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

// snippet is what the guide tells websites to put into their pages.
func (b *browser) snippet() string {
	for _, code := range elements(b.page, "code") {
		if attribute(code, "id") == "snippet" {
			return rawText(code)
		}
	}
	return ""
}

// A superuser makes a key in the guide; what the page then shows works as it stands.
func TestTheGuideShowsProgramsThatRunAsTheyStand(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).open(t)
	s.resident(t, 5, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	has(t, b.get(guidePath).Body.String(), "YOUR_API_KEY")
	b.get(guidePath + "?widget=allplansallplans")
	refused(t, b.twin().send("create", "name", "Shop", "password", "wrong"), http.StatusBadRequest, "The current password is wrong.")
	w := b.send("create", "name", "Shop", "password", password)
	key := b.shownKey()
	if w.Code != http.StatusOK || !strings.HasPrefix(key, "sfk_test_") || strings.Contains(w.Body.String(), "YOUR_API_KEY") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	has(t, b.snippet(), `<div data-widget-id="allplansallplans"></div>`, `src="`+s.public+`/storefront/widget.js" data-api-key="`+key+`"`)
	for _, language := range []string{"curl", "go", "python"} {
		t.Run(language, func(t *testing.T) {
			said := ""
			for _, code := range b.samples(language) {
				said += samplecodetest.Run(t, language, code)
			}
			answeredAsShown(t, said)
		})
	}
	t.Run("javascript", func(t *testing.T) {
		site := s.site(t)
		site.visit(``)
		for _, code := range b.samples("javascript") {
			site.page.Text("(async () => {" + code + "})()")
		}
		answeredAsShown(t, site.page.Console())
	})
	if strings.Contains(b.get(guidePath).Body.String(), key) {
		t.Error("the key is shown twice")
	}
}

// answeredAsShown looks for the answers to all three calls: plans, order form, order.
func answeredAsShown(t *testing.T, said string) {
	t.Helper()
	said = strings.ReplaceAll(said, `\"`, `"`)
	has(t, said, `"slug":"hosting-s"`, `"widget_id":"allplansallplans"`, `"order_number":"ORD-`, `"status":"payment_processing"`)
}

func TestTheGuideTakesAKeyThatItsReaderHas(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	s.resident(t, 5, rootMail, "es", true)
	b := s.browser(t).enter(rootMail)
	b.get(guidePath + "?widget=strictstrict0000&lang=en")
	refused(t, b.twin().send("use_key", "key", s.known["mistyped"]), http.StatusBadRequest, "Esta clave no está completa.")
	w := b.send("use_key", "key", " "+s.known["live"]+"\n")
	if w.Code != http.StatusOK || b.shownKey() != s.known["live"] {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	has(t, b.snippet(), `data-widget-id="strictstrict0000" data-lang="en"`, s.known["live"])
	order := b.samples("python")[2]
	has(t, order, `"customer_phone": "`, `"customer_company": "`, `"plan_id": 1`)
	if strings.Contains(s.logged.String(), s.known["live"]) {
		t.Error("the key is in the log")
	}
}

// Users without the rights of operators have a placeholder, and see order forms whose
// numbers they know, as visitors of websites do.
func TestTheGuideIsForEveryUser(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	s.resident(t, 5, anaMail, "en", false)
	goes(t, s.browser(t).get(guidePath), "/login/?next=%2Fstorefront%2Fintegration%2F")
	b := s.browser(t).enter(anaMail)
	text := b.get(guidePath).Body.String()
	has(t, text, "YOUR_API_KEY", "YOUR_WIDGET_ID", "Choose an order form above")
	if strings.Contains(text, "allplansallplans") || strings.Contains(text, `name="form" value="create"`) {
		t.Error("a user sees the operators' order forms, or may make a key")
	}
	has(t, b.get(guidePath+"?widget=allplansallplans").Body.String(), `data-preview="/storefront/preview/allplansallplans/"`, "https://shop.example/thanks?from=panel")
	for _, unknown := range []string{"inactiveinactive", "nobodyhasmadethi", "%3Cscript%3E", "x%00"} {
		w := b.get(guidePath + "?widget=" + unknown)
		if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), "There is no active order form with this number.") || w.Code >= http.StatusInternalServerError {
			t.Errorf("%s: %d %s", unknown, w.Code, w.Body)
		}
	}
	if w := b.do("POST", guidePath, "form=create"); w.Code != http.StatusForbidden {
		t.Errorf("a user makes a key: %d", w.Code)
	}
}

// The preview is the real order form, read by the session. It places no order.
func TestTheGuidesPreviewWorksAndOrdersNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).open(t)
	s.resident(t, 5, rootMail, "en", true)
	p := browsertest.Open(t)
	p.Go(s.public + guidePath)
	p.Type("#sign_in-username", rootMail)
	p.Type("#sign_in-password", password)
	p.Click("button.main")
	p.Until(`location.pathname === "` + guidePath + `"`)
	p.See("Hosting S")
	for _, width := range []int64{320, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			p.Size(width, 900)
			p.Prefers("prefers-color-scheme", scheme)
			p.Accessible("the guide, " + scheme)
			p.Picture(fmt.Sprintf("guide-%d-%s", width, scheme))
			if wide := p.Text("document.documentElement.scrollWidth > innerWidth"); wide != "false" {
				t.Errorf("the page is wider than a window of %d", width)
			}
		}
	}
	p.Before(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.pasted = text; } } });`)
	p.Go(s.public + guidePath + "?widget=strictstrict0000&lang=es")
	p.Click(`button[aria-label="Copy: 3. The snippet"]`)
	p.Until(`window.pasted?.includes('data-widget-id="strictstrict0000" data-lang="es"') && window.pasted === document.querySelector("#snippet").textContent`)
	p.Click(`button[aria-label$=": Hosting S"]`)
	p.Type("#hp-customer_name", "Ana Ruiz")
	p.Type("#hp-customer_email", "ana@example.com")
	p.Type("#hp-customer_phone", "+34600000000")
	p.Type("#hp-customer_company", "Ruiz")
	p.Click("dialog button[type=submit]")
	p.See("Es una vista previa: no se hace ningún pedido.")
	if n := s.events(t, "order.placed"); n != 0 {
		t.Errorf("%d orders", n)
	}
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
