package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/catalogue"
)

// Bars of cliffs: what is asked of a large panel, as a multiple of a small one.
const (
	cliffBar     = 1.5
	logBar       = 1.3 // appends and reads
	coldBar      = 5   // a command on 10,000 events that are read first
	memoryBar    = 1.2
	processesBar = 0.95 // appends of several processes, of those of one

	startMost  = 2000 // ms, whatever the size
	memoryMost = 150  // MiB, likewise
)

// A cliff compares figures of a panel that has grown with those of a small one.
type cliff struct {
	*run
	p     *panel
	small map[string]float64
}

// says reports a figure. The first one of a name is that of the small panel.
func (c *cliff) says(what, size string, value float64, unit string, bar float64) {
	line := Result{Section: "cliffs", Name: what + ", " + size, Value: value, Unit: unit}
	if small, known := c.small[what]; known && small > 0 {
		line.Ratio, line.Peer, line.Bar, line.AtMost = value/small, "small", bar, true
	} else {
		c.small[what] = value
	}
	c.report(line)
}

// cliffs measures whether what grows with the years makes the panel slow: the log, single
// streams, the inbox, runs that are over, and processes.
func (r *run) cliffs(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_cliffs")
	if err != nil {
		return err
	}
	defer p.close()
	c := &cliff{run: r, p: p, small: map[string]float64{}}
	for _, measure := range []func(context.Context) error{c.logs, c.lengths, c.inboxes, c.finishedRuns, c.processes} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// size is that of a full run, or of a brief one.
func (c *cliff) size(full, smoke int) int {
	if c.Smoke {
		return smoke
	}
	return full
}

// logs lets the log grow. Its streams are copies of one that commands have written.
func (c *cliff) logs(ctx context.Context) error {
	if err := c.p.longPlan(ctx, 1, copied); err != nil {
		return err
	}
	all := 0
	for size := c.size(100_000, 500); size <= c.size(max(c.Size, 100_000), 5_000); size *= 10 {
		took, err := c.copyPlans(ctx, all/copied, size/copied)
		if err != nil {
			return err
		}
		all = size
		c.report(Result{Section: "cliffs", Name: fmt.Sprintf("log of %d events written by SQL", size), Value: took.Seconds(), Unit: "s"})
		if err := c.ofLog(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

// copied is the number of events of the streams that are copied.
const copied = 10

// copyPlans writes the streams of plans, beginning behind those that are there.
func (c *cliff) copyPlans(ctx context.Context, there, wanted int) (time.Duration, error) {
	began := clock.Now()
	if err := execute(ctx, c.p.url, fmt.Sprintf(`
		insert into events
		select head.position + (n - %[1]d - 1) * %[3]d + e.version, 'plan-' || (1000 + n), e.version, gen_random_uuid(),
			e.name, e.schema, e.tenant, e.actor,
			e.correlation, e.causation, e.saga, e.data, e.meta, e.recorded_at, e.hash
		from generate_series(%[1]d + 1, %[2]d) n, events e, (select max(position) as position from events) head
		where e.stream = 'plan-1' order by 1`, there, wanted, copied)); err != nil {
		return 0, fmt.Errorf("fill the log: %w", err)
	}
	took := clock.Since(began)
	return took, c.settle(ctx)
}

// settle does what Postgres does by itself, but not at once, and lets the readers of the
// log have read it.
func (c *cliff) settle(ctx context.Context) error {
	_, err := c.p.owner.Exec(ctx, `
		insert into readers (name, position) select $1, max(position) from events on conflict (name) do update
			set position = excluded.position`, sagas.ReactionsReader)
	return errors.Join(err, execute(ctx, c.p.url, "analyze"))
}

// ofLog measures appends, reads, a start, and the memory that all of it takes.
func (c *cliff) ofLog(ctx context.Context, size int) error {
	debug.FreeOSMemory()
	var peak uint64
	stop := watchMemory(&peak)
	about := fmt.Sprintf("log of %d", size)
	appended, err := appending(ctx, 16, c.duration, plainLog(c.p.store.Pool(), c.p.keys))
	if err != nil {
		return err
	}
	read, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error {
		stream := domain.Stream{Category: storefront.PlanCategory, ID: strconv.Itoa(1001 + rand.IntN(size/copied))}
		events, err := c.p.store.Read(ctx, stream)
		if err == nil && len(events) != copied {
			err = fmt.Errorf("%s has %d events, not %d", stream, len(events), copied)
		}
		return err
	})
	if err != nil {
		return err
	}
	start, err := c.start(ctx)
	stop()
	if err != nil {
		return err
	}
	c.says("append one event, 16 writers, p99", about, milliseconds(appended.at(0.99)), "ms", logBar)
	c.says("read a stream of 10, p99", about, milliseconds(read.at(0.99)), "ms", logBar)
	c.says("start until the first run is over", about, milliseconds(start), "ms", cliffBar)
	c.report(Result{Section: "cliffs", Name: "the same, absolute", Value: milliseconds(start), Unit: "ms", Bar: startMost, AtMost: true})
	memory := float64(peak) / (1 << 20)
	c.says("memory of the process, at most", about, memory, "MiB", memoryBar)
	c.report(Result{Section: "cliffs", Name: "the same, absolute", Value: memory, Unit: "MiB", Bar: memoryMost, AtMost: true})
	return nil
}

// start is how long a further process takes until it has carried out a run.
func (c *cliff) start(ctx context.Context) (time.Duration, error) {
	began := clock.Now()
	if err := eventstore.Migrate(ctx, c.p.owner, program.Migrations()...); err != nil {
		return 0, err
	}
	if err := projections.Prepare(ctx, c.p.owner, eventstore.Open(c.p.owner, catalogue.Events(), c.p.keys).Reader()); err != nil {
		return 0, err
	}
	owner, err := pgxpool.New(ctx, c.p.url)
	if err != nil {
		return 0, err
	}
	p, err := c.open(ctx, c.p.url, owner, c.p.keys)
	if err != nil {
		return 0, err
	}
	defer p.close()
	defer p.work(ctx)()
	if err := p.sagas.Runner.Drill(ctx, fmt.Sprint("start ", began.UnixNano())); err != nil {
		return 0, err
	}
	err = p.drilled(ctx, 5)
	return clock.Since(began), err
}

// lengths changes plans with a short and a long history, in a process that remembers them
// and in one that does not.
func (c *cliff) lengths(ctx context.Context) error {
	prices := 0
	for n, length := range []int{10, c.size(10_000, 100)} {
		plan := int64(n + 2)
		if err := c.lengthen(ctx, plan, length); err != nil {
			return err
		}
		change := func(ctx context.Context, log *eventstore.Store) error {
			prices++
			price := field.Values{"price": field.AppendText(nil, strconv.Itoa(prices)+".99")}
			_, err := log.Execute(ctx, operator, storefront.ChangePlan{Plan: plan, Spec: price, At: clock.Now()})
			return err
		}
		cold, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error {
			return change(ctx, fresh(c.p.store.Pool(), c.p.keys))
		})
		if err != nil {
			return err
		}
		hot, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error { return change(ctx, c.p.store) })
		if err != nil {
			return err
		}
		about := fmt.Sprintf("stream of %d", length)
		c.says("command, remembered, p50", about, milliseconds(hot.at(0.5)), "ms", cliffBar)
		c.says("command, not remembered, p50", about, milliseconds(cold.at(0.5)), "ms", coldBar)
	}
	return nil
}

// lengthen makes a plan with so many events: all but the first two are copies of the
// second.
func (c *cliff) lengthen(ctx context.Context, plan int64, length int) error {
	if err := c.p.longPlan(ctx, plan, 2); err != nil {
		return err
	}
	if err := execute(ctx, c.p.url, fmt.Sprintf(`
		insert into events
		select head.position + v - 2, e.stream, v, gen_random_uuid(), e.name, e.schema, e.tenant, e.actor,
			e.correlation, e.causation, e.saga, e.data, e.meta, e.recorded_at, e.hash
		from generate_series(3, %[2]d) v, events e, (select max(position) as position from events) head
		where e.stream = 'plan-%[1]d' and e.version = 2 order by 1;
		update plans set version = %[2]d where id = %[1]d`, plan, length)); err != nil {
		return fmt.Errorf("lengthen a stream: %w", err)
	}
	return c.settle(ctx)
}
