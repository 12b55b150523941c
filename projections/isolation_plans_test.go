//go:build !rlsonly

package projections

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
)

// aLot fills the tables with so many rows that reading one of them whole is
// never the best way to a few. Of each, number 42 is tenant 42's, user 42's or
// key owner 42's.
const aLot = `
	do $$ declare foreign_key text; begin
		for foreign_key in select conname from pg_constraint where conrelid = 'invoices'::regclass and contype = 'f' loop
			execute format('alter table invoices drop constraint %I', foreign_key); -- which the rows below do not keep
		end loop;
	end $$;
	insert into users (id, subject, email, name, language, is_superuser, opened_for, created_at, updated_at, version)
		select n, md5('s' || n)::uuid, 'user' || n || '@example.com', '', 'en', n % 1000 = 0, '', now(), now(), 1
			from generate_series(1, 4000) n;
	insert into memberships (user_id, tenant, role, granted_at) select n, n, 'admin', now() from generate_series(1, 4000) n;
	insert into resources (kind, id, tenant, status, spec, subject, wish, sync_status, requested_for, created_at, updated_at, version)
		select kind, n, n, 'running', '{}', md5('s' || n)::uuid, 1, 'synced', 'order:' || md5('o' || n)::uuid,
			now() + n * interval '1s', now(), 1
		from generate_series(1, 4000) n, unnest(array['tenant', 'site']) kind;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select kind, n, n, 'running', jsonb_build_object('mail_domain', n, 'local_part', 'ana', 'email',
			'ana@' || n || '.example.com', 'name', 'shop', 'db_user', 'u' || n), 1, 'synced', '', now(), now(), 1
		from generate_series(1, 4000) n, unnest(array['mailbox', 'database']) kind;
	` + someOrders + `
	insert into subscriptions (order_id, tenant, user_id, plan_id, plan_name, billing_period, price, currency, status,
		period_start, period_end, created_at, updated_at, version)
		select md5('o' || n)::uuid, n, n, 1, '', 'yearly', 1, 'EUR', 'active', now(), now(), now(), now(), 1
			from generate_series(1, 4000) n;
	insert into invoices (id, number, order_id, tenant, subject, customer_name, customer_email, customer_company, seller,
		lines, total, subtotal, tax, tax_rate, currency, status, created_at, updated_at, version)
		select md5('o' || n)::uuid, 'INV-' || n, md5('o' || n)::uuid, n, md5('s' || n)::uuid, '', '', '', '{}', '[]', 1,
			1, 1, 1, 'EUR', 'paid', now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, created_at, updated_at, version)
		select md5('n' || n)::uuid, n % 400, 'info', '', '', '', '{}', now() + n * interval '1s',
			now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into inboxes (user_id, through, read_at, version) select n, now(), now(), 1 from generate_series(1, 4000) n;
	insert into preferences (user_id, wishes, version) select n, '{}', 1 from generate_series(1, 4000) n;
	insert into api_keys (id, mode, hash, spec, created_by, owner, created_at, updated_at, version)
		select 'key' || n, 'test', '', '{}', n, n, now(), now(), 1 from generate_series(1, 4000) n;
	insert into api_key_uses (id, last_used_at) select 'key' || n, now() from generate_series(1, 4000) n;
	insert into operations (id, kind, tenant, user_id, resource_type, resource_id, status, created_at, version)
		select md5('p' || n)::uuid, 'tenant_sync', n, n, 'tenant', n, 'queued', now(), 1 from generate_series(1, 4000) n;
	insert into incidents (id, kind, about, is_settled, answer, reported_at, created_at, updated_at, version)
		select md5('i' || n)::uuid, 'engine_orphan', jsonb_build_object('tenant', n::text), true, 'ignore', now(), now(),
			now(), 1 from generate_series(1, 4000) n;
	insert into names (holder, kind, field, name) select 'site-' || n, 'site', 'domain', n || '.example.com'
		from generate_series(1, 4000) n;
	insert into events (position, stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data,
		meta, recorded_at, hash)
		select n, 'site-' || n, 1, gen_random_uuid(), 'x', 1, n, 'x', gen_random_uuid(), 'event:site-1/1', '', '{}',
			'{}', now(), '' from generate_series(1, 4000) n;
	analyze`

// someOrders are 4,000.
const someOrders = `
	insert into orders (id, order_number, status, subject, customer_name, customer_email, customer_phone,
		customer_company, plan_id, plan_name,
			resource_type, plan, billing_period, price, period_price, setup_fee, tax_rate, total, subtotal, tax,
				currency, minor, payment_method, test,
			domain, os_choice, language, widget_id, api_key, owner, tenant, subscribed, created_at, updated_at, version)
		select md5('o' || n)::uuid, 'ORD-' || n, case n % 100 when 0 then 'failed' else 'active' end,
			md5('s' || n)::uuid, '', '', '', '', n, '', 'hosting', '{}', 'yearly', 1, 1, 1, 1, 1, 1, 1,
			'EUR', 1, 'test', true, '', '', 'en', '', '', n, n, true, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;`

// openFull is a panel with [aLot] and [aLotMore], which is filled once.
func openFull(t testing.TB) *panel {
	t.Helper()
	eventstoretest.Measures(t)
	return openPanelAt(t, withRows(t, aLot, aLotMore))
}

// withRows is a private database of a panel whose template is filled by these statements.
func withRows(t testing.TB, statements ...string) string {
	t.Helper()
	return eventstoretest.Tables(t, append(All.Fingerprints(), statements...), func(ctx context.Context, owner *pgxpool.Pool) error {
		if err := prepared(ctx, t, owner); err != nil {
			return err
		}
		for _, sql := range statements {
			if _, err := owner.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// md5 makes the ids of aLot.
func (p *panel) id(t testing.TB, text string) (id uuid.UUID) {
	t.Helper()
	if err := p.owner.QueryRow(t.Context(), `select md5($1)::uuid`, text).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// noneTaken fails if a resource other than 42 of tenant 42 has one of the kind's sets of values.
func noneTaken(ctx context.Context, s Scope, name string, values field.Values) error {
	kind, _ := hosting.KindNamed(name)
	for set := range kind.Sets {
		if taken, err := s.Hosting().SetTaken(ctx, kind, set, 42, 42, values); err != nil || taken {
			return fmt.Errorf("%v: %t, %w", kind.Sets[set], taken, err)
		}
	}
	return nil
}

func found[T any](_ T, there bool, err error) error {
	if err == nil && !there {
		err = pgx.ErrNoRows
	}
	return err
}

// Postgres asks about the program in each row, and about readers once a statement. A row that
// a reader may see costs no question about the program.
func TestReadersAreLetInBeforeTheProgramIsAskedFor(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for _, table := range append(All.walled(), "events") {
		plan := p.plan(t, ana, &pgx.QueuedQuery{SQL: `select * from ` + table})
		const program = ` OR COALESCE((current_setting('app.user_id'::text, true) = 'system'::text), false))`
		_, filter, _ := strings.Cut(plan, "Filter: (")
		filter, _, _ = strings.Cut(filter, "\n")
		if !strings.HasSuffix(filter, program) {
			t.Errorf("%s\n%s", table, plan)
		}
	}
}

// plan is how Postgres goes about a question of the caller's, if it is free to choose.
func (p *panel) plan(t testing.TB, c Caller, q *pgx.QueuedQuery) string {
	t.Helper()
	return explained(t, p.For(c).db.askFitted, q)
}

// explained is how Postgres goes about a question that is asked in this way.
func explained(t testing.TB, ask func(context.Context, func(*pgx.Batch)) error, q *pgx.QueuedQuery) string {
	t.Helper()
	var lines []string
	err := ask(t.Context(), func(b *pgx.Batch) {
		b.Queue(`explain (costs off) `+q.SQL, q.Arguments...).Query(func(rows pgx.Rows) (err error) {
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	})
	if err != nil {
		t.Fatal(q.SQL, err)
	}
	return strings.Join(lines, "\n")
}

// An ear hears what the database is asked.
type ear struct{ heard []*pgx.QueuedQuery }

func (e *ear) hear(sql string, args []any) {
	if !strings.HasPrefix(sql, onBehalf) {
		e.heard = append(e.heard, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	}
}

func (p *panel) listening(t testing.TB) (*ear, *Tables) {
	t.Helper()
	e := &ear{}
	pool := eventstoretest.Traced(t, p.readers, 1, &eventstoretest.Tracer{Statement: e.hear})
	return e, Open(pool)
}

// What is found by its key is planned once for each session. A list is planned for its
// filters.
func TestPlansOfLookUpsAreKept(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	pool := eventstoretest.Traced(t, p.readers, 1, &eventstoretest.Tracer{})
	operators := Open(pool).For(System)
	for range 3 {
		_, _ = operators.Orders().Order(t.Context(), uuid.New()) // there is none
		if _, err := operators.Accounts().Users(t.Context(), Listing{}); err != nil {
			t.Fatal(err)
		}
	}
	for statement, fitted := range map[string]bool{"from orders where true and id = $1": false, "from users u where true": true} {
		var is bool
		err := pool.QueryRow(
			t.Context(),
			`select bool_or(custom_plans > 0) from pg_prepared_statements where strpos(statement, $1) > 0`, statement,
		).Scan(&is)
		if err != nil || is != fitted {
			t.Errorf("%s: planned for its arguments: %v, %v", statement, is, err)
		}
	}
}

func (p *panel) writesByKeys(t *testing.T) {
	t.Helper()
	for table, of := range map[string]*Projection{"orders": orders, "notifications": notifications, "users": users} {
		var changes []Change
		for n := 41; n < 61; n++ {
			id := fmt.Sprint(n) // as the stream of an event has it
			if table != "users" {
				id = p.id(t, table[:1]+id).String()
			}
			changes = append(changes, update(table, Row{{"id", id}}, Row{{"version", n}}))
		}
		s := of.changing(changes)
		q := &pgx.QueuedQuery{SQL: s.SQL, Arguments: s.Args}
		if plan := explained(t, p.For(System).db.ask, q); strings.Contains(plan, "Seq Scan on "+table) || strings.Contains(plan, "Join") {
			t.Errorf("%s\n%s", s.SQL, plan)
		}
	}
}
