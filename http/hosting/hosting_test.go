package hosting_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// What tenants do with what runs for them, as one would with curl.
func TestHostingConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/hosting/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.House(t)
		return s.Handler, s.Known
	})
}

// The same mechanism serves kinds that an engine works behind.
func TestConversationsAboutKindsWithAnEngine(t *testing.T) {
	t.Parallel()
	kinds := []string{"package", "site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user", "cron_job"}
	routetest.Run(t, "../testdata/kinds/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Open(t, func(s *paneltest.Shop) { s.Hosting.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."} }).People(t)
		if _, err := s.Owner.Exec(t.Context(), `select setval((n || '_id')::regclass, 100) from unnest($1::text[]) n`, kinds); err != nil {
			t.Fatal(err)
		}
		pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits(), Shell: true, SSL: true}
		pack.Limits = pack.Limits.With("sites", 2).With("dns_zones", 2)
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
		s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"package": []byte("1")}})
		box := hosting.Mailbox{MailDomain: 999, LocalPart: "box", Email: "box@elsewhere.example"}
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Tenant: 2, Spec: box.Fields().Values()})
		for tenant, domain := range map[int64]string{1: "bread.example", 2: "cheese.example"} {
			site := hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
			s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: 200 + tenant}, Tenant: tenant, Spec: site.Fields().Values()})
			mail := hosting.MailDomain{Domain: domain, DKIMSelector: "default", IsActive: true}
			s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 200 + tenant}, Tenant: tenant, Spec: mail.Fields().Values()})
		}
		return s.Handler, s.Known
	})
}

// In a suspended tenant nothing is written, but by superusers; it is read as ever.
func TestNothingIsWrittenInASuspendedTenant(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	const path = "/hosting/api/rest/whitelabel/"
	call := func(who, method, path, body string) string {
		w := s.Call(method, path, body, append(paneltest.Bearer(s.Known[who]), "Content-Type", "application/json")...)
		return fmt.Sprint(w.Code, " ", w.Header().Get("X-Error-Code"))
	}
	if got := call("ana", "POST", path, `{"brand_name":"Bread"}`); got != "201 " {
		t.Fatal(got)
	}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": []byte(`"suspended"`)}})
	for _, c := range []struct{ who, method, path, body, want string }{
		{"ana", "GET", path + "101/", "", "200 "},
		{"ana", "PATCH", path + "101/", "{", "403 tenant_suspended"},
		{"ana", "DELETE", path + "101/", "", "403 tenant_suspended"},
		{"ana", "PATCH", path + "999/", "{", "404 not_found"},
		{"ana", "POST", path, "{", "403 tenant_suspended"},
		{"root", "PATCH", path + "101/", `{"brand_name":"Milk"}`, "200 "},
	} {
		if got := call(c.who, c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s %s: %s, not %s", c.who, c.method, c.path, got, c.want)
		}
	}
}

// Others being faster changes nothing about what is unique.
func TestTwoConfigurationsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	var all sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = s.Call("POST", "/hosting/api/rest/whitelabel/", `{"brand_name":"Bread"}`, append(paneltest.Bearer(s.Known["ana"]), "Content-Type", "application/json")...)
		})
	}
	all.Wait()
	paneltest.Wins(t, answers, http.StatusCreated, `400 {"tenant":["white label config with this tenant already exists."]}`)
}
