package bench

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
	if err := r.drills(ctx, p); err != nil {
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
	r.report(Result{Section: "sagas", Name: "N-5 webhook answered → order paid, p95", Value: milliseconds(hops[len(hops)*95/100]), Unit: "ms", Bar: 100, AtMost: true})
	waits, err := p.waits(ctx, ids)
	if err != nil {
		return err
	}
	r.report(Result{Section: "sagas", Name: "N-3 paid → active, hosting, idle, p50", Value: milliseconds(waits[len(waits)/2]), Unit: "ms", Bar: 10, AtMost: true})
	r.report(Result{Section: "sagas", Name: "N-3 paid → active, hosting, idle, p95", Value: milliseconds(waits[len(waits)*95/100]), Unit: "ms", Bar: 30, AtMost: true})
	return r.backlog(ctx, p, 10*orders)
}

// updateAndInsert is the least that a durable step can be: a row changed, and
// a row added.
const (
	stepTables      = `create table runs (id int primary key, step int not null); insert into runs select n, 0 from generate_series(1, 1000) n; create table steps (id bigint generated always as identity primary key, run int not null, at timestamptz not null default now())`
	updateAndInsert = "\\set id random(1, 1000)\nwith u as (update runs set step = step + 1 where id = :id) insert into steps (run) values (:id);"
)

// drills measures the mechanism alone: runs of five steps that do nothing.
func (r *run) drills(ctx context.Context, p *panel) error {
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, stepTables); err != nil {
		return err
	}
	b16, err := r.pgbench(ctx, plain, updateAndInsert, 16)
	if err != nil {
		return err
	}
	b1, err := r.pgbench(ctx, plain, updateAndInsert, 1)
	if err != nil {
		return err
	}
	r.report(Result{Section: "sagas", Name: "B16: UPDATE and INSERT, 16 clients (pgbench)", Value: b16, Unit: "/s"})
	r.report(Result{Section: "sagas", Name: "B1: the same, one client, mean", Value: 1000 / b1, Unit: "ms"})
	runs := 3000
	if r.Smoke {
		runs = 100
	}
	if err := r.manyDrills(ctx, p, runs, b16); err != nil {
		return err
	}
	if err := r.oneDrill(ctx, p, runs/10, b1); err != nil {
		return err
	}
	return r.takeover(ctx, p, runs/10)
}

// takeover leaves runs as a killed process does, under leases that are not
// renewed, and measures when the last of them is over.
func (r *run) takeover(ctx context.Context, p *panel, runs int) error {
	for n := range runs {
		if err := p.sagas.Drill(ctx, fmt.Sprint("dead ", n)); err != nil {
			return err
		}
	}
	const lease = 5 * time.Second
	_, err := p.owner.Exec(ctx, `
		update saga_run set status = 'running', worker = 'killed', lease_token = lease_token + 1, lease_until = real_now() + $1::interval
		where key like 'drill:dead %'`, lease)
	if err != nil {
		return err
	}
	start, before := clock.Now(), p.sagas.Completed()
	defer p.work(ctx)()
	if err := p.drilled(ctx, before+int64(5*runs)); err != nil {
		return err
	}
	r.report(Result{
		Section: "sagas", Name: fmt.Sprintf("N-7 %d runs of a killed process taken over and done, lease 5 s", runs),
		Value: clock.Since(start).Seconds(), Unit: "s", Bar: (lease + 2*time.Second).Seconds(), AtMost: true,
	})
	return nil
}

// manyDrills starts the runs first and then lets the workers at them.
func (r *run) manyDrills(ctx context.Context, p *panel, runs int, b16 float64) error {
	var next atomic.Int64
	_, err := together(ctx, 32, time.Hour, func(ctx context.Context, _, _ int) error {
		n := next.Add(1)
		if n > int64(runs) {
			return errEnough
		}
		return p.sagas.Drill(ctx, fmt.Sprint("many ", n))
	})
	if enough(err) != nil {
		return err
	}
	start := clock.Now()
	defer p.work(ctx)()
	if err := p.drilled(ctx, int64(5*runs)); err != nil {
		return err
	}
	speed := float64(5*runs) / clock.Since(start).Seconds()
	r.report(Result{Section: "sagas", Name: "N-1 durable steps that do nothing, 16 at once", Value: speed, Unit: "steps/s", Ratio: speed / b16, Peer: "B16", Bar: 0.4})
	return nil
}

// oneDrill goes through one run at a time.
func (r *run) oneDrill(ctx context.Context, p *panel, runs int, b1 float64) error {
	defer p.work(ctx)()
	before := p.sagas.Completed()
	l, err := together(ctx, 1, time.Hour, func(ctx context.Context, _, n int) error {
		if n == runs {
			return errEnough
		}
		if err := p.sagas.Drill(ctx, fmt.Sprint("one ", n)); err != nil {
			return err
		}
		return p.drilled(ctx, before+int64(5*(n+1)))
	})
	if enough(err) != nil {
		return err
	}
	p50 := milliseconds(l.at(0.5))
	r.report(Result{Section: "sagas", Name: "N-2 a run of five steps, idle, p50", Value: p50, Unit: "ms", Ratio: p50 / (1000 / b1), Peer: "B1", Bar: 20, AtMost: true})
	r.report(Result{Section: "sagas", Name: "N-2 p50 in all", Value: p50, Unit: "ms", Bar: 6, AtMost: true})
	r.report(Result{Section: "sagas", Name: "N-2 p99", Value: milliseconds(l.at(0.99)), Unit: "ms", Bar: 20, AtMost: true})
	return nil
}

// drilled waits until so many steps are done in all.
func (p *panel) drilled(ctx context.Context, steps int64) error {
	for p.sagas.Completed() < steps {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Microsecond):
		}
	}
	return nil
}

// backlog pays many orders at once and measures how fast they get through.
func (r *run) backlog(ctx context.Context, p *panel, orders int) error {
	ids := make([]uuid.UUID, orders)
	var next atomic.Int64
	_, err := together(ctx, 32, time.Hour, func(ctx context.Context, _, _ int) error {
		n := int(next.Add(1)) - 1
		if n >= orders {
			return errEnough
		}
		var err error
		ids[n], err = p.checkout(ctx, 1_000_000+n)
		return err
	})
	if enough(err) != nil {
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
	took := clock.Since(start).Seconds()
	after, err := p.sagas.Gauges(ctx)
	if err != nil {
		return err
	}
	r.report(Result{Section: "sagas", Name: fmt.Sprintf("%d orders paid at once, all active", orders), Value: float64(orders) / took, Unit: "orders/s"})
	r.report(Result{Section: "sagas", Name: "steps of these orders, effects included", Value: float64(after.Completed-before.Completed) / took, Unit: "steps/s"})
	return nil
}

// await waits until orders are active.
func (p *panel) await(ctx context.Context, ids []uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) { // looking is not to slow them down
		var left int
		err := p.owner.QueryRow(ctx, `select count(*) from unnest($1::uuid[]) i(id) where not exists (select from orders o where o.id = i.id and o.status = 'active')`, ids).Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d orders did not become active in time", left)
		case <-time.After(pause):
		}
	}
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
