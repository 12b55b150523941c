package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// inboxes stores webhooks in an empty inbox and in those that years have left behind.
func (c *cliff) inboxes(ctx context.Context) error {
	id := uuid.New()
	there := 0
	sizes := []int{0, c.size(100_000, 500)}
	if c.Size > 1_000_000 {
		sizes = append(sizes, c.Size)
	}
	for _, size := range sizes {
		if err := c.p.growInbox(ctx, there, size); err != nil {
			return err
		}
		there = size
		stored, err := together(ctx, 16, c.duration, func(ctx context.Context, _, _ int) error {
			return c.p.sagas.Payments.Receive(ctx, "test", body, newsOf(id))
		})
		if err != nil {
			return err
		}
		// they fit no order, and gauges count what waits
		if _, err := c.p.owner.Exec(ctx, `update webhook_inbox set state = 'ignored' where state = 'stored'`); err != nil {
			return err
		}
		gauges, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error {
			_, err := c.p.sagas.Payments.Gauges(ctx)
			return err
		})
		if err != nil {
			return err
		}
		about := fmt.Sprintf("inbox of %d", size)
		c.says("webhook stored, 16 clients, p99", about, milliseconds(stored.at(0.99)), "ms", cliffBar)
		c.says("gauges of the inbox, p50", about, milliseconds(gauges.at(0.5)), "ms", cliffBar)
	}
	return nil
}

// finishedRuns carries out runs beside none and beside many that are over.
func (c *cliff) finishedRuns(ctx context.Context) error {
	for _, size := range []int{0, c.size(max(c.Size, 100_000), 500)} {
		if err := c.finish(ctx, size); err != nil {
			return err
		}
		if err := c.ofRuns(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

// finish copies a run that is over.
func (c *cliff) finish(ctx context.Context, runs int) error {
	began := clock.Now()
	tag, err := c.p.owner.Exec(ctx, `
		insert into saga_run (id, key, definition, steps, input, status, step, queue, run_at, lease_token,
			stream_version, created_at, cause, correlation)
		select gen_random_uuid(), 'drill:old ' || n, definition, steps, input, status, step, queue, run_at, lease_token, stream_version,
			created_at - n * interval '1 minute', cause, correlation
		from generate_series(1, $1::int) n, (select * from saga_run where status = 'done' limit 1) over`, runs)
	if err != nil {
		return fmt.Errorf("fill the runs: %w", err)
	}
	if tag.RowsAffected() != int64(runs) {
		return fmt.Errorf("%d runs were written, not %d", tag.RowsAffected(), runs)
	}
	if runs > 0 {
		c.report(
			Result{
				Section: "cliffs", Name: fmt.Sprintf("%d finished runs written by SQL", runs),
				Value: clock.Since(began).Seconds(), Unit: "s",
			},
		)
	}
	return c.settle(ctx)
}

func (c *cliff) ofRuns(ctx context.Context, size int) error {
	stop := c.p.work(ctx)
	n, before := 0, c.p.sagas.Runner.Completed()
	alone, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error {
		n++
		if err := c.p.sagas.Runner.Drill(ctx, fmt.Sprintf("beside %d: %d", size, n)); err != nil {
			return err
		}
		return c.p.drilled(ctx, before+int64(5*n))
	})
	stop()
	if err != nil {
		return err
	}
	gauges, err := together(ctx, 1, c.duration, func(ctx context.Context, _, _ int) error {
		_, err := c.p.sagas.Runner.Operators.RunGauges(ctx)
		return err
	})
	if err != nil {
		return err
	}
	start, err := c.start(ctx)
	about := fmt.Sprintf("beside %d finished runs", size)
	c.says("a run of five steps, claimed and done, p50", about, milliseconds(alone.at(0.5)), "ms", cliffBar)
	c.says("gauges of runs, p50", about, milliseconds(gauges.at(0.5)), "ms", cliffBar)
	c.says("start", about, milliseconds(start), "ms", cliffBar)
	return err
}

// processes lets several processes append to one log: stores that share nothing but the
// database.
func (c *cliff) processes(ctx context.Context) error {
	var one float64
	var stores []*eventstore.Store
	for _, processes := range []int{1, 2, 4} {
		for len(stores) < processes {
			pool, err := eventstore.Connect(ctx, c.p.url, 16)
			if err != nil {
				return err
			}
			defer pool.Close()
			stores = append(stores, plainLog(pool, c.p.keys))
		}
		speed, err := c.median(func() (float64, error) {
			l, err := appending(ctx, 64, c.duration, stores...)
			return l.perSecond, err
		})
		if err != nil {
			return err
		}
		line := Result{
			Section: "cliffs", Name: fmt.Sprintf("append one event, 64 writers, %d processes", processes),
			Value: speed, Unit: "/s",
		}
		if processes == 1 {
			one = speed
		} else {
			line.Ratio, line.Peer, line.Bar = speed/one, "one", processesBar
		}
		c.report(line)
	}
	return nil
}
