package bench

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"hostpanel/eventstore/clock"
)

// Counts are what one operation costs, background work subtracted. Other
// programs on the machine hardly change them.
type Counts struct {
	Statements float64 `json:"statements"`
	Trips      float64 `json:"round_trips"`
	Commits    float64 `json:"commits"` // of transactions that write
	WAL        float64 `json:"wal_bytes"`
	Processor  float64 `json:"processor_ms"` // of the program and Postgres
}

// minus subtracts what would have happened in the time without an operation.
func (c Counts) minus(o Counts, times float64) Counts {
	return Counts{
		c.Statements - o.Statements*times, c.Trips - o.Trips*times, c.Commits - o.Commits*times,
		c.WAL - o.WAL*times, c.Processor - o.Processor*times,
	}
}

func (c Counts) over(n float64) Counts { return Counts{}.minus(c, -1/n) }

func (c Counts) String() string {
	return fmt.Sprintf("%8.1f trips %7.1f commits %9.0f bytes %8.2f ms", c.Trips, c.Commits, c.WAL, c.Processor)
}

// An operation is something that a caller asks for over HTTP.
type operation struct {
	name  string
	times int
	do    func(ctx context.Context, n int) error // n: as often as it was done before
	ends  string                                 // event with which it is over, if not with the answer
	batch bool                                   // the next one does not wait for the end
	reads bool                                   // nothing follows from it
}

// counts measures operations of a whole program, one after the other.
func (r *run) counts(ctx context.Context) error {
	c, err := r.startCounted(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	warmUp, idle := 10, 3*time.Second
	if r.Smoke {
		c.pause = 10 * time.Millisecond
		warmUp, idle = 1, 100*time.Millisecond
	}
	if err := c.steady(ctx); err != nil {
		return err
	}
	for _, o := range c.operations() {
		if r.Smoke {
			o.times = 1
		}
		if _, err := c.repeat(ctx, o, 0, warmUp, Counts{}); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		background, err := c.idle(ctx, idle)
		if err != nil {
			return err
		}
		found, err := c.repeat(ctx, o, warmUp, o.times, background)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		r.report(Result{Section: "counts", Name: o.name, Value: found.Statements, Unit: "stmts", Note: found.String(), Counts: &found})
	}
	return nil
}

// steady lets Postgres do nothing that depends on the time of day: no
// checkpoint makes it log whole pages, and no table is analysed.
func (c *counted) steady(ctx context.Context) error {
	for _, sql := range []string{"alter system set autovacuum = off", "alter system set full_page_writes = off", "select pg_reload_conf()", "analyze"} {
		if _, err := c.direct.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// so far: totals since the program has started.
func (c *counted) soFar(ctx context.Context) (Counts, error) {
	n := Counts{Statements: float64(c.wire.statements.Load()), Trips: float64(c.wire.trips.Load()), Processor: milliseconds(childrenTime())}
	err := c.direct.QueryRow(ctx, `select pg_snapshot_xmax(pg_current_snapshot())::text::float8, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8`).Scan(&n.Commits, &n.WAL)
	return n, err
}

// idle is what happens in a second in which no operation is asked for. Orders
// that are not paid yet, for one, are looked at again and again.
func (c *counted) idle(ctx context.Context, long time.Duration) (Counts, error) {
	began := clock.Now()
	all, err := c.between(ctx, Counts{}, func() error {
		for clock.Since(began) < long {
			if err := c.quiet(ctx, c.pause); err != nil {
				return err
			}
		}
		return nil
	}, 1)
	return all.over(clock.Since(began).Seconds()), err
}

// repeat does an operation so many times, waits for what follows from it, and
// returns the cost of one.
func (c *counted) repeat(ctx context.Context, o operation, from, times int, background Counts) (Counts, error) {
	before, err := c.happened(ctx, o.ends)
	if err != nil {
		return Counts{}, err
	}
	return c.between(ctx, background, func() error {
		for n := range times {
			if err := o.do(ctx, from+n); err != nil {
				return err
			}
			if o.reads || o.batch && n < times-1 {
				continue
			}
			if err := c.until(ctx, func() (bool, error) {
				all, err := c.happened(ctx, o.ends)
				return o.ends == "" || all >= before+n+1, err
			}); err != nil {
				return fmt.Errorf("wait for %s: %w", o.ends, err)
			}
			if err := c.quiet(ctx, c.pause); err != nil {
				return err
			}
		}
		return c.quiet(ctx, 5*c.pause)
	}, float64(times))
}

// between is what is counted while something is done, divided by n.
func (c *counted) between(ctx context.Context, background Counts, do func() error, n float64) (Counts, error) {
	began := clock.Now()
	before, err := c.soFar(ctx)
	if err == nil {
		err = do()
	}
	if err != nil {
		return Counts{}, err
	}
	after, err := c.soFar(ctx)
	return after.minus(before, 1).minus(background, clock.Since(began).Seconds()).over(n), err
}

// happened is how many events of a name there are.
func (c *counted) happened(ctx context.Context, event string) (n int, err error) {
	err = c.direct.QueryRow(ctx, `select count(*) from events where name = $1`, event).Scan(&n)
	return n, err
}

// quiet waits until all runs have rested for so long.
func (c *counted) quiet(ctx context.Context, long time.Duration) error {
	since, last := clock.Now(), ""
	return c.until(ctx, func() (bool, error) {
		var now string
		err := c.direct.QueryRow(ctx, `select (select count(*) from saga_run where status in ('ready', 'running')) || ' ' || coalesce(max(position), 0) from events`).Scan(&now)
		if now != last || now[0] != '0' {
			since, last = clock.Now(), now
		}
		return clock.Since(since) > long, err
	})
}

func (c *counted) until(ctx context.Context, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if yes, err := is(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// operations are what customers, visitors and operators do most.
func (c *counted) operations() []operation {
	const few, some, many = 30, 60, 300
	var orders, pages []string
	var refresh string
	key := func(n int) []string {
		return []string{"X-API-Key", c.demo.Key, "Idempotency-Key", fmt.Sprint("counts-", n)}
	}
	admin, operator := []string{"Authorization", c.token.admin}, []string{"Authorization", c.token.operator}
	place := func(n int) string {
		return fmt.Sprintf(`{"plan_id":%d,"customer_email":"ana%d@bench.example","customer_name":"Ana Ruiz","payment_method":"test","domain":"bought%d.example","language":"en"}`, c.demo.Plan, n, n)
	}
	get := func(path string, headers []string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error { return c.call(ctx, 200, "GET", path, "", nil, headers...) }
	}
	site := func(n int) string { return fmt.Sprintf("%s%d/", sitesPath, c.sites[n]) }
	return []operation{
		{name: "place an order", times: some, do: func(ctx context.Context, n int) error {
			var placed struct {
				ID   string `json:"order_id"`
				Page string `json:"payment_url"`
			}
			err := c.call(ctx, 201, "POST", "/storefront/api/orders/", place(n), &placed, key(n)...)
			page, err2 := url.Parse(placed.Page)
			if err == nil && err2 == nil {
				orders, pages = append(orders, placed.ID), append(pages, page.RequestURI())
			}
			return err
		}},
		{name: "place it again with its Idempotency-Key", times: some, do: func(ctx context.Context, n int) error {
			return c.call(ctx, 201, "POST", "/storefront/api/orders/", place(n), nil, key(n)...)
		}},
		{name: "status of an order, by API key", times: many, reads: true, do: func(ctx context.Context, n int) error {
			return c.call(ctx, 200, "GET", "/storefront/api/orders/"+orders[n%len(orders)]+"/", "", nil, "X-API-Key", c.demo.Key)
		}},
		{name: "from the payment to the active order, mails included", times: some, ends: "order.activated", do: func(ctx context.Context, n int) error {
			return c.call(ctx, 303, "POST", pages[n], "action=pay", nil, "Content-Type", "application/x-www-form-urlencoded")
		}},
		{name: "send the welcome mail of an order again", times: few, ends: "order.welcome_mail_sent", do: func(ctx context.Context, n int) error {
			return c.call(ctx, 202, "POST", orderFilesPath+orders[n]+"/resend_mail/", `{"reason":"lost"}`, nil, operator...)
		}},
		{name: "create a site, until it is synced", times: some, do: func(ctx context.Context, n int) error {
			made, err := c.synced(ctx, 201, "POST", sitesPath, fmt.Sprintf(`{"domain":"new%d.example"}`, n), admin)
			c.sites = append(c.sites, made)
			return err
		}},
		{name: "switch a site off or on, until it is synced", times: few, do: func(ctx context.Context, n int) error {
			_, err := c.synced(ctx, 200, "PATCH", site(n/2), fmt.Sprintf(`{"is_active":%t}`, n%2 == 1), admin)
			return err
		}},
		{name: "issue a certificate, its notification included", times: few, batch: true, ends: "certificate.issued", do: func(ctx context.Context, n int) error {
			var made struct{ ID int64 }
			err := c.call(ctx, 202, "POST", site(len(c.sites)-1-n)+"request_ssl/", "", &made, admin...)
			c.certificates = append(c.certificates, made.ID)
			return err
		}},
		{name: "renew a certificate, its notification included", times: few, batch: true, ends: "certificate.issued", do: func(ctx context.Context, n int) error {
			return c.call(ctx, 202, "POST", fmt.Sprintf("/hosting/api/rest/ssl-certificates/%d/renew/", c.certificates[n]), "", nil, admin...)
		}},
		{name: "one site", times: many, reads: true, do: func(ctx context.Context, n int) error {
			return c.call(ctx, 200, "GET", site(n%len(c.sites)), "", nil, admin...)
		}},
		{name: "a list of 20 sites", times: many, reads: true, do: get(sitesPath, admin)},
		{name: "a list of 20 orders, for operators", times: many, reads: true, do: get(orderFilesPath, operator)},
		{name: "an order with all that came of it, for operators", times: many, reads: true, do: func(ctx context.Context, n int) error {
			return c.call(ctx, 200, "GET", orderFilesPath+orders[n%some]+"/", "", nil, operator...)
		}},
		{name: "the first page of notifications", times: many, reads: true, do: get(notificationsPath, admin)},
		{name: "the number of unread notifications", times: many, reads: true, do: get(notificationsPath+"unread_count/", admin)},
		{name: "the plans, by API key", times: many, reads: true, do: get("/storefront/api/plans/", key(0)[:2])},
		{name: "sign in", times: few, do: func(ctx context.Context, _ int) error {
			var pair struct{ Refresh string }
			err := c.call(ctx, 200, "POST", "/api/token/", fmt.Sprintf(`{"username":%q,"password":%q}`, c.demo.Admin.Username, c.demo.Admin.Password), &pair)
			refresh = pair.Refresh
			return err
		}},
		{name: "refresh the tokens", times: some, do: func(ctx context.Context, _ int) error {
			var pair struct{ Refresh string }
			err := c.call(ctx, 200, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, refresh), &pair)
			refresh = pair.Refresh
			return err
		}},
		{name: "delete a site", times: few, do: func(ctx context.Context, n int) error {
			return c.call(ctx, 204, "DELETE", site(len(c.sites)-1-n), "", nil, admin...)
		}},
	}
}
