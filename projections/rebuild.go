package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hostpanel/eventstore"
)

const (
	shadow     = "rebuild" // the schema in which new tables grow
	batchSize  = 1000      // statements that travel together
	fewEnough  = 2000      // events that may be left for the time under the writers' lock
	mostPasses = 20        // after which they are taken under the lock however many they are
)

// A rebuild makes the tables of some projections anew from the log, beside the
// ones in use, and puts them in their place when they have caught up.
type rebuild struct {
	conn     *pgx.Conn
	log      Log
	set      Set
	progress func(done, all int64)
	position int64 // of the last event that the new tables know
	head     int64 // of the log, as last seen
}

func newRebuild(conn *pgx.Conn, log Log, set Set, progress func(done, all int64)) *rebuild {
	if progress == nil {
		progress = func(done, all int64) {}
	}
	return &rebuild{conn: conn, log: log, set: set, progress: progress}
}

func (r *rebuild) run(ctx context.Context) error {
	err := r.steps(ctx)
	if err == nil {
		return nil
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, failed := r.conn.Exec(after, `update projections set status = 'failed', updated_at = real_now() where name = any($1)`, r.set.names())
	_, dropped := r.conn.Exec(after, `drop schema if exists `+shadow+` cascade`)
	return errors.Join(fmt.Errorf("rebuild %s: %w", strings.Join(r.set.names(), ", "), err), failed, dropped)
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
	return r.swapPatiently(ctx)
}

// start makes the empty tables. A shadow that an interrupted rebuild has left
// behind goes away first.
func (r *rebuild) start(ctx context.Context) error {
	return pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		var sql strings.Builder
		fmt.Fprintf(&sql, "drop schema if exists %[1]s cascade; create schema %[1]s; set search_path = %[1]s, public; set synchronous_commit = off;", shadow)
		for _, p := range r.set {
			sql.WriteString(strings.Join(p.rules, ";") + ";")
		}
		if _, err := tx.Exec(ctx, sql.String()); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
		_, err := tx.Exec(ctx, `
			insert into projections (name, hash, status) select unnest($1::text[]), '', 'rebuilding'
			on conflict (name) do update set status = 'rebuilding', position = 0, updated_at = real_now()`, r.set.names())
		return err
	})
}

// index adds the indexes that are no rules: it is cheaper to sort once than to
// keep them in order on the way.
func (r *rebuild) index(ctx context.Context) error {
	for _, p := range r.set {
		for _, sql := range p.indexes {
			if _, err := r.conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("index %s: %w", p.name, err)
			}
		}
	}
	return nil
}

// catchUp carries the log, to its present end, into the new tables. While one
// batch is on its way the next one is read.
func (r *rebuild) catchUp(ctx context.Context) error {
	var err error
	if r.head, _, err = r.log.Head(ctx); err != nil {
		return err
	}
	batches := make(chan *batch, 2)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(batches)
		return r.read(ctx, r.head, func(b *batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	work.Go(func() error {
		for b := range batches {
			if err := pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error { return r.take(ctx, tx, b) }); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}

// take applies a batch and notes how far the rebuild has come.
func (r *rebuild) take(ctx context.Context, tx pgx.Tx, b *batch) error {
	if err := b.send(ctx, tx); err != nil {
		return err
	}
	r.progress(b.position, r.head)
	_, err := tx.Exec(ctx, `update projections set position = $2, updated_at = real_now() where name = any($1)`, r.set.names(), b.position)
	return err
}

var errFarEnough = errors.New("far enough")

// read packs the rest of the log, up to a position, into batches. Without that
// bound busy writers could keep it going for ever.
func (r *rebuild) read(ctx context.Context, until int64, pass func(*batch) error) error {
	b := &batch{}
	err := r.log.Replay(ctx, r.position, func(fact eventstore.RecordedEvent) error {
		if fact.Position > until {
			return errFarEnough
		}
		r.position = fact.Position
		if b.add(r.set, fact); b.Len() < batchSize {
			return nil
		}
		full := b
		b = &batch{}
		return pass(full)
	})
	if err != nil && !errors.Is(err, errFarEnough) {
		return err
	}
	b.position = r.position
	return pass(b)
}

// A batch are statements that travel together.
type batch struct {
	pgx.Batch
	position int64 // of the last event in it
	facts    []string
}

func (b *batch) add(set Set, fact eventstore.RecordedEvent) {
	b.position = fact.Position
	for _, p := range set {
		for _, c := range p.Changes(fact) {
			w := writer{tables: p.tables, at: fact.RecordedAt}
			sql := w.one(c)
			b.Queue(sql, w.args...)
			b.facts = append(b.facts, fact.Name)
		}
	}
}

func (b *batch) send(ctx context.Context, tx pgx.Tx) error {
	if b.Len() == 0 {
		return nil
	}
	results := tx.SendBatch(ctx, &b.Batch)
	for i := range b.Len() {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return fmt.Errorf("apply %s, up to position %d: %w", b.facts[i], b.position, err)
		}
	}
	return results.Close()
}
