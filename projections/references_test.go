//go:build !rlsonly

package projections

import (
	"context"
	"strings"
	"testing"
)

// aPanelFull gives a hundred tenants so many records that reading all of a
// kind, or all of a tenant's, is never the best way to a few.
const aPanelFull = `
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'site', n, n % 100 + 1, case n % 50 when 49 then 'gone' else 'running' end,
			jsonb_build_object('domain', n || '.example.com', 'ip_address', '*', 'is_active', true), 1, 'synced', '',
				now() + n * interval '1s', now(), 1
		from generate_series(1, 6000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'dns_record', n, n % 100 + 1, 'running', jsonb_build_object('zone', n % 300, 'name', 'w' || n / 20,
			'record_type', 'A', 'data', '192.0.2.1', 'is_active', true),
			1, 'synced', '', now() + n * interval '1s', now(), 1 from generate_series(1, 6000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select 'ftp_account', n, n % 100 + 1, 'running', jsonb_build_object('site', n, 'username', 'u' || n, 'is_active', true),
			1, 'synced', '', now() + n * interval '1s', now(), 1 from generate_series(1, 6000) n`

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
