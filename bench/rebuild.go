package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

const (
	rebuildPace   = 200 // commands per second while tables are rebuilt
	rebuildMemory = 150 // MiB, all in all: the load is made by the same process
)

// rebuild builds all read tables anew from a long log while commands arrive. Every
// order that was placed is read at once, and old ones are read all the time.
func (r *run) rebuild(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_rebuild")
	if err != nil {
		return err
	}
	defer p.close()
	events := 1_000_000
	if r.Smoke {
		events = 3_000
	}
	if err := r.fill(ctx, p, events); err != nil {
		return err
	}
	old, err := p.someOrders(ctx)
	if err != nil {
		return err
	}
	var drawn atomic.Int64
	drawn.Store(1 << 28) // behind the numbers of those in the log
	alone, err := p.pacedOrders(ctx, &drawn, old, func(context.Context) error { return pause(ctx, r.duration) })
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	var result projections.Result
	var peak uint64
	under, err := p.pacedOrders(ctx, &drawn, old, func(ctx context.Context) error {
		stop := watchMemory(&peak)
		defer stop()
		log := eventstore.Open(p.owner, catalogue.Events(), p.keys).Reader()
		var err error
		result, err = projections.Rebuild(ctx, p.owner, log, projections.Names(), projections.Options{})
		return err
	})
	if err != nil {
		return err
	}
	about := fmt.Sprintf(
		"%d events, %d commands and %d reads meanwhile, none failed or wrong", result.Position, len(under.latencies),
		under.reads,
	)
	r.report(
		Result{
			Section: "rebuild", Name: "all read tables, 200 commands a second meanwhile",
			Value: float64(result.Position) / result.Took.Seconds(), Unit: "events/s", Bar: 120_000, Note: about,
		},
	)
	r.report(Result{Section: "rebuild", Name: "the same, from the beginning to the swap", Value: result.Took.Seconds(), Unit: "s"})
	for _, q := range []struct {
		name     string
		quantile float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		r.report(Result{
			Section: "rebuild", Name: "place an order meanwhile, " + q.name, Value: milliseconds(under.at(q.quantile)), Unit: "ms",
			Ratio: float64(under.at(q.quantile)) / float64(alone.at(q.quantile)), Peer: "without it",
		})
	}
	r.report(
		Result{
			Section: "rebuild", Name: "memory of the process, at most", Value: float64(peak) / (1 << 20), Unit: "MiB",
			Bar: rebuildMemory, AtMost: true,
		},
	)
	return r.lookBack(ctx, p)
}

// lookBack fills a view of the past with the whole log.
func (r *run) lookBack(ctx context.Context, p *panel) error {
	log := eventstore.Open(p.owner, catalogue.Events(), p.keys).Reader()
	began := clock.Now()
	past, err := projections.OpenPast(ctx, p.owner, log, projections.View{At: began})
	if err != nil {
		return err
	}
	took := clock.Since(began)
	r.report(Result{
		Section: "rebuild", Name: "as-of: a view of the past, until it can be read", Value: took.Seconds(), Unit: "s",
		Note: fmt.Sprintf("%d events", past.Position),
	})
	return past.Close()
}

// someOrders are orders of the log with their status.
func (p *panel) someOrders(ctx context.Context) (map[uuid.UUID]order.Status, error) {
	all, err := p.tables.For(projections.System).Orders().Orders(ctx, projections.OrderFilter{Limit: 500})
	known := map[uuid.UUID]order.Status{}
	for _, o := range all {
		known[o.ID] = o.Status
	}
	return known, err
}

// A pacedLoad is what was done meanwhile.
type pacedLoad struct {
	load
	reads int64
}

// pacedOrders places orders at a fixed pace as long as something else takes. Each is
// read back at once, and some old ones are read besides.
func (p *panel) pacedOrders(
	ctx context.Context, drawn *atomic.Int64, old map[uuid.UUID]order.Status, meanwhile func(context.Context) error,
) (all pacedLoad, err error) {
	done := make(chan struct{})
	var mu sync.Mutex
	var work sync.WaitGroup
	var reads atomic.Int64
	var failed error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
	}
	work.Go(func() {
		ticks := time.NewTicker(time.Second / rebuildPace)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
			case <-done:
				return
			}
			work.Go(func() {
				c, began := p.place(int(drawn.Add(1))), clock.Now()
				_, err := p.store.Execute(ctx, operator, c)
				took := clock.Since(began)
				if err = errors.Join(err, p.shows(ctx, c.ID, "pending")); err != nil {
					fail(err)
				}
				reads.Add(1)
				mu.Lock()
				defer mu.Unlock()
				all.latencies = append(all.latencies, took)
			})
		}
	})
	work.Go(func() {
		for {
			for id, status := range old {
				select {
				case <-done:
					return
				default:
				}
				if err := p.shows(ctx, id, status); err != nil {
					fail(err)
					return
				}
				reads.Add(1)
				_ = pause(ctx, time.Millisecond)
			}
		}
	})
	err = meanwhile(ctx)
	close(done)
	work.Wait()
	slices.Sort(all.latencies)
	all.reads = reads.Load()
	return all, errors.Join(err, failed)
}

// shows fails if the order is not read as it is.
func (p *panel) shows(ctx context.Context, id uuid.UUID, status order.Status) error {
	o, err := p.tables.For(projections.System).Orders().Order(ctx, id)
	if err == nil && o.Status != status {
		err = fmt.Errorf("order %s is shown as %s, not %s", id, o.Status, status)
	}
	return err
}

// watchMemory keeps the most memory that the process has from the system.
func watchMemory(peak *uint64) (stop func()) {
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			metrics.Read(samples)
			*peak = max(*peak, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() { close(done); watch.Wait() }
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
