package main

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

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
		warmUp, idle = 3, 100*time.Millisecond
	}
	if err := c.steady(ctx); err != nil {
		return err
	}
	for _, o := range c.operations() {
		if r.Smoke {
			o.times = 5 // with the first ones an even number: sites are switched off and on
		}
		if _, _, err := c.repeat(ctx, o, 0, warmUp); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		background, err := c.idle(ctx, idle)
		if err != nil {
			return err
		}
		all, least, err := c.repeat(ctx, o, warmUp, o.times)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		r.reportCounts(o.name, all.less(background).over(float64(o.times)), least)
	}
	return nil
}

// reportCounts prints means, and in a smoke run, which is too short for them, the least.
func (r *run) reportCounts(path string, mean Counts, least Least) {
	line := Result{Section: "counts", Name: path, Value: mean.Statements, Unit: "stmts", Note: mean.String(), Counts: &mean, Least: &least}
	if r.Smoke {
		line.Value, line.Note, line.Counts = float64(least.Statements), least.String(), nil
	}
	r.report(line)
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
		return fmt.Sprintf(
			`{"plan_id":%d,"customer_email":"ana%d@bench.example","customer_name":"Ana Ruiz","payment_method":"test",`+
				`"domain":"bought%d.example","language":"en"}`,
			c.demo.Plan, n, n,
		)
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
		{
			name: "from the payment to the active order, mails included", times: some, ends: "order.activated",
			do: func(ctx context.Context, n int) error {
				return c.call(ctx, 303, "POST", pages[n], "action=pay", nil, "Content-Type", "application/x-www-form-urlencoded")
			},
		},
		{
			name: "send the welcome mail of an order again", times: few, ends: "order.welcome_mail_sent",
			do: func(ctx context.Context, n int) error {
				return c.call(ctx, 202, "POST", orderFilesPath+orders[n]+"/resend_mail/", `{"reason":"lost"}`, nil, operator...)
			},
		},
		{name: "create a site, until it is synced", times: some, do: func(ctx context.Context, n int) error {
			made, err := c.synced(ctx, 201, "POST", sitesPath, fmt.Sprintf(`{"domain":"new%d.example"}`, n), admin)
			c.sites = append(c.sites, made)
			return err
		}},
		{name: "switch a site off or on, until it is synced", times: few, do: func(ctx context.Context, n int) error {
			_, err := c.synced(ctx, 200, "PATCH", site(n/2), fmt.Sprintf(`{"is_active":%t}`, n%2 == 1), admin)
			return err
		}},
		{
			name: "issue a certificate, its notification included", times: few, batch: true, ends: "certificate.issued",
			do: func(ctx context.Context, n int) error {
				var made struct{ ID int64 }
				err := c.call(ctx, 202, "POST", site(len(c.sites)-1-n)+"request_ssl/", "", &made, admin...)
				c.certificates = append(c.certificates, made.ID)
				return err
			},
		},
		{
			name: "renew a certificate, its notification included", times: few, batch: true, ends: "certificate.issued",
			do: func(ctx context.Context, n int) error {
				return c.call(
					ctx, 202, "POST", fmt.Sprintf("/hosting/api/rest/ssl-certificates/%d/renew/", c.certificates[n]), "",
					nil, admin...,
				)
			},
		},
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
			err := c.call(
				ctx, 200, "POST", "/api/token/",
				fmt.Sprintf(`{"username":%q,"password":%q}`, c.demo.Admin.Username, c.demo.Admin.Password), &pair,
			)
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
