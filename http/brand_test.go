package http_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/browsertest"
	"hostpanel/http/css/csstest"
	"hostpanel/http/web"
)

// branded gives tenant 1 a look of its own.
func (s *shop) branded(t testing.TB, look hosting.WhiteLabel) *shop {
	t.Helper()
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()})
	return s
}

// bakery is a look with all that there is.
func bakery() hosting.WhiteLabel {
	look := *aLook
	look.BrandName, look.LogoURL, look.FaviconURL = `Bread "&" Co`, "https://cdn.bread.example/logo.png?a=1&b=2", "https://icons.example/bread.ico"
	look.FooterText, look.FooterURL, look.CustomCSS = "Baked daily.\nSince <1901>", "https://bread.example/", ".wl-scope h1{letter-spacing:7px}"
	return look
}

// sheets are the paths of the style sheets of the page besides that of the panel.
func (b *browser) sheets() (paths []string) {
	for _, link := range elements(b.page, "link") {
		if path := attribute(link, "href"); attribute(link, "rel") == "stylesheet" && path != web.StylePath {
			paths = append(paths, path)
		}
	}
	return paths
}

// isScoped tells whether a part of the page is a tenant's to style.
func (b *browser) isScoped() bool {
	return slices.ContainsFunc(elements(b.page, "main"), func(m *html.Node) bool { return strings.Contains(attribute(m, "class"), "wl-scope") })
}

// A tenant's name, logo, colors and sheet are on the pages of its users, and the sheet on
// none on which they prove who they are.
func TestATenantsBrandShowsOnThePagesOfItsUsers(t *testing.T) {
	s := withSites(t).branded(t, bakery())
	b := s.visiting(t, ben)
	for _, path := range []string{"/panel/", "/panel/sites/", "/panel/sites/1/edit/", web.InvoicesPath, web.NotificationsPath} {
		w := b.get(path)
		b.isForEverybody(t, "en", w.Body.String())
		has(t, w.Body.String(), `· Bread &#34;&amp;&#34; Co</title>`, `<img src="https://cdn.bread.example/logo.png?a=1&amp;b=2" alt="Bread &#34;&amp;&#34; Co" height="32">`,
			`<link rel="icon" href="https://icons.example/bread.ico">`, "<footer><p>Baked daily.</p>\n<p>Since &lt;1901&gt;</p>", `<a href="https://bread.example/" rel="noopener noreferrer">`)
		has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://cdn.bread.example https://icons.example;")
		sheets := b.sheets()
		if len(sheets) != 2 || !b.isScoped() || strings.Contains(w.Body.String(), ">hostpanel<") {
			t.Fatalf("%s: %v", path, sheets)
		}
		for _, sheet := range sheets {
			if w := b.twin().get(sheet); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", sheet, w.Code, w.Header())
			}
		}
	}
	for _, path := range []string{"/account/", "/account/second-factor/", "/account/sessions/", web.PreferencesPath, "/storefront/integration/", "/password-reset/", "/storefront/keys/"} {
		if b.get(path); len(b.sheets()) != 1 || b.isScoped() {
			t.Errorf("%s: %v", path, b.sheets())
		}
	}
	change := func(name, value string) {
		s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Spec: field.Values{name: []byte(value)}})
	}
	b.get("/panel/")
	before := b.sheets()
	change("primary_color", `"#123456"`)
	b.get("/panel/")
	if after := b.sheets(); after[0] == before[0] || after[1] != before[1] {
		t.Errorf("%v, then %v", before, after)
	}
	if w := b.twin().get(before[0]); w.Code != http.StatusNotFound {
		t.Errorf("an earlier version: %d", w.Code)
	}
	change("is_active", "false")
	has(t, b.get("/panel/").Body.String(), "· hostpanel</title>")
	if len(b.sheets()) > 0 || b.isScoped() {
		t.Errorf("it is switched off: %v", b.sheets())
	}
}

// Others never see it: users of other tenants, superusers who act for the tenant, visitors.
func TestATenantsBrandShowsToNoOthers(t *testing.T) {
	s := withSites(t).branded(t, bakery())
	operator := s.visiting(t, root)
	operator.get("/panel/tenants/")
	goes(t, operator.send("1"), "/panel/")
	for who, b := range map[string]*browser{"a superuser": operator, "another tenant": s.visiting(t, eve), "a visitor": s.browser(t)} {
		b.get("/login/")
		for _, path := range []string{"/panel/", "/account/", "/login/", "/password-reset/"} {
			w := b.get(path)
			if strings.Contains(w.Body.String(), "Bread &#34;") || strings.Contains(w.Header().Get("Content-Security-Policy"), "bread.example") || len(b.sheets()) > 0 || b.isScoped() {
				t.Errorf("%s at %s: %v", who, path, b.sheets())
			}
		}
	}
}

// hostile is a sheet within the rules that covers what it can reach.
const hostile = `.wl-scope,.wl-scope *{position:absolute;inset:-9999px;margin:-9999px;width:99999px;height:99999px;z-index:2147483647;background:red;opacity:1;transform:scale(99)}
.wl-scope::before{content:"Sign in again";position:sticky;top:-9999px;left:-9999px;width:99999px;height:99999px}`

// In a browser, the worst sheet within the rules covers nothing but its own part, and one
// against the rules does nothing at all. Nothing is fetched from elsewhere, and the page to
// sign in looks as ever.
func TestNoTenantsSheetCoversThePanelOrFetchesFromElsewhere(t *testing.T) {
	p := browsertest.Open(t)
	look := bakery()
	look.LogoURL, look.FaviconURL, look.CustomCSS = "", "", hostile
	s := withSites(t).branded(t, look).open(t)
	p.Go(s.public + "/healthz")
	p.Text(`document.cookie = "session=` + s.visiting(t, ben).cookies["session"] + `; path=/"`)
	p.Go(s.public + "/panel/")
	p.Until(`getComputedStyle(document.querySelector("main")).position === "absolute"`)
	isOnTop := func(what string) {
		t.Helper()
		p.Until(`[...document.querySelectorAll("` + what + `")].length > 0 && [...document.querySelectorAll("` + what + `")].every((el) => {
			el.scrollIntoView({block: "nearest"}); // a long menu does not fit on the screen
			const r = el.getBoundingClientRect();
			return el.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2));
		})`)
	}
	isOwn := func() {
		t.Helper()
		if from := p.Text(`performance.getEntriesByType("resource").map((r) => r.name).filter((name) => new URL(name).origin !== location.origin).join()`); from != "" {
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
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Spec: field.Values{"custom_css": text}})
	p.Go(s.public + "/panel/")
	p.Until(`document.readyState === "complete" && !document.querySelector(".wl-scope") && document.querySelectorAll("link[rel=stylesheet]").length === 2`)
	isOwn()
	p.Click("header form button")
	p.Until(`location.pathname === "/login/" && document.querySelectorAll("link[rel=stylesheet]").length === 1`)
	isOnTop("#sign_in-username, #sign_in-password, form button.main")
	isOwn()
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
