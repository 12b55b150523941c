package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

const (
	shadows    = "rebuild_" // and the name: the schema in which new tables grow
	fewEnough  = 2000       // events that may be left for the time under the writers' lock
	mostPasses = 20         // after which they are taken under the lock however many they are
)

// Options say how tables are rebuilt.
type Options struct {
	Check    bool                  // compare the tables row by row before the swap
	KeepOld  bool                  // leave out the swap: the check is all
	PerSec   int                   // the most events per second; 0: as fast as it goes
	Progress func(done, all int64) // hears how many events of how many are done; may be nil

	// Compared hears what the check has found, before the swap. Its error ends the rebuild;
	// nil: it is told to no function.
	Compared func(context.Context, Result) error
}

// A Result is what came of a rebuild.
type Result struct {
	Names       []string
	From        int64 // the position after which it began; not 0: it went on where one had ended
	Position    int64 // of the last event that the new tables know
	Took        time.Duration
	Differences []Difference // that the check has found, the first ones
	Different   int64        // rows, all in all
}

// A member is one projection of a rebuild.
type member struct {
	*Projection
	position int64 // of the last event that its new tables know
	made     int64 // the position that an earlier rebuild has reached
}

func (p *member) schema() string { return shadows + p.name }

// A rebuild makes the tables of some projections anew from the log, beside the
// ones in use, and puts them in their place when they have caught up.
type rebuild struct {
	Options
	conn     *pgx.Conn
	owner    *pgxpool.Pool
	log      *eventstore.Reader
	set      Set
	parts    []*member
	result   Result
	position int64 // of the last event that was read
	head     int64 // of the log, as last seen
	began    time.Time
	done     int64 // events of this run
	analyzed int64 // of them, when the tables were last analyzed
}

func newRebuild(conn *pgx.Conn, owner *pgxpool.Pool, log Log, set Set, o Options) *rebuild {
	if o.Progress == nil {
		o.Progress = func(done, all int64) {}
	}
	r := &rebuild{
		Options: o, conn: conn, owner: owner, log: log.Of(set.handles), set: set,
		result: Result{Names: set.names(), Differences: []Difference{}}, began: clock.Now(),
	}
	for _, p := range set {
		r.parts = append(r.parts, &member{Projection: p})
	}
	return r
}

// handles tells whether an event of this name changes a table of the set.
func (s Set) handles(name string) bool {
	return slices.ContainsFunc(s, func(p *Projection) bool { return p.handlers[name] != nil })
}

// run rebuilds. What an interrupted run has made stays, and the next one goes on with it.
func (r *rebuild) run(ctx context.Context) (Result, error) {
	err := r.steps(ctx)
	r.result.Took = clock.Since(r.began)
	r.result.Position = r.position
	if err == nil {
		return r.result, nil
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = fmt.Errorf("rebuild %s: %w", strings.Join(r.set.names(), ", "), err)
	if ctx.Err() != nil || r.conn.IsClosed() {
		return r.result, err
	}
	_, failed := r.conn.Exec(after, `update projections set status = 'failed', updated_at = real_now() where name = any($1)`, r.set.names())
	return r.result, errors.Join(err, failed, r.drop(after))
}

// drop deletes the new tables.
func (r *rebuild) drop(ctx context.Context) error {
	for _, p := range r.parts {
		if _, err := r.conn.Exec(ctx, `drop schema if exists `+p.schema()+` cascade`); err != nil {
			return err
		}
	}
	_, err := r.conn.Exec(ctx, `update projections set building = '' where name = any($1)`, r.set.names())
	return err
}

func (r *rebuild) steps(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	if err := r.index(ctx); err != nil {
		return err
	}
	for range mostPasses {
		before := r.position
		if err := r.catchUp(ctx); err != nil {
			return err
		}
		if r.position-before <= fewEnough {
			break
		}
	}
	if r.Check || r.KeepOld {
		if err := r.compare(ctx); err != nil {
			return fmt.Errorf("compare the tables: %w", err)
		}
		if err := r.tellCompared(ctx); err != nil {
			return err
		}
	}
	if r.KeepOld {
		_, err := r.conn.Exec(ctx, `update projections set status = 'live', updated_at = real_now() where name = any($1)`, r.set.names())
		return errors.Join(err, r.drop(ctx))
	}
	return r.swapPatiently(ctx)
}

// start makes the empty tables, or finds those that an interrupted rebuild of the same
// definition has left behind.
func (r *rebuild) start(ctx context.Context) error {
	var path, sql []string
	for _, p := range r.parts {
		if err := r.resume(ctx, p); err != nil {
			return err
		}
		path, sql = append(path, p.schema()), append(sql, p.binding(unforced)...)
	}
	r.position = slices.MinFunc(r.parts, func(a, b *member) int { return int(a.position - b.position) }).position
	r.result.From = r.position
	_, err := r.conn.Exec(
		ctx, `set search_path = `+strings.Join(path, ", ")+`, public; set synchronous_commit = off; `+strings.Join(sql, "; "),
	)
	return err
}

func (r *rebuild) resume(ctx context.Context, p *member) error {
	var resumes bool
	err := r.conn.QueryRow(ctx, `select position, building = $2 and to_regnamespace($3) is not null from projections where name = $1`,
		p.name, p.fingerprint(), p.schema()).Scan(&p.position, &resumes)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("look for what an earlier rebuild of %s has left: %w", p.name, err)
	}
	if p.made = p.position; resumes {
		_, err := r.conn.Exec(ctx, `update projections set status = 'rebuilding', updated_at = real_now() where name = $1`, p.name)
		return err
	}
	p.position, p.made = 0, 0
	return pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		sql := fmt.Sprintf("drop schema if exists %[1]s cascade; create schema %[1]s; set local search_path = %[1]s, public;", p.schema())
		if _, err := tx.Exec(ctx, sql+strings.Join(p.rules, ";")); err != nil {
			return fmt.Errorf("make the tables of %s: %w", p.name, err)
		}
		_, err := tx.Exec(ctx, `
			insert into public.projections (name, hash, status, building) values ($1, '', 'rebuilding', $2)
			on conflict (name) do update set status = 'rebuilding', building = $2, position = 0,
				updated_at = real_now()`, p.name, p.fingerprint())
		return err
	})
}

// index adds the indexes that no change needs: it is cheaper to sort once than to
// keep them in order on the way. Readers plan with the statistics that it takes.
func (r *rebuild) index(ctx context.Context) error {
	for _, p := range r.parts {
		for _, sql := range p.indexes {
			sql = strings.Replace(sql, "create index ", "create index if not exists ", 1)
			if _, err := r.conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("index %s: %w", p.name, err)
			}
		}
	}
	return r.analyze(ctx)
}

// catchUp carries the log, to its present end, into the new tables.
func (r *rebuild) catchUp(ctx context.Context) error {
	head, _, err := r.log.Head(ctx)
	if err != nil {
		return err
	}
	return r.catchUpTo(ctx, head)
}

// catchUpTo carries the log up to a position into the new tables. While one window is on its
// way the next one is read and its changes are sorted.
func (r *rebuild) catchUpTo(ctx context.Context, head int64) error {
	r.head = head
	windows := make(chan *window, 1)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(windows)
		return r.read(ctx, head, func(w *window) error {
			r.sort(w)
			select {
			case windows <- w:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	work.Go(func() error {
		for w := range windows {
			if err := r.analyzeGrown(ctx); err != nil {
				return err
			}
			if err := pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error { return r.take(ctx, tx, w) }); err != nil {
				return err
			}
			if err := r.throttle(ctx, len(w.events)); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}

// analyzeGrown takes the statistics of the new tables each time that four times as many events
// are done. Without them Postgres takes a table for small that is large by now, and reads
// all of it for each window.
func (r *rebuild) analyzeGrown(ctx context.Context) error {
	if r.done == 0 || r.done < 4*r.analyzed {
		return nil
	}
	r.analyzed = r.done
	return r.analyze(ctx)
}

// analyze leaves out small tables: by statistics Postgres would read all of them, and keep
// such a plan while they grow. Without statistics it expects that they grow.
func (r *rebuild) analyze(ctx context.Context) error {
	var large *string
	err := r.conn.QueryRow(ctx, `select string_agg(name, ', ') from unnest($1::text[]) name
		where pg_relation_size(name::regclass) >= 1 << 20`,
		r.set.tables()).Scan(&large)
	if err == nil && large != nil {
		_, err = r.conn.Exec(ctx, `analyze `+*large)
	}
	if err != nil {
		return fmt.Errorf("analyze the new tables: %w", err)
	}
	return nil
}

// take applies a window and notes how far the rebuild has come.
func (r *rebuild) take(ctx context.Context, tx pgx.Tx, w *window) error {
	if err := r.apply(ctx, tx, w); err != nil {
		return err
	}
	for _, p := range r.parts {
		p.position = max(p.position, w.position)
	}
	r.Progress(w.position, r.head)
	_, err := tx.Exec(
		ctx, `update projections set position = greatest(position, $2), updated_at = real_now() where name = any($1)`,
		r.set.names(), w.position,
	)
	return err
}

// throttle waits until the events that are done may have taken so long.
func (r *rebuild) throttle(ctx context.Context, events int) error {
	r.done += int64(events)
	if r.PerSec <= 0 {
		return nil
	}
	early := time.Duration(r.done)*time.Second/time.Duration(r.PerSec) - clock.Since(r.began)
	if early <= 0 {
		return nil
	}
	timer := time.NewTimer(early)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errFarEnough = errors.New("far enough")

// read parts the rest of the log, up to a position, into windows. Without that
// bound busy writers could keep it going for ever.
func (r *rebuild) read(ctx context.Context, until int64, pass func(*window) error) error {
	w := &window{}
	err := r.log.Replay(ctx, r.position, func(event eventstore.RecordedEvent) error {
		if event.Position > until {
			return errFarEnough
		}
		r.position = event.Position
		w.position, w.events = event.Position, append(w.events, event)
		if len(w.events) < r.windowSize() {
			return nil
		}
		full := w
		w = &window{}
		return pass(full)
	})
	if err != nil && !errors.Is(err, errFarEnough) {
		return err
	}
	w.position = r.position
	return pass(w)
}

// windowSize is less where the rate is limited, so that pauses are short.
func (r *rebuild) windowSize() int {
	if r.PerSec > 0 {
		return max(1, min(windowSize, r.PerSec/4))
	}
	return windowSize
}

// errRunning refuses a rebuild of what is being rebuilt.
func errRunning(name string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "in_progress", Message: name + " is being rebuilt already."}
}
