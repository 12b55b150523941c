//go:build system

package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/browsertest"
	"hostpanel/http/samplecode/samplecodetest"
	"hostpanel/paneltest"
)

// A superuser makes a key in the guide; what the page then shows works as it stands.
func TestTheGuideShowsProgramsThatRunAsTheyStand(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	s.Resident(t, 5, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	paneltest.Has(t, b.Get(paneltest.GuidePath).Body.String(), "YOUR_API_KEY")
	b.Get(paneltest.GuidePath + "?widget=allplansallplans")
	paneltest.Refused(t, b.Twin().Send("create", "name", "Shop", "password", "wrong"), http.StatusBadRequest,
		"The current password is wrong.")
	w := b.Send("create", "name", "Shop", "password", paneltest.Password)
	key := b.ShownKey()
	if w.Code != http.StatusOK || !strings.HasPrefix(key, "sfk_test_") ||
		strings.Contains(w.Body.String(), "YOUR_API_KEY") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	paneltest.Has(t, b.Snippet(), `<div data-widget-id="allplansallplans"></div>`,
		`src="`+s.Public+`/storefront/widget.js" data-api-key="`+key+`"`)
	for _, language := range []string{"curl", "go", "python"} {
		t.Run(language, func(t *testing.T) {
			said := ""
			for _, code := range b.Samples(language) {
				said += samplecodetest.Run(t, language, code)
			}
			answeredAsShown(t, said)
		})
	}
	t.Run("javascript", func(t *testing.T) {
		site := site(t, s)
		site.visit(``)
		for _, code := range b.Samples("javascript") {
			site.page.Text("(async () => {" + code + "})()")
		}
		answeredAsShown(t, site.page.Console())
	})
	if strings.Contains(b.Get(paneltest.GuidePath).Body.String(), key) {
		t.Error("the key is shown twice")
	}
}

// answeredAsShown looks for the answers to all three calls: plans, order form, order.
func answeredAsShown(t *testing.T, said string) {
	t.Helper()
	said = strings.ReplaceAll(said, `\"`, `"`)
	paneltest.Has(t, said, `"slug":"hosting-s"`, `"widget_id":"allplansallplans"`, `"order_number":"ORD-`,
		`"status":"payment_processing"`)
}

// The preview is the real order form, read by the session. It places no order.
func TestTheGuidesPreviewWorksAndOrdersNothing(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	s.Resident(t, 5, paneltest.RootMail, "en", true)
	p := browsertest.Open(t)
	p.Go(s.Public + paneltest.GuidePath)
	p.Type("#sign_in-username", paneltest.RootMail)
	p.Type("#sign_in-password", paneltest.Password)
	p.Click("button.main")
	p.Until(`location.pathname === "` + paneltest.GuidePath + `"`)
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
	p.Go(s.Public + paneltest.GuidePath + "?widget=strictstrict0000&lang=es")
	p.Click(`button[aria-label="Copy: 3. The snippet"]`)
	p.Until(`window.pasted?.includes('data-widget-id="strictstrict0000" data-lang="es"') && window.pasted === ` +
		`document.querySelector("#snippet").textContent`)
	p.Click(`button[aria-label$=": Hosting S"]`)
	p.Type("#hp-customer_name", "Ana Ruiz")
	p.Type("#hp-customer_email", "ana@example.com")
	p.Type("#hp-customer_phone", "+34600000000")
	p.Type("#hp-customer_company", "Ruiz")
	p.Click("dialog button[type=submit]")
	p.See("Es una vista previa: no se hace ningún pedido.")
	if n := s.Events(t, "order.placed"); n != 0 {
		t.Errorf("%d orders", n)
	}
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
