//go:build !rlsonly

package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
)

// aLot fills the tables with so many rows that reading one of them whole is
// never the best way to a few. Of each, number 42 is tenant 42's, user 42's or
// key owner 42's.
const aLot = `
	alter table invoices disable trigger all;
	insert into users (id, subject, email, name, language, is_superuser, opened_for, created_at, updated_at, version)
		select n, md5('s' || n)::uuid, 'user' || n || '@example.com', '', 'en', n % 1000 = 0, '', now(), now(), 1 from generate_series(1, 4000) n;
	insert into memberships (user_id, tenant, role, granted_at) select n, n, 'admin', now() from generate_series(1, 4000) n;
	insert into resources (kind, id, tenant, status, spec, subject, wish, sync_status, requested_for, created_at, updated_at, version)
		select kind, n, n, 'running', '{}', md5('s' || n)::uuid, 1, 'synced', 'order:' || md5('o' || n)::uuid, now() + n * interval '1s', now(), 1
		from generate_series(1, 4000) n, unnest(array['tenant', 'site']) kind;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
		select kind, n, n, 'running', jsonb_build_object('mail_domain', n, 'local_part', 'ana', 'email', 'ana@' || n || '.example.com', 'name', 'shop', 'db_user', 'u' || n), 1, 'synced', '', now(), now(), 1
		from generate_series(1, 4000) n, unnest(array['mailbox', 'database']) kind;
	` + someOrders + `
	insert into subscriptions (order_id, tenant, user_id, plan_id, plan_name, billing_period, price, currency, status, period_start, period_end, created_at, updated_at, version)
		select md5('o' || n)::uuid, n, n, 1, '', 'yearly', 1, 'EUR', 'active', now(), now(), now(), now(), 1 from generate_series(1, 4000) n;
	insert into invoices (id, number, order_id, tenant, subject, customer_name, customer_email, customer_company, seller, lines, total, subtotal, tax, tax_rate, currency, status, created_at, updated_at, version)
		select md5('o' || n)::uuid, 'INV-' || n, md5('o' || n)::uuid, n, md5('s' || n)::uuid, '', '', '', '{}', '[]', 1, 1, 1, 1, 'EUR', 'paid', now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, created_at, updated_at, version)
		select md5('n' || n)::uuid, n % 400, 'info', '', '', '', '{}', now() + n * interval '1s', now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into inboxes (user_id, through, read_at, version) select n, now(), now(), 1 from generate_series(1, 4000) n;
	insert into preferences (user_id, wishes, version) select n, '{}', 1 from generate_series(1, 4000) n;
	insert into api_keys (id, mode, hash, spec, created_by, owner, created_at, updated_at, version)
		select 'key' || n, 'test', '', '{}', n, n, now(), now(), 1 from generate_series(1, 4000) n;
	insert into api_key_uses (id, last_used_at) select 'key' || n, now() from generate_series(1, 4000) n;
	insert into operations (id, kind, tenant, user_id, resource_type, resource_id, status, created_at, version)
		select md5('p' || n)::uuid, 'tenant_sync', n, n, 'tenant', n, 'queued', now(), 1 from generate_series(1, 4000) n;
	insert into incidents (id, kind, about, is_settled, answer, reported_at, created_at, updated_at, version)
		select md5('i' || n)::uuid, 'engine_orphan', jsonb_build_object('tenant', n::text), true, 'ignore', now(), now(), now(), 1 from generate_series(1, 4000) n;
	insert into names (holder, kind, field, name) select 'site-' || n, 'site', 'domain', n || '.example.com' from generate_series(1, 4000) n;
	insert into events (position, stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, recorded_at, hash)
		select n, 'site-' || n, 1, gen_random_uuid(), 'x', 1, n, 'x', gen_random_uuid(), 'event:site-1/1', '', '{}', '{}', now(), '' from generate_series(1, 4000) n;
	analyze`

// someOrders are 4,000.
const someOrders = `
	insert into orders (id, order_number, status, subject, customer_name, customer_email, customer_phone, customer_company, plan_id, plan_name,
			resource_type, plan, billing_period, price, period_price, setup_fee, tax_rate, total, subtotal, tax, currency, minor, payment_method, test,
			domain, os_choice, language, widget_id, api_key, owner, tenant, subscribed, created_at, updated_at, version)
		select md5('o' || n)::uuid, 'ORD-' || n, case n % 100 when 0 then 'failed' else 'active' end, md5('s' || n)::uuid, '', '', '', '', n, '', 'hosting', '{}', 'yearly', 1, 1, 1, 1, 1, 1, 1,
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

func TestNoLookUpReadsAWholeTableBecauseOfTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	ear, tables := p.listening(t)
	var (
		program  = []Caller{System, {User: 42, Superuser: true}}
		member   = Caller{User: 42, Tenant: 42}
		everyone = append(slices.Clone(program), member)
		own      = append(slices.Clone(program), Caller{KeyOwner: 42})
		person   = append(slices.Clone(everyone), Caller{User: 42})
	)
	ofOrder, ofSubject, notification, job := p.id(t, "o42"), p.id(t, "s42"), p.id(t, "n42"), p.id(t, "p42")
	for _, look := range []struct {
		up      string
		callers []Caller
		with    func(context.Context, Scope) error
	}{
		{"a user", person, func(ctx context.Context, s Scope) error { _, err := s.Accounts().User(ctx, 42); return err }},
		{"a user's address", program, func(ctx context.Context, s Scope) error {
			return found(s.Accounts().UserByEmail(ctx, "User42@example.com"))
		}},
		{"a person's account", program, func(ctx context.Context, s Scope) error { return found(s.Accounts().UserBySubject(ctx, ofSubject)) }},
		{"superusers", program, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Superusers(ctx); return err }},
		{"memberships", person, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Memberships(ctx, 42); return err }},
		{"memberships of a page of users", program, func(ctx context.Context, s Scope) error {
			_, err := s.Accounts().MembershipsOf(ctx, 41, 42, 43)
			return err
		}},
		{"members", everyone, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Members(ctx, 42); return err }},
		{"an identity", person, func(ctx context.Context, s Scope) error { return found(s.Accounts().Identity(ctx, 42)) }},
		{"a resource", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Resource(ctx, hosting.Ref{Kind: "site", ID: 42})
			return err
		}},
		{"a tenant", everyone, func(ctx context.Context, s Scope) error { _, err := s.Hosting().Tenant(ctx, 42); return err }},
		{"own tenants", []Caller{member, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Tenants(ctx, Listing{Limit: 20})
			return err
		}},
		{"resources", append(everyone, Caller{User: 42, Superuser: true, Tenant: 42}), func(ctx context.Context, s Scope) error { _, err := s.Hosting().Resources(ctx, "site", 20); return err }},
		{"resources of an order", program, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ResourcesOfOrder(ctx, ofOrder)
			return err
		}},
		{"all of a tenant", program, func(ctx context.Context, s Scope) error { _, err := s.Hosting().OfTenant(ctx, 42); return err }},
		{"an operation", everyone, func(ctx context.Context, s Scope) error { _, err := s.Hosting().Operation(ctx, job); return err }},
		{"an open operation", everyone, func(ctx context.Context, s Scope) error {
			_, _, err := s.Hosting().OpenOperation(ctx, hosting.TenantSync, hosting.Ref{Kind: "tenant", ID: 42})
			return err
		}},
		{"an open rebuild", program, func(ctx context.Context, s Scope) error {
			_, _, err := s.Operations().OpenRebuild(ctx, "orders")
			return err
		}},
		{"the latest rebuilds", program, func(ctx context.Context, s Scope) error { _, err := s.Operations().LatestRebuilds(ctx); return err }},
		{"a subscription", everyone, func(ctx context.Context, s Scope) error { return found(s.Billing().SubscriptionOfOrder(ctx, ofOrder)) }},
		{"an invoice", everyone, func(ctx context.Context, s Scope) error { return found(s.Billing().InvoiceOfOrder(ctx, ofOrder)) }},
		{"an invoice by its id", everyone, func(ctx context.Context, s Scope) error { _, err := s.Billing().Invoice(ctx, ofOrder); return err }},
		{"subscriptions", []Caller{member, {User: 42, Superuser: true, Tenant: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Subscriptions(ctx, Listing{Limit: 20})
			return err
		}},
		{"a service", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Service(ctx, ofOrder, false)
			return err
		}},
		{"what orders have made", everyone, func(ctx context.Context, s Scope) error { _, err := s.Hosting().MadeBy(ctx, ofOrder); return err }},
		{"invoices", []Caller{member, {User: 42, Superuser: true, Tenant: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Invoices(ctx, Listing{Limit: 20})
			return err
		}},
		{"an order of a key", own, func(ctx context.Context, s Scope) error { _, err := s.Orders().OrderView(ctx, ofOrder); return err }},
		{"an order", program, func(ctx context.Context, s Scope) error { _, err := s.Orders().Order(ctx, ofOrder); return err }},
		{"an order's number", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().OrderByNumber(ctx, "ORD-42")
			return err
		}},
		{"the newest orders", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().Orders(ctx, OrderFilter{Limit: 20})
			return err
		}},
		{"orders by status", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().Orders(ctx, OrderFilter{Status: order.StatusFailed, Limit: 20})
			return err
		}},
		{"an API key", program, func(ctx context.Context, s Scope) error { return found(s.Orders().APIKey(ctx, "key42")) }},
		{"a name", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().NameTaken(ctx, "site", "domain", "42.example.com")
			return err
		}},
		{"a mailbox's set of values", everyone, func(ctx context.Context, s Scope) error {
			return noneTaken(ctx, s, "mailbox", field.Values{"mail_domain": []byte(`42`), "local_part": []byte(`"ana"`)})
		}},
		{"a database's two sets of values", everyone, func(ctx context.Context, s Scope) error {
			return noneTaken(ctx, s, "database", field.Values{"name": []byte(`"shop"`), "db_user": []byte(`"u42"`)})
		}},
		{"claims of a domain", program, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ClaimedByOthers(ctx, "site", "shop.42.example.com", 7, uuid.Nil)
			return err
		}},
		{"a notification", []Caller{System, {User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Notices().Notification(ctx, notification)
			return err
		}},
		{"notifications", []Caller{{User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Notices().Notifications(ctx, Listing{Limit: 20})
			return err
		}},
		{"unread notifications", []Caller{{User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error { _, err := s.Notices().Unread(ctx); return err }},
		{"preferences", []Caller{System, {User: 42}}, func(ctx context.Context, s Scope) error { _, _, err := s.Notices().Preferences(ctx, 42); return err }},
		{"differences of a tenant", program, func(ctx context.Context, s Scope) error { _, err := s.Operations().DifferencesOf(ctx, 42); return err }},
		{"the state of the tables", program, func(ctx context.Context, s Scope) error { _, err := s.Operations().States(ctx); return err }},
	} {
		for _, c := range look.callers {
			ear.heard = nil
			if err := look.with(t.Context(), tables.For(c)); err != nil {
				t.Errorf("%s, %+v: %v", look.up, c, err)
			}
			for _, q := range ear.heard {
				plan := p.plan(t, c, q)
				if strings.Contains(strings.ReplaceAll(plan, "Seq Scan on projections", ""), "Seq Scan") {
					t.Errorf("%s, %+v:\n%s\n%s", look.up, c, q.SQL, plan)
				}
				if blocks := p.blocks(t, c, q); blocks > 100 {
					t.Errorf("%s, %+v read %d blocks:\n%s\n%s", look.up, c, blocks, q.SQL, plan)
				}
			}
			if len(ear.heard) == 0 {
				t.Errorf("%s, %+v: nothing was asked", look.up, c)
			}
		}
	}
}

// Who may read an order stands in its indexes, too: a query that counts orders,
// or passes by them, does not read them. All of them are counted by their days.
func TestOrdersAreCountedInAnIndexBehindTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	for _, sql := range []string{`update orders set customer_name = repeat('Ana ', 200)`, `vacuum analyze orders`} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	superuser := Caller{User: 42, Superuser: true}
	for _, filters := range [][]Filter{nil, {{Field: "status", Op: "=", Value: "failed"}}} {
		ear.heard = nil
		if _, err := tables.For(superuser).Orders().OrdersListed(t.Context(), Listing{Limit: 20, Offset: 20, Filters: filters}); err != nil {
			t.Fatal(err)
		}
		for _, q := range ear.heard {
			if plan := p.plan(t, superuser, q); !strings.Contains(plan, "Index Only Scan") && !strings.Contains(q.SQL, "from order_days") {
				t.Errorf("%v:\n%s\n%s", filters, q.SQL, plan)
			}
		}
	}
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

func TestTheLogIsReadByItsIndexesBehindTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	for _, sql := range []string{
		`select * from events where stream = 'site-42' order by version`,
		`select * from events where stream = 'site-42' order by version desc limit 1`,
		`select * from events where position > 3900 order by position limit 20`,
		`select position, recorded_at from events order by position desc limit 1`,
		`select recorded_at from events where position = 42`,
	} {
		if plan := p.plan(t, System, &pgx.QueuedQuery{SQL: sql}); !strings.Contains(plan, "Index") || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
			t.Errorf("%s\n%s", sql, plan)
		}
	}
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
		err := pool.QueryRow(t.Context(), `select bool_or(custom_plans > 0) from pg_prepared_statements where strpos(statement, $1) > 0`, statement).Scan(&is)
		if err != nil || is != fitted {
			t.Errorf("%s: planned for its arguments: %v, %v", statement, is, err)
		}
	}
}

// A statement for many rows finds each by its key, also behind the wall, and in a new panel,
// whose tables have no statistics.
func TestASetOfRowsIsWrittenByItsKeys(t *testing.T) {
	t.Parallel()
	openPanel(t).writesByKeys(t)
	openFull(t).writesByKeys(t)
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
