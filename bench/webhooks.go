package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// body is as long as the webhooks of real providers.
var body = bytes.Repeat([]byte("payload "), 384)

// newsOf is the header of a new event about an order.
func newsOf(order uuid.UUID) map[string][]string {
	return map[string][]string{"Order": {order.String()}, "Event": {uuid.NewString()}}
}

// webhooks measures how fast a webhook is verified and stored, against bare
// INSERTs of the same body, and how fast a backlog drains.
func (r *run) webhooks(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_webhooks")
	if err != nil {
		return err
	}
	defer p.close()
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, `create table bodies (id uuid primary key, body bytea not null)`); err != nil {
		return err
	}
	pool, err := eventstore.ConnectOwner(ctx, plain)
	if err != nil {
		return err
	}
	defer pool.Close()
	inserts, err := r.pgbench(ctx, plain, fmt.Sprintf(`insert into bodies values (gen_random_uuid(), '%s'::bytea);`, body), 50)
	if err != nil {
		return err
	}
	r.report(Result{Section: "webhooks", Name: "INSERT of 3 kB, 50 clients (pgbench)", Value: inserts, Unit: "/s"})
	id, err := p.checkout(ctx, 1)
	if err != nil {
		return err
	}
	receive := func(ctx context.Context, _, _ int) error {
		return p.sagas.Payments.Receive(ctx, "test", body, newsOf(id))
	}
	var many load
	stored, err := r.median(func() (float64, error) {
		many, err = together(ctx, 50, r.duration, receive)
		return many.perSecond, err
	})
	if err != nil {
		return err
	}
	one, err := together(ctx, 1, r.duration/2, receive)
	if err != nil {
		return err
	}
	r.report(
		Result{
			Section: "webhooks", Name: "N-4 webhook verified and stored, 50 clients", Value: stored, Unit: "/s",
			Ratio: stored / inserts, Peer: "INSERT", Bar: 1,
		},
	)
	r.report(Result{Section: "webhooks", Name: "N-4 the same, absolute", Value: stored, Unit: "/s", Bar: 2000})
	r.report(
		Result{Section: "webhooks", Name: "N-4 p99 with 50 clients", Value: milliseconds(many.at(0.99)), Unit: "ms", Bar: 50, AtMost: true},
	)
	r.report(
		Result{Section: "webhooks", Name: "N-4 p50 with one client", Value: milliseconds(one.at(0.5)), Unit: "ms", Bar: 1, AtMost: true},
	)
	if err := r.drain(ctx, p); err != nil {
		return err
	}
	return r.stripe(ctx, p)
}

// drain lets one node work off what has piled up: the news that as many orders are paid.
func (r *run) drain(ctx context.Context, p *panel) error {
	orders := 10_000
	if r.Smoke {
		orders = 50
	}
	if _, err := p.owner.Exec(ctx, `update webhook_inbox set state = 'ignored'`); err != nil {
		return err
	}
	if _, err := p.owner.Exec(ctx, `delete from orders`); err != nil { // those of the payments that were stored only
		return err
	}
	ids, err := p.checkouts(ctx, 1_000_000, orders)
	if err != nil {
		return err
	}
	if err := eachOf(ctx, orders, func(ctx context.Context, n int) error {
		return p.sagas.Payments.Receive(ctx, "test", body, newsOf(ids[n]))
	}); err != nil {
		return err
	}
	start := clock.Now()
	defer p.work(ctx)()
	for _, q := range []struct {
		until string
		bar   float64
		left  string // what there is until then, found by an index: it is asked for fifty times a second
	}{
		{"matched", 20_000, `webhook_inbox where state = 'stored'`},
		{"paid", 1_500, `orders where status in ('pending', 'payment_processing')`},
	} {
		if err := p.until(ctx, `select not exists (select from `+q.left+`)`); err != nil {
			return err
		}
		name := fmt.Sprintf("N-6 backlog of %d webhooks, one node, until they are %s", orders, q.until)
		r.report(Result{Section: "webhooks", Name: name, Value: float64(orders) / clock.Since(start).Seconds(), Unit: "/s", Bar: q.bar})
	}
	return nil
}
