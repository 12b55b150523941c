package hosting_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// sheets are the paths of the style sheets of the page besides that of the panel.
func sheets(b *paneltest.Browser) (paths []string) {
	for _, link := range paneltest.Elements(b.Page, "link") {
		if path := paneltest.Attribute(link, "href"); paneltest.Attribute(link, "rel") == "stylesheet" &&
			path != web.StylePath {
			paths = append(paths, path)
		}
	}
	return paths
}

// isScoped tells whether a part of the page is a tenant's to style.
func isScoped(b *paneltest.Browser) bool {
	return slices.ContainsFunc(paneltest.Elements(b.Page, "main"),
		func(m *html.Node) bool { return strings.Contains(paneltest.Attribute(m, "class"), "wl-scope") })
}

// A tenant's name, logo, colors and sheet are on the pages of its users, and the sheet on
// none on which they prove who they are.
func TestATenantsBrandShowsOnThePagesOfItsUsers(t *testing.T) {
	s := paneltest.WithSites(t).Branded(t, paneltest.Bakery())
	b := s.Visiting(t, paneltest.Ben)
	for _, path := range []string{
		"/panel/", "/panel/sites/", "/panel/sites/1/edit/", web.InvoicesPath,
		web.NotificationsPath,
	} {
		w := b.Get(path)
		b.IsForEverybody(t, "en", w.Body.String())
		paneltest.Has(t, w.Body.String(), `· Bread &#34;&amp;&#34; Co</title>`,
			`<img src="https://cdn.bread.example/logo.png?a=1&amp;b=2" alt="Bread &#34;&amp;&#34; Co" height="32">`,
			`<link rel="icon" href="https://icons.example/bread.ico">`, "<footer><p>Baked daily.</p>\n<p>Since &lt;1901&gt;</p>",
			`<a href="https://bread.example/" rel="noopener noreferrer">`)
		paneltest.Has(t, w.Header().Get("Content-Security-Policy"),
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://cdn.bread.example "+
				"https://icons.example;")
		sheets := sheets(b)
		if len(sheets) != 2 || !isScoped(b) || strings.Contains(w.Body.String(), ">hostpanel<") {
			t.Fatalf("%s: %v", path, sheets)
		}
		for _, sheet := range sheets {
			if w := b.Twin().Get(sheet); w.Code != http.StatusOK ||
				w.Header().Get("Content-Type") != "text/css; charset=utf-8" ||
				!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", sheet, w.Code, w.Header())
			}
		}
	}
	for _, path := range []string{
		"/account/", "/account/second-factor/", "/account/sessions/", web.PreferencesPath,
		"/storefront/integration/", "/password-reset/", "/storefront/keys/",
	} {
		if b.Get(path); len(sheets(b)) != 1 || isScoped(b) {
			t.Errorf("%s: %v", path, sheets(b))
		}
	}
	change := func(name, value string) {
		s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Spec: field.Values{name: []byte(value)}})
	}
	b.Get("/panel/")
	before := sheets(b)
	change("primary_color", `"#123456"`)
	b.Get("/panel/")
	if after := sheets(b); after[0] == before[0] || after[1] != before[1] {
		t.Errorf("%v, then %v", before, after)
	}
	if w := b.Twin().Get(before[0]); w.Code != http.StatusNotFound {
		t.Errorf("an earlier version: %d", w.Code)
	}
	change("is_active", "false")
	paneltest.Has(t, b.Get("/panel/").Body.String(), "· hostpanel</title>")
	if len(sheets(b)) > 0 || isScoped(b) {
		t.Errorf("it is switched off: %v", sheets(b))
	}
}

// Others never see it: users of other tenants, superusers who act for the tenant, visitors.
func TestATenantsBrandShowsToNoOthers(t *testing.T) {
	s := paneltest.WithSites(t).Branded(t, paneltest.Bakery())
	operator := s.Visiting(t, paneltest.Root)
	operator.Get("/panel/tenants/")
	paneltest.Goes(t, operator.Send("1"), "/panel/")
	for who, b := range map[string]*paneltest.Browser{
		"a superuser":    operator,
		"another tenant": s.Visiting(t, paneltest.Eve), "a visitor": s.Browser(t),
	} {
		b.Get("/login/")
		for _, path := range []string{"/panel/", "/account/", "/login/", "/password-reset/"} {
			w := b.Get(path)
			if strings.Contains(w.Body.String(), "Bread &#34;") ||
				strings.Contains(w.Header().Get("Content-Security-Policy"), "bread.example") || len(sheets(b)) > 0 || isScoped(b) {
				t.Errorf("%s at %s: %v", who, path, sheets(b))
			}
		}
	}
}
