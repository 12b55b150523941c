//go:build system

package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/browsertest"
	"hostpanel/http/css/csstest"
	"hostpanel/paneltest"
)

// hostile is a sheet within the rules that covers what it can reach.
const hostile = `.wl-scope,.wl-scope *{position:absolute;inset:-9999px;margin:-9999px;width:99999px;height:99999px;z-index:2147483647;
background:red;opacity:1;transform:scale(99)}
.wl-scope::before{content:"Sign in again";position:sticky;top:-9999px;left:-9999px;width:99999px;height:99999px}`

// In a browser, the worst sheet within the rules covers nothing but its own part, and one
// against the rules does nothing at all. Nothing is fetched from elsewhere, and the page to
// sign in looks as ever.
func TestNoTenantsSheetCoversThePanelOrFetchesFromElsewhere(t *testing.T) {
	p := browsertest.Open(t)
	look := paneltest.Bakery()
	look.LogoURL, look.FaviconURL, look.CustomCSS = "", "", hostile
	s := paneltest.WithSites(t).Branded(t, look).Start(t)
	p.Go(s.Public + "/healthz")
	p.Text(`document.cookie = "session=` + s.Visiting(t, paneltest.Ben).Cookies["session"] + `; path=/"`)
	p.Go(s.Public + "/panel/")
	p.Until(`getComputedStyle(document.querySelector("main")).position === "absolute"`)
	isOnTop := func(what string) {
		t.Helper()
		p.Until(`[...document.querySelectorAll("` + what + `")].length > 0 && [...document.querySelectorAll("` + what +
			`")].every((el) => {
			el.scrollIntoView({block: "nearest"}); // a long menu does not fit on the screen
			const r = el.getBoundingClientRect();
			return el.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2));
		})`)
	}
	isOwn := func() {
		t.Helper()
		if from := p.Text(`performance.getEntriesByType("resource").map((r) => r.name).filter((name) => new ` +
			`URL(name).origin !== location.origin).join()`); from != "" {
			t.Errorf("fetched from elsewhere: %s", from)
		}
	}
	isOnTop("header .brand, header .bell, header button, nav.menu li:nth-child(-n+3) a")
	isOwn()
	var refused strings.Builder
	for _, one := range csstest.Refused {
		refused.WriteString(one.Sent + "\n")
	}
	text, err := json.Marshal(strings.ReplaceAll(strings.ToValidUTF8(refused.String(), "?"), "\x00", "?"))
	if err != nil {
		t.Fatal(err)
	}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Spec: field.Values{"custom_css": text}})
	p.Go(s.Public + "/panel/")
	p.Until(`document.readyState === "complete" && !document.querySelector(".wl-scope") && ` +
		`document.querySelectorAll("link[rel=stylesheet]").length === 2`)
	isOwn()
	p.Click("header form button")
	p.Until(`location.pathname === "/login/" && document.querySelectorAll("link[rel=stylesheet]").length === 1`)
	isOnTop("#sign_in-username, #sign_in-password, form button.main")
	isOwn()
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
