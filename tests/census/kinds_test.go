//go:build system

package census_test

import (
	"net/http"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// The same mechanism serves kinds that an engine works behind.
func TestConversationsAboutKindsWithAnEngine(t *testing.T) {
	t.Parallel()
	kinds := []string{
		"package", "site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias",
		"ftp_account", "shell_user", "cron_job",
	}
	routetest.Run(t, "../../http/testdata/kinds/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Open(t, func(s *paneltest.Shop) {
			s.Hosting.NameServers = []string{
				"ns1.panel.example.",
				"ns2.panel.example.",
			}
		}).People(t)
		if _, err := s.Owner.Exec(t.Context(), `select setval((n || '_id')::regclass, 100) from unnest($1::text[]) n`,
			kinds); err != nil {
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
			s.Do(t, hosting.Request{
				Ref: hosting.Ref{Kind: "site", ID: 200 + tenant}, Tenant: tenant,
				Spec: site.Fields().Values(),
			})
			mail := hosting.MailDomain{Domain: domain, DKIMSelector: "default", IsActive: true}
			s.Do(t, hosting.Request{
				Ref: hosting.Ref{Kind: "mail_domain", ID: 200 + tenant}, Tenant: tenant,
				Spec: mail.Fields().Values(),
			})
		}
		return s.Handler, s.Known
	})
}
