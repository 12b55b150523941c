package http_test

import (
	"net/http"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
)

// everything is a shop in which sites come with all that goes with them.
// Tenant 2 may have one site, and no zone.
func everything(t testing.TB, options ...func(*shop)) *shop {
	t.Helper()
	s := openShop(t, append(options, func(s *shop) { s.server.Settings.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."} })...).people(t)
	_, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['site_id', 'dns_zone_id', 'dns_record_id', 'mail_domain_id', 'ftp_account_id', 'database_id', 'proxy_id']::regclass[]) n`)
	if err != nil {
		t.Fatal(err)
	}
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits()}
	pack.Limits.Sites, pack.Limits.DNSZones = 1, 0
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: field.Values{"package": []byte("1")}})
	return s
}

func TestConversationsAboutSitesWithEverything(t *testing.T) {
	routetest.Run(t, "testdata/provision/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := everything(t)
		return s.handler, s.known
	})
}
