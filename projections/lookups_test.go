//go:build !rlsonly

package projections

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
)

// aLotMore are records of the same tenants and users as those of aLot.
const aLotMore = `
	insert into credit_notes (id, number, order_id, tenant, invoice_id, invoice, refund, total, subtotal, tax, tax_rate,
		currency, created_at, updated_at)
		select md5('c' || n)::uuid, 'CRN-' || n, md5('o' || n)::uuid, n, md5('o' || n)::uuid, 'INV-' || n, 're_' || n, 1,
			1, 0, 0, 'EUR', now() + n * interval '1s', now() from generate_series(1, 4000) n;
	insert into credit_balances (id, tenant, currency, test_money, balance, created_at, updated_at, version)
		select md5('b' || n)::uuid, n, 'EUR', false, 1, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into credit_movements (id, tenant, currency, test_money, kind, amount, balance, actor, created_at, version)
		select md5('m' || n)::uuid, n, 'EUR', false, 'booked', 1, 1, 'x', now() + n * interval '1s', 1 from generate_series(1, 4000) n;
	insert into payment_methods (id, tenant, subject, provider, kind, brand, last4, expires, order_id, created_at, updated_at, version)
		select md5('p' || n)::uuid, n, md5('s' || n)::uuid, 'test', 'card', '', '', '2029-03', md5('o' || n)::uuid,
			now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into method_setups (id, tenant, user_id, subject, provider, status, expires_at, created_at, updated_at, version)
		select md5('t' || n)::uuid, n, n, md5('s' || n)::uuid, 'test', case when n % 2 = 0 then 'open' else 'done' end,
			now(), now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into webhook_endpoints (id, tenant, url, events, is_active, created_at, updated_at, version)
		select n, n, 'https://hook.example/', '{}', true, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into webhook_deliveries (id, endpoint, tenant, event_id, event_type, status, created_at, updated_at, version)
		select md5('d' || n)::uuid, n, n, n, 'x', 'delivered', now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, engine_id, created_at, updated_at, version)
		select kind, n, n, 'running', jsonb_build_object('site', n, 'zone', n, 'mail_domain', n, 'name', 'n' || n,
			'origin', n || '.example.com.', 'domain', n || '.example.com'), 1, 'synced', '', n, now(), now(), 1
		from generate_series(1, 4000) n, unnest(array['dns_zone', 'dns_record', 'mail_domain', 'mail_alias',
			'ftp_account', 'cron_job', 'certificate']) kind;
	insert into zone_serials (zone, serial) select n, 2026010101 from generate_series(1, 4000) n;
	analyze`

func tried[T any](_ T, err error) error { return err }

// dueFirst reads the first items of a queue of tasks.
func dueFirst(ctx context.Context, s Scope, due func() (string, []any)) error {
	type item struct {
		Key   string
		Since time.Time
	}
	sql, args := due()
	w := s.db.caller.operators()
	w.args = args
	return tried(list[item](ctx, s.db, `select key, since from (`+sql+`) d`, w, ` order by since limit 20`))
}

// A statement is planned once, and then the table may have been empty. What is looked up by
// its number is found by it however many there are by now.
func TestALookUpThatWasPlannedForAnEmptyTableReadsWhatItFinds(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	p := openPanel(t)
	config := p.readers.Config()
	config.MaxConns = 1 // which plans, and counts what it reads
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	read := func() (rows int64) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
		if err := p.owner.QueryRow(t.Context(), `select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relname = 'resources'`).
			Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	all := Open(pool).For(System).Hosting()
	lookUps := map[string]func() error{
		"one resource":   func() error { _, err := all.Resource(t.Context(), hosting.Ref{Kind: "site", ID: 777}); return err },
		"a few":          func() error { _, err := all.Among(t.Context(), "site", []int64{777, 778}); return err },
		"what refers":    func() error { _, err := all.Referring(t.Context(), "tenant", "parent", 777); return err },
		"in any state":   func() error { _, err := all.Recorded(t.Context(), hosting.Ref{Kind: "site", ID: 777}); return err },
		"one in the bin": func() error { _, err := all.Kept(t.Context(), hosting.Ref{Kind: "site", ID: 777}); return err },
	}
	for name, look := range lookUps {
		if err := look(); err != nil && domain.CodeOf(err) != domain.NotFound {
			t.Fatal(name, err)
		}
	}
	if _, err := p.owner.Exec(t.Context(), `
		insert into resources (kind, id, tenant, status, spec, sync_status, wish, requested_for, created_at, updated_at, version)
		select kind, i, i, 'active', json_build_object('name', 'T' || i)::jsonb, 'synced', 1, '', now(), now(), 1
		from generate_series(1, 3000) i, unnest('{tenant,site}'::text[]) kind`); err != nil {
		t.Fatal(err)
	}
	for name, look := range lookUps {
		before := read()
		if err := look(); err != nil {
			t.Error(name, err)
		}
		if rows := read() - before; rows > 6 {
			t.Errorf("%s reads %d rows", name, rows)
		}
	}
}
