package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain/field"
	"hostpanel/eventstore"
)

// A Log can be read from a position on, to its end.
type Log interface {
	Replay(ctx context.Context, after int64, each func(eventstore.RecordedEvent) error) error
	Head(ctx context.Context) (position int64, at time.Time, err error)
	// Of decodes the events of some names alone.
	Of(wanted func(name string) bool) *eventstore.Reader
}

// register is the list of the read tables that exist, and of what made them.
const register = `
	create table if not exists projections (
		name       text        primary key,
		hash       text        not null,
		tables     text[]      not null default '{}',
		position   bigint      not null default 0,
		status     text        not null,
		updated_at timestamptz not null default real_now()
	);
	alter table projections add column if not exists building text not null default ''; -- fingerprint of what grows in its schema
	-- the position at which the tables in use took their place
	alter table projections add column if not exists swapped bigint not null default 0;
	grant select on projections to ` + eventstore.AppRole

// registered tells whether the register is complete.
const registered = `
	select coalesce(has_table_privilege('` + eventstore.AppRole + `', to_regclass('projections'), 'select'), false)
		and exists (select from pg_attribute where attrelid = to_regclass('projections') and attname = 'swapped')`

// prepareRegister changes nothing where the register is complete: a change of its definition
// waits for all who read it, and makes each process of Postgres plan their statements anew.
func prepareRegister(ctx context.Context, conn *pgx.Conn) error {
	var complete bool
	if err := conn.QueryRow(ctx, registered).Scan(&complete); err != nil || complete {
		return err
	}
	_, err := conn.Exec(ctx, register)
	return err
}

// Prepare makes the tables that are missing and builds anew those whose
// definition has changed, all in one pass over the log. It runs as the owner
// of the database, before the program serves anything; processes that start
// together take turns. See docs/read-tables.md.
func Prepare(ctx context.Context, owner *pgxpool.Pool, log Log) error {
	return All.prepare(ctx, owner, log)
}

func (s Set) prepare(ctx context.Context, owner *pgxpool.Pool, log Log) error {
	return alone(ctx, owner, func(conn *pgx.Conn) error {
		if err := lock(ctx, conn, "hostpanel projections"); err != nil {
			return err
		}
		if err := prepareRegister(ctx, conn); err != nil {
			return fmt.Errorf("prepare the register of read tables: %w", err)
		}
		if err := dropAbandoned(ctx, conn); err != nil {
			return err
		}
		changed, err := s.changed(ctx, conn)
		if err != nil || len(changed) == 0 {
			return err
		}
		for _, p := range changed { // rebuilds of them end first
			if err := lock(ctx, conn, lockOf(p)); err != nil {
				return err
			}
		}
		if changed, err = s.changed(ctx, conn); err != nil || len(changed) == 0 {
			return err
		}
		_, err = newRebuild(conn, owner, log, changed, Options{}).run(ctx)
		return err
	})
}

// Rebuild builds read tables anew, in one pass over the log, while the old ones go on
// serving. One that is being rebuilt already is refused.
func Rebuild(ctx context.Context, owner *pgxpool.Pool, log Log, names []string, o Options) (Result, error) {
	var set Set
	for _, name := range names {
		p, err := All.named(name)
		if err != nil {
			return Result{}, err
		}
		set = append(set, p...)
	}
	return set.rebuildWith(ctx, owner, log, o)
}

func (s Set) rebuildWith(ctx context.Context, owner *pgxpool.Pool, log Log, o Options) (result Result, err error) {
	err = alone(ctx, owner, func(conn *pgx.Conn) error {
		for _, p := range s {
			var free bool
			if err := conn.QueryRow(ctx, `select pg_try_advisory_lock(hashtext($1))`, lockOf(p)).Scan(&free); err != nil {
				return fmt.Errorf("look whether %s is being rebuilt: %w", p.name, err)
			}
			if !free {
				return errRunning(p.name)
			}
		}
		result, err = newRebuild(conn, owner, log, s, o).run(ctx)
		return err
	})
	return result, err
}

func lockOf(p *Projection) string { return "hostpanel projection " + p.name }

func lock(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext($1))`, name); err != nil {
		return fmt.Errorf("wait for another process that prepares the read tables: %w", err)
	}
	return nil
}

// changed are the projections whose tables are missing or out of date.
func (s Set) changed(ctx context.Context, conn *pgx.Conn) (Set, error) {
	made, err := madeBy(ctx, conn)
	if err != nil {
		return nil, err
	}
	var changed, current Set
	for _, p := range s {
		if made[p.name] == p.fingerprint() {
			current = append(current, p)
		} else {
			changed = append(changed, p)
		}
	}
	// A rebuild that came to nothing has left these as they were, and live.
	_, err = conn.Exec(ctx, `update projections set status = 'live' where name = any($1) and status <> 'live'`, current.names())
	return changed, err
}

// madeBy are the fingerprints of the definitions that have made the tables in use.
func madeBy(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	rows, _ := conn.Query(ctx, `select name, hash from projections`)
	made, name, hash := map[string]string{}, "", ""
	if _, err := pgx.ForEachRow(rows, []any{&name, &hash}, func() error { made[name] = hash; return nil }); err != nil {
		return nil, fmt.Errorf("read the register of read tables: %w", err)
	}
	return made, nil
}

// alone works on a connection of its own. Its locks end with it, whatever happens.
func alone(ctx context.Context, owner *pgxpool.Pool, work func(*pgx.Conn) error) error {
	pooled, err := owner.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("prepare the read tables: %w", err)
	}
	conn := pooled.Hijack() // its settings are changed, so it does not go back
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if conn.IsClosed() { // ctx ended within a statement: Postgres may not have noticed yet
			_, _ = owner.Exec(after, `
				select pg_terminate_backend(pid, 5000) from (select distinct pid from pg_locks
					where locktype = 'advisory' and pid = $1) still`, conn.PgConn().PID())
			return
		}
		_, _ = conn.Exec(after, `select pg_advisory_unlock_all()`) // not some time after the connection has ended
		_ = conn.Close(after)
	}()
	return work(conn)
}

// All are the read tables of the program, a file each.
var All = Set{
	plans, widgets, apiKeys, users, orders, names, resources, operations, places, subscriptions, methodSetups, credit,
	notifications, incidents, webhooks,
}

// A State tells operators how a read table stands. A live one changes with the
// log, so its position is always that of the head.
type State struct {
	Name       string
	Status     string // live, rebuilding, failed
	Position   int64  // of the last event that it knows
	Head       int64  // of the log
	LagSeconds int64  // between the times of both
	Swapped    int64  // position at which the tables in use took their place
	UpdatedAt  time.Time
}

// Fields are the read table as programs watch it.
func (s *State) Fields() field.Set {
	behind := s.Head - s.Position
	return field.Set{
		field.Text("name", &s.Name).ReadOnly(),
		field.Text("status", &s.Status).Among(TableStates...).ReadOnly().Worded("table_is_"),
		field.Int("position", &s.Position).ReadOnly().Doc("Of the last event that it knows."),
		field.Int("head", &s.Head).ReadOnly().Doc("Position of the last event of the log."),
		field.Int("lag_events", &behind).ReadOnly().Headed("behind"),
		field.Int("lag_seconds", &s.LagSeconds).ReadOnly().Doc("Between the last event that it knows and the last one of the log."),
		field.Time("updated_at", &s.UpdatedAt).ReadOnly().Headed("updated"),
	}
}

// TableStates are those of a read table.
var TableStates = []string{"live", "rebuilding", "failed"}

// States lists the read tables to operators.
func (s OperationsReader) States(ctx context.Context) ([]State, error) {
	return list[State](ctx, s.db, `
		select name, status, case when status = 'live' then head else position end as position, head,
			case when status = 'live' or at is null then 0
				else extract(epoch from at - (select recorded_at from events
					where events.position = greatest(projections.position, 1)))::bigint end as lag_seconds, swapped,
			case when status = 'live' then greatest(at, updated_at) else updated_at end as updated_at
		from projections, (select coalesce(max(position), 0) as head, max(recorded_at) as at
			from (select position, recorded_at from events
				order by position desc limit 1) last) log`, s.caller.operators(), " order by name")
}
