package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain/account"
	"hostpanel/eventstore/clock"
)

const orderFilesPath = "/operations/api/v1/orders/"

// orders measures what operators do with orders: lists of them, and one with
// all that came of it, where there are few and where there are many.
func (r *run) orders(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_orders")
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sizes := []int64{1_000, 100_000}
	if r.Smoke {
		sizes = []int64{100, 1_000}
	}
	made, err := p.makeUsers(ctx, userCounts{readers: 1, users: 1, tenantsOfReader: 1})
	if err != nil {
		return err
	}
	if _, err := p.store.Execute(ctx, operator, account.GrantSuperuser{User: 1, At: clock.Now()}); err != nil {
		return err
	}
	address, err := listen(ctx, p.program(false).Server().Handler())
	if err != nil {
		return err
	}
	held, err := signIn(ctx, address, made)
	if err != nil {
		return err
	}
	id, err := p.sell(ctx)
	if err != nil {
		return err
	}
	lists, known := &reader{run: r, panel: p, section: "orders", address: address, usual: map[string]float64{}}, int64(0)
	start, err := r.startPage(ctx, p, lists)
	if err != nil {
		return err
	}
	for _, n := range sizes {
		if err := p.copyOrder(ctx, id, known+1, n); err != nil {
			return fmt.Errorf("copy an order: %w", err)
		}
		known = n
		if err := lists.ask(ctx, fmt.Sprint(n), orderQuestions(id, n), held[0]); err != nil {
			return err
		}
		if err := start.measure(ctx, fmt.Sprint(n)); err != nil {
			return err
		}
	}
	return nil
}

// sell takes an order to its end: active, with a subscription and an invoice.
func (p *panel) sell(ctx context.Context) (uuid.UUID, error) {
	if _, err := p.store.NextIDs(ctx, "user", "tenant"); err != nil { // which the only user has
		return uuid.Nil, err
	}
	defer p.work(ctx)()
	id, err := p.checkout(ctx, 0)
	if err != nil {
		return id, err
	}
	if err := p.sagas.Payments.Receive(ctx, "test", body, newsOf(id)); err != nil {
		return id, err
	}
	return id, p.await(ctx, []uuid.UUID{id})
}

func orderQuestions(id uuid.UUID, n int64) []question {
	const (
		order = ` order by created_at desc, id desc limit 20`
		count = `select count(*) from orders`
	)
	page := n/40 + 1
	return []question{
		{name: "first page", path: orderFilesPath, sql: count + `; select * from orders` + order},
		{
			name: "first page of failed ones", path: orderFilesPath + "?status=failed",
			sql: count + ` where status = 'failed'; select * from orders where status = 'failed'` + order,
		},
		{name: "last page", path: orderFilesPath + "?page=last", sql: count + `; select * from orders order by created_at, id limit 20`},
		{
			name: "page in the middle", path: fmt.Sprintf("%s?page=%d", orderFilesPath, page), deep: true,
			sql: count + fmt.Sprintf(`; select * from orders%s offset %d`, order, (page-1)*20),
		},
		{
			name: "search", path: orderFilesPath + "?search=old77%40bench", deep: true, atMost: 10,
			sql: count + ` where strpos(search, 'old77@bench') > 0; select * from orders where strpos(search, 'old77@bench') > 0` + order,
		},
		{ // pgbench takes what follows a colon for a variable, in quotes too
			name: "one with all that came of it", path: orderFilesPath + id.String() + "/",
			sql: strings.ReplaceAll(`select * from orders where id = 'ID'; select * from subscriptions
				where order_id = 'ID'; select * from invoices where order_id = 'ID';
select * from credit_notes where order_id = 'ID'; select * from resources
	where requested_for = 'order' || chr(58) || 'ID'; select * from events where stream = 'order-ID' order by version`, "ID", id.String()),
		},
	}
}

// copyOrder puts the order, its subscription and its invoice into the read
// tables once more under each number, one in a hundred as failed: without a
// history, which lists do not need.
func (p *panel) copyOrder(ctx context.Context, id uuid.UUID, from, to int64) error {
	const another = `md5('order' || n)::uuid`
	for _, c := range []struct {
		table, key string
		differs    map[string]string
	}{
		{"orders", "id", map[string]string{
			"id": another, "order_number": `'ORD-OLD-' || n`, "customer_email": `'old' || n || '@bench.example'`,
			"status": `case when n % 100 = 0 then 'failed' else status end`, "created_at": `created_at - n * interval '1 minute'`,
		}},
		{"subscriptions", "order_id", map[string]string{"order_id": another, "tenant": "tenant + n"}},
		{"invoices", "id", map[string]string{"id": another, "order_id": another, "tenant": "tenant + n", "number": `'OLD-' || n`}},
	} {
		rows, err := p.owner.Query(ctx, `select attname::text from pg_attribute where attrelid = $1::regclass
			and attnum > 0 and attgenerated = '' and not attisdropped`, c.table)
		if err != nil {
			return err
		}
		columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		values := make([]string, len(columns))
		for i, column := range columns {
			if values[i] = c.differs[column]; values[i] == "" {
				values[i] = column
			}
		}
		copied := fmt.Sprintf(`insert into %[1]s (%[2]s) select %[3]s from %[1]s, generate_series($2::bigint,
			$3::bigint) n where %[4]s = $1`,
			c.table, strings.Join(columns, ", "), strings.Join(values, ", "), c.key)
		if _, err := p.owner.Exec(ctx, copied, id, from, to); err != nil {
			return err
		}
	}
	_, err := p.owner.Exec(ctx, `insert into order_days (day, currency, test, placed, paid, active, failed, received)
			select (created_at at time zone 'UTC')::date, currency, test, count(*), count(*), count(*),
				count(*) filter (where status = 'failed'), sum(minor) from orders group by 1, 2, 3
			on conflict (day, currency, test) do update set placed = excluded.placed, received = excluded.received`)
	if err != nil {
		return err
	}
	_, err = p.owner.Exec(ctx, `vacuum analyze orders, subscriptions, invoices, order_days`)
	return err
}
