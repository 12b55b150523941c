package operations_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/paneltest"
)

// An operator looks at every mail in both languages, in the panel's brand and in that of a
// tenant. Each is what would be sent, with made-up data.
func TestAnOperatorLooksAtMailsInTheBrowser(t *testing.T) {
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	brand := hosting.WhiteLabel{
		BrandName: "Panadería <b>Sol</b>", PrimaryColor: "#123456", SecondaryColor: "#222222", SidebarBGColor: "#333333",
		SidebarColor: "#444444", IsActive: true,
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: brand.Fields().Values()})
	list := b.Get("/storefront/mails/?language=es").Body.String()
	b.IsForEverybody(t, "en", list)
	paneltest.Has(t, list, "Bread &amp; Co", `<option value="es" selected>`)
	queries := []string{"?language=en", "?language=es", "?language=es&tenant=1"}
	for i, name := range notice.Templates() {
		for _, query := range queries[i%3 : i%3+1] { // one for each
			path := "/storefront/mails/" + name + "/"
			text := b.Get(path + query).Body.String()
			b.IsForEverybody(t, "en", text)
			var sent struct{ Subject, Text, HTML string }
			paneltest.Decode(t, s.Operate("GET", "mail-previews/"+name+"/"+query, ""), http.StatusOK, &sent)
			if !strings.Contains(list, path) || paneltest.TextOf(paneltest.Elements(b.Page,
				"h1")[0]) != strings.TrimSpace(sent.Subject) {
				t.Errorf("%s%s: not in the list, or with another subject than %q", name, query, sent.Subject)
			}
			w := b.Get(path + "html/" + query)
			if w.Body.String() != sent.HTML || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s%s: the designed part differs from that of the API, or may run something", name, query)
			}
			paneltest.Has(t, text, "Content-Language</dt><dd>"+query[len("?language="):len("?language=en")])
			if branded := strings.Contains(sent.HTML, "&lt;b&gt;Sol"); branded != strings.HasSuffix(query, "tenant=1") ||
				strings.Contains(sent.HTML, "<b>Sol") {
				t.Errorf("%s%s: in the brand of the tenant: %t", name, query, branded)
			}
			if strings.Contains(sent.Text+sent.HTML, paneltest.Emails[paneltest.Eve]) ||
				strings.Contains(sent.Text+sent.HTML, paneltest.OpMail) {
				t.Errorf("%s%s tells of a person", name, query)
			}
		}
	}
	for _, path := range []string{
		"?language=fr&tenant=999999", "?tenant=x", "invoice_created/?tenant=-1&language=",
		"invoice_created/html/?tenant=999999",
	} {
		if w := b.Get("/storefront/mails/" + path); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := b.Get("/storefront/mails/birthday/"); w.Code != http.StatusNotFound {
		t.Errorf("no mail: %d", w.Code)
	}
	for _, path := range []string{"", "invoice_created/", "invoice_created/html/"} {
		if w := s.Visiting(t, paneltest.Ana).Get("/storefront/mails/" + path); w.Code != http.StatusForbidden {
			t.Errorf("%s for no operator: %d", path, w.Code)
		}
	}
}
