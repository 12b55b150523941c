package paneltest

import (
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// Everything is a shop that provisions sites with all their parts. Tenant 2 may
// have one site, and no zone.
func Everything(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	s := Open(t, append(options, func(s *Shop) { s.Hosting.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."} })...).People(t)
	_, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['site_id', 'dns_zone_id', 'dns_record_id', 'mail_domain_id', 'ftp_account_id', 'database_id', 'proxy_id']::regclass[]) n`)
	if err != nil {
		t.Fatal(err)
	}
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits()}
	pack.Limits = pack.Limits.With("sites", 1).With("dns_zones", 0)
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: field.Values{"package": []byte("1")}})
	return s
}
