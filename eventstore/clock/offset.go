package clock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	// ErrAhead means that the business clock of the database is ahead of the
	// real clock, which only the demo allows.
	ErrAhead = errors.New(
		`the business clock of this database is ahead of the real clock: it belongs to a demo, start it with "serve --demo"`,
	)
	// ErrBackwards means that the clock would be set back.
	ErrBackwards = errors.New("the business clock moves forwards only")
	// ErrFixed means that the database has the clock of production, which has
	// no offset.
	ErrFixed = errors.New("the business clock of this database cannot be advanced")
)

// Channel carries the hint that the clock has been advanced.
const Channel = "hostpanel_clock"

// install replaces the functions of the business clock by the form that has an
// offset.
const install = `
create table if not exists business_clock_ahead (
	id    boolean  primary key default true check (id),
	ahead interval not null default '0' check (ahead >= '0')
);
insert into business_clock_ahead default values on conflict do nothing;
grant select, update on business_clock_ahead to hostpanel_app;
create or replace function business_now() returns timestamptz language sql stable parallel safe as
	$$ select now() + (select ahead from public.business_clock_ahead) $$;
create or replace function business_clock() returns timestamptz language sql volatile parallel safe as
	$$ select clock_timestamp() + (select ahead from public.business_clock_ahead) $$`

// restore is the form of production again.
const restore = `
create or replace function business_now() returns timestamptz language sql stable parallel safe as $$ select now() $$;
create or replace function business_clock() returns timestamptz language sql volatile parallel safe as $$ select clock_timestamp() $$;
drop table business_clock_ahead`

// Install gives the database a business clock with an offset, for the demo and
// for tests. The pool is the owner's. An offset that is there already stays.
func Install(ctx context.Context, owner *pgxpool.Pool) error {
	return change(ctx, owner, func(tx pgx.Tx) error { return InstallIn(ctx, tx) })
}

// InstallIn is [Install] in a transaction of the owner.
func InstallIn(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, install)
	return err
}

// Restore gives the database the clock of production again, with [ErrAhead] if
// the offset is not 0. The pool is the owner's.
func Restore(ctx context.Context, owner *pgxpool.Pool) error {
	return change(ctx, owner, func(tx pgx.Tx) error {
		ahead, installed, err := offset(ctx, tx)
		if err == nil && installed { // no process advances it from here on
			if _, err = tx.Exec(ctx, `lock table business_clock_ahead in access exclusive mode`); err == nil {
				ahead, _, err = offset(ctx, tx)
			}
		}
		switch {
		case err != nil || !installed:
			return err
		case ahead != 0:
			return ErrAhead
		}
		_, err = tx.Exec(ctx, restore)
		return err
	})
}

// change changes the form of the clock, in one process at a time.
func change(ctx context.Context, owner *pgxpool.Pool, do func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('hostpanel migrations'))`); err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil && !errors.Is(err, ErrAhead) {
		return fmt.Errorf("change the form of the business clock: %w", err)
	}
	return err
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// offset reads the offset, and whether the clock has one at all.
func offset(ctx context.Context, db querier) (ahead time.Duration, installed bool, err error) {
	if err = db.QueryRow(ctx, `select to_regclass('public.business_clock_ahead') is not null`).Scan(&installed); err == nil && installed {
		err = db.QueryRow(ctx, `select ahead from business_clock_ahead`).Scan(&ahead)
	}
	if err != nil {
		return 0, installed, fmt.Errorf("read the offset of the business clock: %w", err)
	}
	return ahead, installed, nil
}

// Advance moves the clock forwards in every process. It needs [Install].
func (b *Business) Advance(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return ErrBackwards
	}
	switch _, installed, err := offset(ctx, b.pool); {
	case err != nil:
		return err
	case !installed:
		return ErrFixed
	}
	var ahead time.Duration
	err := b.pool.QueryRow(ctx, `
		with moved as (update business_clock_ahead set ahead = ahead + $1 returning ahead)
		select ahead from moved, pg_notify($2, '')`, d, Channel).Scan(&ahead)
	if err != nil {
		return fmt.Errorf("advance the business clock: %w", err)
	}
	b.Learn(ahead)
	return nil
}

// Advanced takes over the offset that another process has set. It does nothing if the
// clock has none, as in production.
func (b *Business) Advanced(ctx context.Context, _ string) error { return b.Load(ctx) }
