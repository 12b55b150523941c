package http_test

import (
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	panel "hostpanel/http"
	"hostpanel/http/route/routetest"
)

// house is a shop with people, in which numbers of new records begin at 101.
func house(t testing.TB) *shop {
	t.Helper()
	s := openShop(t).people(t)
	s.do(t, account.GrantMembership{User: eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	if _, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['package_id', 'whitelabel_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}

// What tenants do with what runs for them, as one would with curl.
func TestHostingConversations(t *testing.T) {
	routetest.Run(t, "testdata/hosting/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := house(t)
		return s.handler, s.known
	})
}

// The same mechanism serves kinds that an engine works behind.
func TestConversationsAboutKindsWithAnEngine(t *testing.T) {
	kinds := []string{"site", "dns_zone", "dns_record", "mail_domain", "mail_alias"}
	defer panel.Serving(kinds...)()
	routetest.Run(t, "testdata/kinds/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := openShop(t, func(s *shop) { s.server.Settings.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."} }).people(t)
		if _, err := s.owner.Exec(t.Context(), `select setval((n || '_id')::regclass, 100) from unnest($1::text[]) n`, kinds); err != nil {
			t.Fatal(err)
		}
		pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits(), Shell: true}
		pack.Limits.Sites, pack.Limits.DNSZones = 1, 2
		s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
		s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"package": []byte("1")}})
		s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: hostingLimitsOff})
		box := hosting.Mailbox{MailDomain: 999, LocalPart: "box", Email: "box@elsewhere.example"}
		s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Tenant: 2, Spec: box.Fields().Values()})
		return s.handler, s.known
	})
}

// hostingLimitsOff lets a tenant have any number of everything.
var hostingLimitsOff = func() field.Values {
	limits := hosting.NoLimits()
	return limits.Fields().Values()
}()
