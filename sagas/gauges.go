package sagas

import (
	"context"
	"fmt"
	"time"
)

// Gauges are figures for metrics and alarms (docs/sagas.md, "Figures").
type Gauges struct {
	OldestReady    time.Duration // how long the oldest run that is due has been waiting
	Ready          int64
	Running        int64
	Waiting        int64
	Parked         int64
	LeasesExpired  int64 // runs whose worker is lost
	UnknownEffects int64
	InboxStored    int64
	InboxAge       time.Duration // of the oldest webhook that nobody has worked on
	Unmatched      int64
	InboxParked    int64
	WatchLag       time.Duration // of the check that is most overdue
	Poisoned       int64
	Held           int64 // orders that a person has to look at

	// Since this process started.
	Completed int64 // steps
	Fenced    int64 // writes of workers that had lost their lease, dropped
	Checked   int64 // orders looked at
	Rejected  int64 // webhooks that were not authentic
}

// Gauges reads the figures of the moment.
func (s *Sagas) Gauges(ctx context.Context) (g Gauges, err error) {
	var ready, inbox, lag float64
	err = s.pool.QueryRow(ctx, `
		select
			coalesce(extract(epoch from now() - min(run_at) filter (where status in ('ready', 'waiting') and run_at <= now())), 0)::float8,
			count(*) filter (where status in ('ready', 'waiting') and run_at <= now()),
			count(*) filter (where status = 'running'), count(*) filter (where status = 'waiting' and run_at > now()),
			count(*) filter (where status = 'parked'), count(*) filter (where status = 'running' and lease_until < now()),
			(select count(*) from effect where state in ('intended', 'unknown') and sent_at < now() - interval '1 minute'),
			(select count(*) from webhook_inbox where state = 'stored'),
			(select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 from webhook_inbox where state = 'stored'),
			(select count(*) from webhook_inbox where state = 'unmatched'), (select count(*) from webhook_inbox where state = 'parked'),
			(select coalesce(extract(epoch from now() - min(next_at)), 0)::float8 from payment_watch where next_at <= now()),
			(select count(*) from poisoned), (select count(*) from orders where holds <> '{}')
		from saga_run where status not in ('done', 'undone')`).
		Scan(&ready, &g.Ready, &g.Running, &g.Waiting, &g.Parked, &g.LeasesExpired, &g.UnknownEffects, &g.InboxStored, &inbox,
			&g.Unmatched, &g.InboxParked, &lag, &g.Poisoned, &g.Held)
	g.OldestReady, g.InboxAge, g.WatchLag = seconds(ready), seconds(inbox), seconds(lag)
	g.Completed, g.Fenced, g.Checked, g.Rejected = s.completed.Load(), s.fenced.Load(), s.checked.Load(), s.rejected.Load()
	return g, sqlError(err, "read the gauges")
}

// Completed is how many steps this process has put behind it.
func (s *Sagas) Completed() int64 { return s.completed.Load() }

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

// janitor throws away what nobody needs any more, a piece at a time. Of
// several processes one does it at a time; the others skip their turn.
func (s *Sagas) janitor(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, jittered(s.times.Sweep), nil)
		if ctx.Err() != nil {
			return
		}
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "old rows were not swept", "error", err)
		}
		if err := s.reportDaily(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "money and service were not compared", "error", err)
		}
		if err := s.reviewIncidents(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "incidents were not reviewed", "error", err)
		}
	}
}

// Sweeps are bounded, so that no transaction takes long.
func (s *Sagas) sweep(ctx context.Context) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return sqlError(err, "sweep")
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var mine bool
	if err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock(hashtext('hostpanel sweep'))`).Scan(&mine); err != nil || !mine {
		return sqlError(err, "sweep")
	}
	for _, sql := range []string{
		`update webhook_inbox set body = null where id in (select id from webhook_inbox
			where body is not null and state in ('done', 'ignored') and received_at < now() - $1::interval limit 1000)`,
		`delete from saga_attempt where (saga_id, token, step) in (select a.saga_id, a.token, a.step from saga_attempt a
			join saga_run r on r.id = a.saga_id and r.status in ('done', 'undone') where a.started_at < now() - $1::interval limit 1000)`,
	} {
		if _, err := tx.Exec(ctx, sql, s.times.Keep); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return sqlError(err, "sweep")
	}
	if err := s.tables.SweepDeliveries(ctx); err != nil {
		return err
	}
	return s.store.Sweep(ctx)
}
