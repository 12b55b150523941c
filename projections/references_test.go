//go:build !rlsonly

package projections

import (
	"context"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

// aPanelFull gives a hundred tenants so many records that reading all of a
// kind, or all of a tenant's, is never the best way to a few.
const aPanelFull = `
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'site', n, n % 100 + 1, case n % 50 when 49 then 'gone' else 'running' end,
			jsonb_build_object('domain', n || '.example.com', 'ip_address', '*', 'is_active', true), 1, 'synced', '', now() + n * interval '1s', now(), 1
		from generate_series(1, 6000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'dns_record', n, n % 100 + 1, 'running', jsonb_build_object('zone', n % 300, 'name', 'w' || n / 20, 'record_type', 'A', 'data', '192.0.2.1', 'is_active', true),
			1, 'synced', '', now() + n * interval '1s', now(), 1 from generate_series(1, 6000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'ftp_account', n, n % 100 + 1, 'running', jsonb_build_object('site', n, 'username', 'u' || n, 'is_active', true),
			1, 'synced', '', now() + n * interval '1s', now(), 1 from generate_series(1, 6000) n`

// What is looked for by what it refers to or by what it is called is found by
// an index, however full the panel is, in the name of whomever.
func TestAFullPanelIsNotReadForAFewRecords(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for _, sql := range []string{aPanelFull, `vacuum analyze resources`} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	site, _ := hosting.KindNamed("site")
	record, _ := hosting.KindNamed("dns_record")
	ftp, _ := hosting.KindNamed("ftp_account")
	by := func(name string, value any) []Filter { return []Filter{{Field: name, Op: "=", Value: value}} }
	kindOf := func(kind hosting.Kind, l Listing) func(context.Context, Scope) error {
		l.Limit = 20
		return func(ctx context.Context, s Scope) error { _, err := s.Hosting().OfKind(ctx, kind, l); return err }
	}
	for _, look := range []struct {
		up    string
		index string // that has to be used
		with  func(context.Context, Scope) error
	}{
		{"the newest", "resources_newest", kindOf(site, Listing{})},
		{"in the order of their names", "resources_called", kindOf(site, Listing{Order: []Ordering{{Field: "domain"}}})},
		{"by its name", "resources_called", kindOf(site, Listing{Filters: by("domain", "42.example.com")})},
		{"by several names", "resources_called", kindOf(site, Listing{Filters: []Filter{{Field: "domain", Op: "in", Value: []string{"42.example.com", "43.example.com"}}}})},
		{"the records of a zone", "resources_of_zone", kindOf(record, Listing{Filters: by("zone", int64(42)), Order: []Ordering{{Field: "id"}}})},
		{"the parts of a site", "resources_of_site", kindOf(ftp, Listing{Filters: by("site", int64(42))})},
		{"how many records a zone has", "resources_of_zone", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Referring(ctx, "dns_record", "zone", 42)
			return err
		}},
		{"how many records each zone of a page has", "resources_of_zone", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ReferringEach(ctx, "dns_record", "zone", []int64{41, 42, 43})
			return err
		}},
		{"the names of a page", "resources_", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Among(ctx, "site", []int64{42, 43})
			return err
		}},
		{"one in the bin", "resources_pkey", func(ctx context.Context, s Scope) error {
			_, _, err := maybe(s.Hosting().Kept(ctx, hosting.Ref{Kind: "site", ID: 42}))
			return err
		}},
	} {
		for _, c := range []Caller{System, {User: 1, Superuser: true}, {User: 43, Tenant: 43}} {
			p.looksBy(t, ear, tables, look.up, look.index, c, look.with)
		}
	}
	p.looksBy(t, ear, tables, "in the bin by its name", "resources_in_bin", System, func(ctx context.Context, s Scope) error {
		_, err := s.Hosting().Binned(ctx, site, "42.example.com")
		return err
	})
}

func (p *panel) looksBy(t *testing.T, ear *ear, tables *Tables, up, index string, c Caller, look func(context.Context, Scope) error) {
	t.Helper()
	ear.heard = nil
	if err := look(t.Context(), tables.For(c)); err != nil {
		t.Errorf("%s, %+v: %v", up, c, err)
	}
	used, plans := false, ""
	for _, q := range ear.heard {
		plan := p.plan(t, c, q)
		used, plans = used || strings.Contains(plan, index), plans+q.SQL+"\n"+plan+"\n"
		if strings.Contains(plan, "Seq Scan on resources") {
			t.Errorf("%s, %+v:\n%s\n%s", up, c, q.SQL, plan)
		}
	}
	if !used {
		t.Errorf("%s, %+v: not by %s\n%s", up, c, index, plans)
	}
}
