package audit

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/projections"
	"hostpanel/sagas"
)

const (
	lookWait  = 500 * time.Millisecond // that a read waits for its record, at most
	mostLooks = 10_000                 // that wait for a database which takes them
)

// A look is to be recorded: once for each stream, actor and hour.
type look struct {
	stream, actor string
	hour          time.Time
}

// looks are those that this process has recorded, and those that it still has to.
type looks struct {
	mu      sync.Mutex
	hour    time.Time // that recorded is about
	done    map[look]bool
	waiting map[look]time.Time // with the moment of the look
}

// add notes looks, and takes all that are to be recorded now.
func (l *looks) add(at time.Time, actor string, streams ...string) map[look]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	hour := at.Truncate(time.Hour)
	if l.done == nil || hour.After(l.hour) {
		l.hour, l.done = hour, map[look]bool{}
	}
	due := l.waiting
	l.waiting = nil
	for _, stream := range streams {
		if one := (look{stream, actor, hour}); !l.done[one] {
			if due == nil {
				due = map[look]time.Time{}
			}
			due[one] = at
		}
	}
	return due
}

// recorded ends looks that are in the table.
func (l *looks) recorded(due map[look]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range due {
		if one.hour.Equal(l.hour) && len(l.done) < mostLooks {
			l.done[one] = true
		}
	}
}

// again keeps looks for the next round. It tells how many there is no place for.
func (l *looks) again(due map[look]time.Time) (lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[look]time.Time{}
	}
	for one, at := range due {
		if len(l.waiting) >= mostLooks {
			lost++
			continue
		}
		l.waiting[one] = at
	}
	return lost
}

// Looked records that a caller has looked at streams, before the caller is shown them:
// one statement, once an hour. A database that does not take it does not keep the answer
// back. The look is logged then, and recorded with the next one.
func (s *Service) Looked(ctx context.Context, who projections.Caller, streams ...string) {
	slices.Sort(streams)
	if err := s.record(ctx, s.looks.add(s.runner.Now(), actorOf(who), slices.Compact(streams)...)); err != nil {
		s.runner.Log().WarnContext(ctx, "a look at the log was not recorded yet", "actor", actorOf(who), "streams", streams, "error", err)
	}
}

// RecordIn says where looks are recorded: in a view of the past, nothing else is written.
func (s *Service) RecordIn(present *pgxpool.Pool) { s.lookers = present }

// RecordLooks records the looks for which that has failed before.
func (s *Service) RecordLooks(ctx context.Context) error {
	return s.record(ctx, s.looks.add(s.runner.Now(), ""))
}

func (s *Service) record(ctx context.Context, due map[look]time.Time) error {
	if len(due) == 0 {
		return nil
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWait)
	defer cancel()
	err := s.insert(call, due)
	if err == nil {
		s.looks.recorded(due)
		return nil
	}
	if lost := s.looks.again(due); lost > 0 {
		s.runner.Log().ErrorContext(ctx, "looks at the log are lost: too many wait to be recorded", "looks", lost)
	}
	return err
}

// insert adds looks in the order of the index, so that two processes do not deadlock.
func (s *Service) insert(ctx context.Context, due map[look]time.Time) error {
	var streams, actors []string
	var hours, moments []time.Time
	for _, one := range sorted(due) {
		streams, actors = append(streams, one.stream), append(actors, one.actor)
		hours, moments = append(hours, one.hour), append(moments, due[one])
	}
	_, err := s.lookers.Exec(ctx, `
		insert into log_looks (stream, actor, hour, created_at, tenant)
		select stream, actor, hour, at, (select e.tenant from events e where e.stream = l.stream and e.version = 1)
		from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[]) l (stream, actor, hour, at)
		on conflict do nothing`, streams, actors, hours, moments)
	return sagas.SQLError(err, "record who has looked")
}

func sorted(due map[look]time.Time) []look {
	all := make([]look, 0, len(due))
	for one := range due {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b look) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.actor, b.actor), a.hour.Compare(b.hour))
	})
	return all
}

// actorOf names a caller as events name actors. The program itself looks only for the
// commands of the console.
func actorOf(who projections.Caller) string {
	switch {
	case who.System:
		return "system:console"
	case who.Superuser:
		return "operator:" + strconv.FormatInt(who.User, 10)
	}
	return "user:" + strconv.FormatInt(who.User, 10)
}

// namesOf are the streams of events.
func namesOf(events ...audit.Event) (streams []string) {
	for _, e := range events {
		if e.Stream != "" { // it is shown
			streams = append(streams, e.Stream)
		}
	}
	return streams
}

// Looks lists who has looked at streams, the latest first.
func (s *Service) Looks(ctx context.Context, who projections.Caller, l projections.Listing) (projections.Listed[audit.Look], error) {
	found, err := s.tables.For(who).Audit().Looks(ctx, l)
	if err != nil {
		return projections.Listed[audit.Look]{}, err
	}
	ids := map[int64]bool{}
	for _, row := range found.Rows {
		ids[userOf(row.Actor)] = true
	}
	delete(ids, 0)
	names, err := s.tables.For(who).Accounts().UserNames(ctx, ids)
	all := projections.Listed[audit.Look]{Count: found.Count, Rows: make([]audit.Look, len(found.Rows))}
	for i, row := range found.Rows {
		actor := audit.ActorNamed(row.Actor)
		actor.Label = names[userOf(row.Actor)]
		all.Rows[i] = audit.Look{ID: row.ID, Stream: row.Stream, Tenant: row.Tenant, Actor: actor, LookedAt: row.CreatedAt}
	}
	return all, err
}

// LatestLooks are the last ones at a stream, the latest first.
func (s *Service) LatestLooks(ctx context.Context, who projections.Caller, stream domain.Stream, most int) ([]audit.Look, error) {
	found, err := s.Looks(
		ctx, who,
		projections.Listing{Limit: int64(most), Filters: []projections.Filter{{Field: "stream", Op: "=", Value: stream.String()}}},
	)
	return found.Rows, err
}

// SweepLooks deletes looks that are kept for long enough.
func (s *Service) SweepLooks(ctx context.Context) error {
	return s.runner.Sweep(ctx, "looks", `
		delete from log_looks where id in (select id from log_looks where created_at < business_now() - $1::interval
			order by created_at limit 1000)`, s.times.KeepLooks)
}
