package main

import (
	"context"
	"fmt"
	"math"
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

// minus subtracts so many times what another one counts.
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

// Least is the least that one of several equal operations has cost, statement
// by statement. What the program also asks of Postgres while nothing is asked
// of it is left out, so that these are whole numbers and those of every run.
type Least struct {
	Statements int `json:"statements"`
	Trips      int `json:"round_trips"`
	Commits    int `json:"commits"`
}

func (l Least) String() string { return fmt.Sprintf("%8d trips %7d commits", l.Trips, l.Commits) }

// asked are statements by their texts.
type asked map[string]share

// A share is how often a statement was executed, and how often it was the
// first one of a round trip.
type share struct{ statements, trips int }

// least keeps of each statement what it has in common with another operation.
func (a asked) least(o asked) asked {
	for text, q := range a {
		a[text] = share{min(q.statements, o[text].statements), min(q.trips, o[text].trips)}
	}
	return a
}

// since is what one of n operations has asked since then.
func (a asked) since(before asked, n int) asked {
	each := asked{}
	for text, q := range a {
		each[text] = share{(q.statements - before[text].statements) / n, (q.trips - before[text].trips) / n}
	}
	return each
}

func (a asked) with(commits float64) (l Least) {
	for _, q := range a {
		l.Statements, l.Trips = l.Statements+q.statements, l.Trips+q.trips
	}
	l.Commits = int(math.Round(max(0, commits)))
	return l
}

// A mark is all that was counted until a moment.
type mark struct {
	Counts
	at    time.Time
	asked asked // without the background
}

// A stretch is what was counted between two marks.
type stretch struct{ from, to mark }

// less is the stretch without so much background work a second.
func (s stretch) less(background Counts) Counts {
	return s.to.minus(s.from.Counts, 1).minus(background, s.to.at.Sub(s.from.at).Seconds())
}

// steady lets Postgres do nothing that depends on the time of day: no
// checkpoint makes it log whole pages, and no table is analysed. Then it looks
// on while the program does nothing but what it does at all times.
func (c *counted) steady(ctx context.Context) error {
	for _, sql := range []string{
		"alter system set autovacuum = off", "alter system set full_page_writes = off", "select pg_reload_conf()",
		"analyze",
	} {
		if _, err := c.direct.Exec(ctx, sql); err != nil {
			return err
		}
	}
	err := c.quiet(ctx)
	if err == nil {
		defer c.wire.learn()()
		c.background, err = c.idle(ctx, looking)
	}
	return err
}

// looking is longer than any pause between two looks of the program.
const looking = 2500 * time.Millisecond

// soFar is what was counted since the program has started.
func (c *counted) soFar(ctx context.Context) (mark, error) {
	n := mark{
		Counts: Counts{
			Statements: float64(c.wire.statements.Load()), Trips: float64(c.wire.trips.Load()),
			Processor: milliseconds(childrenTime()),
		},
		at: clock.Now(), asked: c.wire.soFar(),
	}
	err := c.direct.QueryRow(ctx, `select pg_snapshot_xmax(pg_current_snapshot())::text::float8,
		(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8`).Scan(&n.Commits, &n.WAL)
	return n, err
}

// idle is what happens in a second in which no operation is asked for. Orders
// that are not paid yet, for one, are looked at again and again.
func (c *counted) idle(ctx context.Context, long time.Duration) (Counts, error) {
	from, err := c.soFar(ctx)
	if err != nil {
		return Counts{}, err
	}
	for clock.Since(from.at) < long {
		if err := c.quiet(ctx); err != nil {
			return Counts{}, err
		}
	}
	to, err := c.soFar(ctx)
	return to.minus(from.Counts, 1).over(to.at.Sub(from.at).Seconds()), err
}

// repeat does an operation so many times, and waits for what follows from it.
func (c *counted) repeat(ctx context.Context, o operation, from, times int) (all stretch, least Least, err error) {
	before, err := c.happened(ctx, o.ends)
	if err == nil {
		all.from, err = c.soFar(ctx)
	}
	last, each, commits := all.from, asked(nil), math.Inf(1)
	for n := range times {
		if err == nil {
			err = o.do(ctx, from+n)
		}
		if o.batch && n < times-1 {
			continue
		}
		if err == nil {
			err = c.over(ctx, o, before+n+1)
		}
		if err == nil {
			all.to, err = c.soFar(ctx)
		}
		if err != nil {
			return all, least, err
		}
		of := 1
		if o.batch {
			of = times
		}
		one := all.to.asked.since(last.asked, of)
		if each != nil {
			one = each.least(one)
		}
		wrote := stretch{last, all.to}.less(c.background).Commits / float64(of)
		each, commits, last = one, min(commits, wrote), all.to
	}
	return all, each.with(commits), nil
}

// over waits for all that follows from an operation.
func (c *counted) over(ctx context.Context, o operation, events int) error {
	if o.reads {
		return nil
	}
	if err := c.until(ctx, func() (bool, error) {
		all, err := c.happened(ctx, o.ends)
		return o.ends == "" || all >= events, err
	}); err != nil {
		return fmt.Errorf("wait for %s: %w", o.ends, err)
	}
	return c.quiet(ctx)
}

// happened is how many events of a name there are.
func (c *counted) happened(ctx context.Context, event string) (n int, err error) {
	err = c.direct.QueryRow(ctx, `select count(*) from events where name = $1`, event).Scan(&n)
	return n, err
}

// resting is between operations: what follows from two at once costs less than
// twice as much.
const resting = 100 * time.Millisecond

// quiet waits until all runs have rested for so long.
func (c *counted) quiet(ctx context.Context) error {
	since, last := clock.Now(), ""
	return c.until(ctx, func() (bool, error) {
		var now string
		err := c.direct.QueryRow(ctx, `select (select count(*) from saga_run where status in ('ready',
			'running')) || ' ' || coalesce(max(position), 0) from events`).Scan(&now)
		if now != last || now[0] != '0' {
			since, last = clock.Now(), now
		}
		return clock.Since(since) > resting, err
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
