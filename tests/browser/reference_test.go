//go:build system

package browser_test

import (
	"testing"

	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// onlySamples leaves the open operation on the page, and of the others and of the
// records three of each method: all are alike, and axe looks at every element.
const onlySamples = `(() => {
	const left = {};
	for (const each of document.querySelectorAll(".operation:not([open])")) {
		const method = each.dataset.method;
		left[method] = (left[method] ?? 0) + 1;
		if (left[method] > 3) each.remove();
	}
})()`

func TestTheReferenceIsSearchedAndTriedOut(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).People(t).Start(t)
	s.Resident(t, 71, "olga@example.com", "en", true)
	p := browsertest.Open(t)
	p.Go(s.Public + paneltest.ReferencePath)
	for width, scheme := range map[int64]string{320: "dark", 1440: "light"} {
		p.Size(width, 900)
		p.Prefers("prefers-color-scheme", scheme)
		p.Go(s.Public + paneltest.ReferencePath + "?" + scheme + "#site_create")
		p.Until(`document.querySelector("#site_create .try")`)
		p.View("reference-" + scheme)
		p.Text(onlySamples)
		p.Accessible("the reference, " + scheme)
		if wide := p.Text("document.documentElement.scrollWidth > innerWidth"); wide != "false" {
			t.Errorf("the page is wider than a window of %d", width)
		}
	}
	p.Size(1280, 900)
	p.Go(s.Public + paneltest.ReferencePath)
	p.Keys("/")
	p.Keys("nothing-like-it")
	p.Until(`document.querySelectorAll(".operation:not([hidden])").length === 0`)
	p.Text(`(() => { const box = document.querySelector("#find"); box.value = "healthz"; box.dispatchEvent(new Event("input")); })()`)
	p.See("1 match")
	p.Go(s.Public + paneltest.ReferencePath + "?key#plan_list")
	p.Type("#api-key", s.Known["key"])
	p.Click("#plan_list .try button")
	p.See(`"slug": "hosting-s"`)
	p.Go(s.Public + "/login/?next=/account/")
	p.Type("#sign_in-username", "olga@example.com")
	p.Type("#sign_in-password", paneltest.Password)
	p.Click("button.main")
	p.Until(`location.pathname === "/account/"`)
	p.Go(s.Public + paneltest.ReferencePath + "#me_change")
	p.Until(`document.querySelector("#me_change .try textarea")`)
	p.Text(`document.querySelector("#me_change .try textarea").value = '{"name": "Olga Tried"}'`)
	p.Click("#me_change .try button")
	p.See(`"name": "Olga Tried"`)
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
