package projections

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
)

const (
	swapWait  = "2s" // for readers of the old tables to finish, while the writers wait as well
	swapTries = 15   // with the writers set free in between
)

// swapPatiently swaps as soon as no reader is in the way. A reader that locks
// tables in another order than the swap makes a deadlock, which ends a try as well.
func (r *rebuild) swapPatiently(ctx context.Context) error {
	for try := 1; ; try++ {
		before := r.position
		err := r.swap(ctx)
		if !eventstore.LockLost(err) || try == swapTries {
			return err
		}
		r.position = before // what was taken under the lock has been undone
		if err := r.catchUp(ctx); err != nil {
			return err
		}
	}
}

// swap waits for the writers, takes what they have added in the meantime, and
// puts the new tables in the place of the old ones. Readers see one or the
// other; all of it becomes visible at once.
func (r *rebuild) swap(ctx context.Context) error {
	return pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		if err := eventstore.LockWriters(ctx, tx); err != nil {
			return fmt.Errorf("wait for the writers: %w", err)
		}
		err := r.read(ctx, math.MaxInt64, func(w *window) error { return r.apply(ctx, tx, w) })
		if err != nil {
			return fmt.Errorf("take the last events: %w", err)
		}
		return r.replace(ctx, tx)
	})
}

// replace is the last thing before the commit, so that readers wait as short
// as can be.
func (r *rebuild) replace(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `set local search_path = public; set local lock_timeout = '`+swapWait+`'`); err != nil {
		return err
	}
	if err := r.lockOld(ctx, tx); err != nil {
		return err
	}
	for _, p := range r.parts {
		if err := p.replace(ctx, tx, r.position); err != nil {
			return fmt.Errorf("put %s in place: %w", p.name, err)
		}
	}
	return nil
}

// lockOld locks all old tables in one statement. So the swap waits before the
// readers that wait for it, and Postgres ends the swap in a deadlock, not a reader.
func (r *rebuild) lockOld(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `
		select t from projections, unnest(tables) t
		where projections.name = any($1) and to_regclass('public.' || quote_ident(t)) is not null order by t`, r.set.names())
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the old tables: %w", err)
	}
	if len(old) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, "lock table "+strings.Join(qualified(old), ", ")+" in access exclusive mode"); err != nil {
		return fmt.Errorf("lock the old tables: %w", err)
	}
	return nil
}

func (p *member) replace(ctx context.Context, tx pgx.Tx, position int64) error {
	var old []string
	if err := tx.QueryRow(ctx, `select tables from projections where name = $1`, p.name).Scan(&old); err != nil {
		return err
	}
	var sql strings.Builder
	if len(old) > 0 { // at once, because they may refer to each other
		fmt.Fprintf(&sql, "drop table if exists %s;", strings.Join(qualified(old), ", "))
	}
	for _, table := range p.names {
		fmt.Fprintf(&sql, "alter table %s.%s set schema public; grant select, insert, update, delete on public.%[2]s to %[3]s;",
			p.schema(), table, eventstore.AppRole)
	}
	fmt.Fprintf(&sql, "drop schema %s;%s;", p.schema(), strings.Join(p.binding(forced), "; "))
	sql.WriteString(p.beside)
	if _, err := tx.Exec(ctx, sql.String()); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		update projections set hash = $2, tables = $3, position = $4, swapped = $4, status = 'live', building = '',
			updated_at = real_now() where name = $1`,
		p.name, p.fingerprint(), p.names, position)
	return err
}

func qualified(tables []string) []string {
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = pgx.Identifier{"public", table}.Sanitize()
	}
	return names
}
