package sagas

import (
	"context"
	"sync/atomic"
	"time"
)

// RunGauges are figures of runs for metrics and alarms (docs/runs.md,
// "Figures").
type RunGauges struct {
	OldestReady    time.Duration // how long the oldest run that is due has been waiting
	Ready          int64
	Running        int64
	Waiting        int64
	Parked         int64
	LeasesExpired  int64 // runs whose worker is lost
	UnknownEffects int64
	Poisoned       int64 // events that a reaction could not handle

	// Since this process started.
	Completed int64 // steps
	Fenced    int64 // writes of workers that had lost their lease, dropped
}

// LiveRuns are the runs that have not ended, as a query reads them: by the indexes of
// their states, however many have ended.
const LiveRuns = `(select * from saga_run where status in ('ready', 'waiting')
	union all select * from saga_run where status = 'running'
	union all select * from saga_run where status in ('parked', 'paused')) live`

// RunGauges reads the figures of the moment.
func (s *Operators) RunGauges(ctx context.Context) (g RunGauges, err error) {
	var ready float64
	err = s.pool.QueryRow(ctx, `
		select
			coalesce(extract(epoch from business_now() - min(run_at) filter (where status in ('ready', 'waiting')
				and run_at <= business_now())), 0)::float8,
			count(*) filter (where status in ('ready', 'waiting') and run_at <= business_now()),
			count(*) filter (where status = 'running'), count(*) filter (where status = 'waiting' and run_at > business_now()),
			count(*) filter (where status = 'parked'), count(*) filter (where status = 'running' and lease_until < real_now()),
			(select count(*) from effect where state in ('intended', 'unknown') and sent_at < real_now() - interval '1 minute'),
			(select count(*) from poisoned)
		from `+LiveRuns).
		Scan(&ready, &g.Ready, &g.Running, &g.Waiting, &g.Parked, &g.LeasesExpired, &g.UnknownEffects, &g.Poisoned)
	g.OldestReady = Seconds(ready)
	g.Completed, g.Fenced = s.counts.completed.Load(), s.counts.fenced.Load()
	return g, SQLError(err, "read the gauges of runs")
}

// counts are of this process since it started.
type counts struct {
	completed atomic.Int64 // steps
	fenced    atomic.Int64 // writes that were dropped, because their lease was lost
}

// Completed is how many steps this process has completed.
func (s *Runner) Completed() int64 { return s.counts.completed.Load() }

// Fenced is how many writes of this process were dropped, because its lease was
// lost.
func (s *Runner) Fenced() int64 { return s.counts.fenced.Load() }

// CountFenced counts a write that was dropped because its lease was lost.
func (s *Runner) CountFenced() { s.counts.fenced.Add(1) }

// Seconds is a number of seconds as Postgres extracts it.
func Seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
