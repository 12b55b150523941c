package main

import (
	"context"
	"sync/atomic"
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// commands measures whole commands: the stream is read, the order decides,
// personal data is sealed, events are appended and read tables changed.
func (r *run) commands(ctx context.Context) error {
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, plainTable); err != nil {
		return err
	}
	p, err := r.panel(ctx, "bench_commands")
	if err != nil {
		return err
	}
	defer p.close()
	inserts, err := r.pgbench(ctx, plain, insertOne, 64)
	if err != nil {
		return err
	}
	r.report(Result{Section: "commands", Name: "INSERT one by one, 64 clients (pgbench)", Value: inserts, Unit: "/s"})
	var n atomic.Int64
	work := func(ctx context.Context, _, _ int) error {
		_, err := p.store.Execute(ctx, operator, p.place(int(n.Add(1))))
		return err
	}
	commands, err := r.median(func() (float64, error) {
		l, err := together(ctx, 64, r.duration, work)
		return l.perSecond, err
	})
	if err != nil {
		return err
	}
	r.report(
		Result{
			Section: "commands", Name: "place an order, 64 clients", Value: commands, Unit: "/s",
			Ratio: commands / inserts, Peer: "INSERT", Bar: 0.8,
		},
	)
	return r.idle(ctx, p, plain, work)
}

// idle compares one command at a time with one INSERT at a time, both from
// this program, so that both pay the same for the way to the database.
func (r *run) idle(ctx context.Context, p *panel, plain string, work func(context.Context, int, int) error) error {
	pool, err := eventstore.ConnectOwner(ctx, plain)
	if err != nil {
		return err
	}
	defer pool.Close()
	one, err := together(ctx, 1, r.duration, func(ctx context.Context, _, _ int) error {
		_, err := pool.Exec(ctx, insertOne)
		return err
	})
	if err != nil {
		return err
	}
	command, err := together(ctx, 1, r.duration, work)
	if err != nil {
		return err
	}
	insert := one.at(0.5)
	r.report(Result{Section: "commands", Name: "one INSERT, idle, p50", Value: milliseconds(insert), Unit: "ms"})
	r.report(Result{
		Section: "commands", Name: "one command, idle, p50", Value: milliseconds(command.at(0.5)), Unit: "ms",
		Ratio: float64(command.at(0.5)) / float64(insert), Peer: "INSERT", Bar: 2, AtMost: true,
	})
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// replay folds a log of orders into their states, which needs no personal data, and
// reads it again with the data opened.
func (r *run) replay(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_replay")
	if err != nil {
		return err
	}
	defer p.close()
	events := 200_000
	if r.Smoke {
		events = 2_000
	}
	if err := r.fill(ctx, p, events); err != nil {
		return err
	}
	folded, err := r.median(func() (float64, error) { return foldOrders(ctx, p.store.Reader().Closed()) })
	if err != nil {
		return err
	}
	r.report(Result{Section: "replay", Name: "replay of the log into decoded, folded orders", Value: folded, Unit: "/s", Bar: 250_000})
	opened, err := r.median(func() (float64, error) { return foldOrders(ctx, p.store.Reader().Afresh()) })
	if err != nil {
		return err
	}
	r.report(Result{Section: "replay", Name: "the same with all personal data opened", Value: opened, Unit: "/s"})
	checked, err := r.median(func() (float64, error) {
		start := clock.Now()
		v, err := p.store.Reader().Verify(ctx, nil)
		return float64(v.Checked) / clock.Since(start).Seconds(), err
	})
	if err != nil {
		return err
	}
	r.report(Result{Section: "replay", Name: "verification of every hash", Value: checked, Unit: "/s", Bar: 350_000})
	return nil
}

// foldOrders reads the whole log and folds the orders in it. It returns events per second.
func foldOrders(ctx context.Context, log *eventstore.Reader) (float64, error) {
	states := map[string]order.Order{}
	start, n := clock.Now(), 0
	err := log.Replay(ctx, 0, func(e eventstore.RecordedEvent) error {
		if fact, ok := e.Event.(order.Event); ok {
			id := e.Stream.ID
			states[id] = order.Decider.Evolve(states[id], fact)
		}
		n++
		return nil
	})
	return float64(n) / clock.Since(start).Seconds(), err
}

// fill writes orders whose provider did not answer and whose time ran out:
// three events each.
func (r *run) fill(ctx context.Context, p *panel, events int) error {
	const clients = 64
	_, err := together(ctx, clients, time.Hour, func(ctx context.Context, client, n int) error {
		if n*clients*3 >= events {
			return errEnough
		}
		c := p.place(n*clients + client)
		_, err := p.store.Execute(
			ctx, operator, c, order.FailSession{ID: c.ID, Code: "timeout", At: c.At}, order.Expire{ID: c.ID, At: c.At},
		)
		return err
	})
	return enough(err)
}
