package http_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
)

// house is a shop with people, in which numbers of new records begin at 101.
func house(t testing.TB) *shop {
	t.Helper()
	s := openShop(t).people(t)
	s.do(t, account.GrantMembership{User: eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	if _, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['package_id', 'whitelabel_id', 'tenant_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}

// What tenants do with what runs for them, as one would with curl.
func TestHostingConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/hosting/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := house(t)
		return s.handler, s.known
	})
}

// The same mechanism serves kinds that an engine works behind.
func TestConversationsAboutKindsWithAnEngine(t *testing.T) {
	t.Parallel()
	kinds := []string{"package", "site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user", "cron_job"}
	routetest.Run(t, "testdata/kinds/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := openShop(t, func(s *shop) { s.hosting.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."} }).people(t)
		if _, err := s.owner.Exec(t.Context(), `select setval((n || '_id')::regclass, 100) from unnest($1::text[]) n`, kinds); err != nil {
			t.Fatal(err)
		}
		pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits(), Shell: true, SSL: true}
		pack.Limits = pack.Limits.With("sites", 2).With("dns_zones", 2)
		s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
		s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"package": []byte("1")}})
		box := hosting.Mailbox{MailDomain: 999, LocalPart: "box", Email: "box@elsewhere.example"}
		s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Tenant: 2, Spec: box.Fields().Values()})
		for tenant, domain := range map[int64]string{1: "bread.example", 2: "cheese.example"} {
			site := hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
			s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: 200 + tenant}, Tenant: tenant, Spec: site.Fields().Values()})
			mail := hosting.MailDomain{Domain: domain, DKIMSelector: "default", IsActive: true}
			s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 200 + tenant}, Tenant: tenant, Spec: mail.Fields().Values()})
		}
		return s.handler, s.known
	})
}

// In a suspended tenant nothing is written, but by superusers; it is read as ever.
func TestNothingIsWrittenInASuspendedTenant(t *testing.T) {
	t.Parallel()
	s := house(t)
	const path = "/hosting/api/rest/whitelabel/"
	call := func(who, method, path, body string) string {
		w := s.call(method, path, body, append(bearer(s.known[who]), "Content-Type", "application/json")...)
		return fmt.Sprint(w.Code, " ", w.Header().Get("X-Error-Code"))
	}
	if got := call("ana", "POST", path, `{"brand_name":"Bread"}`); got != "201 " {
		t.Fatal(got)
	}
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": []byte(`"suspended"`)}})
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
	s := house(t)
	var all sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = s.call("POST", "/hosting/api/rest/whitelabel/", `{"brand_name":"Bread"}`, append(bearer(s.known["ana"]), "Content-Type", "application/json")...)
		})
	}
	all.Wait()
	wins(t, answers, http.StatusCreated, `400 {"tenant":["white label config with this tenant already exists."]}`)
}
