package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/hosting"
)

// sitesEach is how many sites every tenant has: a page of them.
const sitesEach = 20

// A siteTable is sites that stand without a history: rows of the read table,
// spread over it so that those of one tenant are far from each other.
type siteTable struct{ tenants int64 }

// firstSite is above the numbers that the panel gives to new sites.
const firstSite = 1_000_000_000

// site is one of the sites of the reader's tenant.
func (v siteTable) site(who, n int) int64 {
	return firstSite + int64(who+1) + int64(n%sitesEach)*v.tenants
}

// writeSites puts so many sites into the read table in place of those before. A
// million rows in one statement take a minute or so; events would take an hour.
func (p *panel) writeSites(ctx context.Context, sites int64) (siteTable, error) {
	v := siteTable{tenants: sites / sitesEach}
	spec := (&hosting.Site{IPAddress: "*", IsActive: true}).Fields().Values()
	for _, statement := range []struct {
		sql       string
		arguments []any
	}{
		{`delete from resources where kind = 'site'`, nil},
		{`insert into resources (kind, id, tenant, status, spec, engine_id, wish, sync_status, requested_for, created_at,
			updated_at, version)
			select 'tenant', n, n, 'running', spec || jsonb_build_object('name', 'User ' || n, 'slug', 'user-' || n, 'username', 'h' || n,
				'customer_number', 'H' || n, 'email', 'user' || n || '@bench.example'),
				null, 1, 'synced', '', created_at, updated_at, 1
			from resources, generate_series(1, $1::bigint) n where kind = 'tenant' and id = 1 on conflict (kind,
				id) do nothing`, []any{v.tenants}},
		{`insert into resources (kind, id, tenant, status, spec, engine_id, wish, sync_status, requested_for, created_at,
			updated_at, version)
			select 'site', $1::bigint + n, 1 + (n - 1) % $2::bigint, 'running', $3::jsonb || jsonb_build_object('domain',
				'site' || n || '.bench.example'),
				n, 1, 'synced', '', business_now() - n * interval '1 second', business_now(), 3
			from generate_series(1, $2::bigint * $4::bigint) n`, []any{firstSite, v.tenants, spec, sitesEach}},
		{`vacuum analyze resources`, nil},
	} {
		if _, err := p.owner.Exec(ctx, statement.sql, statement.arguments...); err != nil {
			return v, err
		}
	}
	return v, nil
}

// What a page of sites and one site cost in SQL: the same rows, the same
// names of tenants, the same count.
const (
	siteColumns = `r.*, coalesce(t.spec ->> 'name', ''), coalesce(t.version, 0)`
	siteTenant  = ` left join resources t on t.kind = 'tenant' and t.id = r.tenant`
)

func oneSite(id int64, who int) *pgx.Batch {
	var b pgx.Batch
	b.Queue(
		`select `+siteColumns+` from resources r`+siteTenant+` where r.kind = 'site' and r.id = $1 and r.tenant = $2 and r.present`,
		id, int64(who+1),
	)
	return &b
}

func pageOfSites(who int) *pgx.Batch {
	var b pgx.Batch
	tenant := int64(who + 1)
	b.Queue(`select count(*) from resources where kind = 'site' and tenant = $1 and present`, tenant)
	b.Queue(`select `+siteColumns+` from (select kind, id from resources where kind = 'site' and tenant = $1 and present
		order by created_at desc, id desc limit 20) wanted join resources r using (kind, id)`+siteTenant+`
		order by r.created_at desc, r.id desc`, tenant)
	return &b
}
