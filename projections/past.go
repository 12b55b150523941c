package projections

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// A View says what a [Past] shows.
type View struct {
	At       time.Time
	Hidden   []string              // tables with what is no event, and so only known as it is today: they are empty in the view
	Progress func(done, all int64) // hears how many events of how many are read; may be nil
}

// A Past is the read tables of the business as they were at a moment, in a schema of
// their own. Accounts and API keys are not among them. The schema belongs to the
// connection that holds its lock: without it, the next start drops the schema.
type Past struct {
	View
	Schema   string
	Position int64 // of the last event that was recorded until the moment

	conn *pgx.Conn
	made *rebuild
	seen int64 // of the log: erasures up to here are carried out
}

const pastSchemas = "past_" // and a random number: the schema of one [Past]

// errFuture refuses a moment at which more may still happen.
var errFuture = domain.Refuse(domain.Invalid, "That moment is not over yet.")

// errOtherTables refuses to look back by other definitions than those of the tables in use.
var errOtherTables = errors.New("another release of the program made the read tables: use that one, or start the panel with this one first")

// Today marks tables that are those of the present in a view of the past too: they say
// who may look.
func (p *Projection) Today() *Projection { p.today = true; return p }

// past are the projections that a view of the past fills.
func (s Set) past() Set {
	return slices.DeleteFunc(slices.Clone(s), func(p *Projection) bool { return p.today })
}

// OpenPast fills a schema of its own with the read tables as of a moment. Nothing else of
// the database is changed. Close it in the end.
func OpenPast(ctx context.Context, owner *pgxpool.Pool, log Log, v View) (*Past, error) {
	pooled, err := owner.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("look back: %w", err)
	}
	p := &Past{View: v, conn: pooled.Hijack()}
	p.made = newRebuild(p.conn, owner, log, All.past(), Options{Progress: v.Progress})
	for _, step := range []func(context.Context) error{p.begin, p.look, p.find, p.claim, p.build, p.fill, p.made.index, p.finish} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("look back: %w", err), p.Close())
		}
	}
	return p, nil
}

// begin drops what others have left, and fails unless the tables in use have the
// definitions of this program.
func (p *Past) begin(ctx context.Context) error {
	if err := dropAbandoned(ctx, p.conn); err != nil {
		return err
	}
	made, err := madeBy(ctx, p.conn)
	for _, one := range All {
		if err == nil && made[one.name] != one.fingerprint() {
			err = errOtherTables
		}
	}
	return err
}

func (p *Past) fill(ctx context.Context) error { return p.made.catchUpTo(ctx, p.Position) }

// find looks for the last event until the moment. Times never run back in the log, so it
// is found by halving.
func (p *Past) find(ctx context.Context) error {
	low, high := int64(0), p.seen
	for low < high {
		middle := (low + high + 1) / 2
		var recorded time.Time
		if err := p.conn.QueryRow(ctx, `select recorded_at from events where position = $1`, middle).Scan(&recorded); err != nil {
			return fmt.Errorf("read the time of event %d: %w", middle, err)
		}
		if recorded.After(p.At) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	p.Position = low
	return nil
}

// look reads how long the log is, when the moment is over for all writers.
func (p *Past) look(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
		if err := eventstore.LockWriters(ctx, tx); err != nil {
			return fmt.Errorf("wait for the writers: %w", err)
		}
		var now time.Time
		err := tx.QueryRow(ctx, `select business_clock(), coalesce((select max(position) from events), 0)`).Scan(&now, &p.seen)
		if err == nil && !p.At.Before(now) {
			err = errFuture
		}
		return err
	})
}

// claim draws the name of the schema and takes its lock, before there is a schema.
func (p *Past) claim(ctx context.Context) error {
	for free := false; !free; {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails
		p.Schema = pastSchemas + hex.EncodeToString(random[:])
		if err := p.conn.QueryRow(ctx, tryLock, lockOfPast(p.Schema)).Scan(&free); err != nil {
			return err
		}
	}
	return nil
}

const tryLock = `select pg_try_advisory_lock(hashtext($1))`

func lockOfPast(schema string) string { return "hostpanel " + schema }

// build makes the empty tables. The log, its index and the register are seen as they were:
// views and tables of the same names stand before those of the schema public.
func (p *Past) build(ctx context.Context) error {
	sql := []string{
		`create schema ` + p.Schema,
		`set search_path = ` + p.Schema + `, public; set synchronous_commit = off`,
		fmt.Sprintf(`create view events with (security_invoker = true) as select * from public.events where position <= %d`, p.Position),
		fmt.Sprintf(
			`create view log_index with (security_invoker = true) as select * from public.log_index where position <= %d`,
			p.Position,
		),
		fmt.Sprintf(
			`create view readers with (security_invoker = true) as select name, least(position, %d) as position from public.readers`,
			p.Position,
		),
		`create table projections (like public.projections including all)`,
		`insert into projections select * from public.projections`,
	}
	for _, table := range p.Hidden {
		sql = append(
			sql,
			fmt.Sprintf(
				`create view %[1]s with (security_invoker = true) as select * from public.%[1]s where false`,
				pgx.Identifier{table}.Sanitize(),
			),
		)
	}
	for _, one := range p.made.set {
		sql = append(append(sql, one.rules...), one.binding(unforced)...)
	}
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, strings.Join(sql, ";\n")); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
		_, err := tx.Exec(
			ctx, `update projections set status = 'rebuilding', position = 0, building = '' where name = any($1)`,
			p.made.set.names(),
		)
		return err
	})
}

// finish lets the program read the tables, and nothing more.
func (p *Past) finish(ctx context.Context) error {
	var sql []string
	for _, one := range p.made.set {
		sql = append(sql, one.binding(forced)...)
	}
	_, err := p.conn.Exec(ctx, strings.Join(sql, "; ")+fmt.Sprintf(`;
		update projections set status = 'live', position = %[3]d, updated_at = real_now();
		grant usage on schema %[1]s to %[2]s; grant select on all tables in schema %[1]s to %[2]s`,
		p.Schema, eventstore.AppRole, p.Position))
	return err
}

// Follow carries out erasures that were recorded since, until ctx ends: an erased text is
// not shown, whenever it is looked at. It fails when the schema may be dropped, because
// its lock is lost.
func (p *Past) Follow(ctx context.Context, every time.Duration) error {
	for {
		if err := p.erase(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("follow the erasures: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// erase carries out the erasures behind the last look.
func (p *Past) erase(ctx context.Context) error {
	w := &window{}
	err := p.made.log.Replay(ctx, p.seen, func(event eventstore.RecordedEvent) error {
		p.seen = event.Position
		switch event.Event.(type) {
		case account.SubjectErased, billing.FiscalKeysDestroyed:
			w.events = append(w.events, event)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error { return p.made.apply(ctx, tx, w) })
}

// Close drops the schema and lets go of it.
func (p *Past) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	drop := `drop schema if exists ` + p.Schema + ` cascade`
	var err error
	switch {
	case p.Schema == "":
	case p.conn.IsClosed(): // a query was cut off: the lock is free once Postgres has noticed
		_, err = p.made.owner.Exec(ctx, fmt.Sprintf(`select pg_advisory_xact_lock(hashtext('%s')); %s`, lockOfPast(p.Schema), drop))
	default:
		_, err = p.conn.Exec(ctx, drop)
	}
	return errors.Join(err, p.conn.Close(ctx))
}

// dropAbandoned drops the schemas of processes that were killed.
func dropAbandoned(ctx context.Context, conn *pgx.Conn) error {
	rows, _ := conn.Query(ctx, `select nspname from pg_namespace where nspname ~ '^`+pastSchemas+`[0-9a-f]{16}$'`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for what others have left: %w", err)
	}
	for _, schema := range all {
		if err := dropIfAbandoned(ctx, conn, schema); err != nil {
			return fmt.Errorf("drop what another process has left: %w", err)
		}
	}
	return nil
}

func dropIfAbandoned(ctx context.Context, conn *pgx.Conn, schema string) error {
	var free bool
	if err := conn.QueryRow(ctx, tryLock, lockOfPast(schema)).Scan(&free); err != nil || !free {
		return err
	}
	_, err := conn.Exec(ctx, `drop schema if exists `+schema+` cascade; select pg_advisory_unlock(hashtext('`+lockOfPast(schema)+`'))`)
	return err
}
