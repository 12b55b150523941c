package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

var errEnough = errors.New("enough")

// enough turns the end of a bounded load into success.
func enough(err error) error {
	if err == nil || strings.ReplaceAll(strings.ReplaceAll(err.Error(), errEnough.Error(), ""), "\n", "") == "" {
		return nil
	}
	return err
}

// sagas measures what a customer waits for: from the payment's event to the
// active order, with an outside that answers at once.
func (r *run) sagas(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_sagas")
	if err != nil {
		return err
	}
	defer p.close()
	if err := r.steps(ctx, p); err != nil {
		return err
	}
	defer p.work(ctx)()
	orders := 200
	if r.Smoke {
		orders = 10
	}
	var ids []uuid.UUID
	answered := map[uuid.UUID]time.Time{}
	for n := range orders {
		id, err := p.checkout(ctx, n)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		if err := p.sagas.Payments.Receive(ctx, "test", body, newsOf(id)); err != nil {
			return err
		}
		answered[id] = clock.Now()
		if err := p.await(ctx, []uuid.UUID{id}); err != nil {
			return err
		}
	}
	hops, err := p.hops(ctx, answered)
	if err != nil {
		return err
	}
	r.report(
		Result{
			Section: "sagas", Name: "N-5 webhook answered → order paid, p95",
			Value: milliseconds(hops[len(hops)*95/100]), Unit: "ms", Bar: 100, AtMost: true,
		},
	)
	waits, err := p.waits(ctx, ids)
	if err != nil {
		return err
	}
	r.report(
		Result{
			Section: "sagas", Name: "N-3 paid → active, hosting, idle, p50", Value: milliseconds(waits[len(waits)/2]),
			Unit: "ms", Bar: 6, AtMost: true,
		},
	)
	r.report(
		Result{
			Section: "sagas", Name: "N-3 paid → active, hosting, idle, p95",
			Value: milliseconds(waits[len(waits)*95/100]), Unit: "ms", Bar: 12, AtMost: true,
		},
	)
	return r.backlog(ctx, p, 10*orders)
}

// backlog pays many orders at once and measures how fast they get through.
func (r *run) backlog(ctx context.Context, p *panel, orders int) error {
	ids, err := p.checkouts(ctx, 1_000_000, orders)
	if err != nil {
		return err
	}
	before, err := p.sagas.Gauges(ctx)
	if err != nil {
		return err
	}
	start := clock.Now()
	for _, id := range ids {
		if err := p.sagas.Payments.Hint(ctx, id, "bench"); err != nil {
			return err
		}
	}
	if err := p.await(ctx, ids); err != nil {
		return err
	}
	active := clock.Since(start).Seconds()
	if err := p.through(ctx); err != nil {
		return err
	}
	took := clock.Since(start).Seconds()
	after, err := p.sagas.Gauges(ctx)
	if err != nil {
		return err
	}
	r.report(
		Result{
			Section: "sagas", Name: fmt.Sprintf("%d orders paid at once, all active", orders),
			Value: float64(orders) / active, Unit: "orders/s",
		},
	)
	r.report(
		Result{Section: "sagas", Name: "the same, with all reactions and mails", Value: float64(orders) / took, Unit: "orders/s", Bar: 300},
	)
	r.report(
		Result{
			Section: "sagas", Name: "steps of these orders, effects and mails included",
			Value: float64(after.Completed-before.Completed) / took, Unit: "steps/s",
		},
	)
	return nil
}

// checkouts places so many orders, whose customers are sent to pay.
func (p *panel) checkouts(ctx context.Context, first, orders int) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, orders)
	return ids, eachOf(ctx, orders, func(ctx context.Context, n int) (err error) {
		ids[n], err = p.checkout(ctx, first+n)
		return err
	})
}

// eachOf does something for each of so many, 32 at a time.
func eachOf(ctx context.Context, many int, do func(ctx context.Context, n int) error) error {
	var next atomic.Int64
	_, err := together(ctx, 32, time.Hour, func(ctx context.Context, _, _ int) error {
		n := int(next.Add(1)) - 1
		if n >= many {
			return errEnough
		}
		return do(ctx, n)
	})
	return enough(err)
}

// through waits until all events were reacted to and nothing is left to do: no run is due
// or in work, and no mail is still to be sent.
func (p *panel) through(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		var behind, left int64
		err := p.owner.QueryRow(ctx, `
			select (select max(position) from events) - (select position from readers where name = $1),
				count(*) filter (where status in ('ready', 'running') or (status = 'waiting' and definition like 'mail/%'))
			from `+sagas.LiveRuns, sagas.ReactionsReader).Scan(&behind, &left)
		if err != nil || behind == 0 && left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d events were not reacted to in time, %d runs are not over", behind, left)
		case <-time.After(20 * time.Millisecond): // looking is not to slow them down
		}
	}
}

// await waits until orders are active.
func (p *panel) await(ctx context.Context, ids []uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for pause := time.Millisecond; len(ids) > 0; {
		var active bool
		err := p.owner.QueryRow(ctx, `select exists (select from orders where id = $1 and status = 'active')`, ids[0]).Scan(&active)
		switch {
		case err != nil:
			return err
		case active:
			ids = ids[1:]
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d orders did not become active in time", len(ids))
		case <-time.After(pause): // looking is not to slow them down
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
	return nil
}

// hops are the times from a webhook's answer to PaymentConfirmed, shortest first.
func (p *panel) hops(ctx context.Context, answered map[uuid.UUID]time.Time) ([]time.Duration, error) {
	rows, _ := p.owner.Query(ctx, `select substr(stream, 7)::uuid, recorded_at from events where name = 'order.payment_confirmed'`)
	var id uuid.UUID
	var at time.Time
	var hops []time.Duration
	_, err := pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		if since, ok := answered[id]; ok {
			hops = append(hops, at.Sub(since))
		}
		return nil
	})
	slices.Sort(hops)
	if err == nil && len(hops) != len(answered) {
		err = fmt.Errorf("%d of %d orders tell of their payment", len(hops), len(answered))
	}
	return hops, err
}

// waits are the times from PaymentConfirmed to Activated, shortest first, by
// the log's own clock.
func (p *panel) waits(ctx context.Context, ids []uuid.UUID) ([]time.Duration, error) {
	rows, _ := p.owner.Query(ctx, `
		select a.recorded_at - p.recorded_at from unnest($1::uuid[]) i(id)
		join events p on p.stream = 'order-' || i.id and p.name = 'order.payment_confirmed'
		join events a on a.stream = p.stream and a.name = 'order.activated'`, ids)
	waits, err := pgx.CollectRows(rows, pgx.RowTo[time.Duration])
	slices.Sort(waits)
	if err == nil && len(waits) != len(ids) {
		err = fmt.Errorf("%d of %d orders tell of payment and activation", len(waits), len(ids))
	}
	return waits, err
}
