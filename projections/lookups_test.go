//go:build !rlsonly

package projections

import (
	"context"
	"time"
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
