package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// ErrNotEmpty refuses a database in which something is.
var ErrNotEmpty = errors.New("the database is not empty")

// Loading says how a backup is loaded.
type Loading struct {
	Schema   Schema
	Ahead    int64 // how far sequences are moved on: numbers that were given out after the backup are not given out again
	Progress func(done, all int64)
	// Finish does the rest in the same transaction, with all tables as this program has
	// them. Read tables are missing.
	Finish func(ctx context.Context, tx pgx.Tx) error
}

// Load fills an empty database from a backup, in one transaction: on any failure nothing
// is left. The schema is first that of the backup, and then brought up to date. What an
// earlier, unfinished restore has left counts as nothing and is taken away.
func Load(ctx context.Context, owner *pgxpool.Pool, b *Backup, o Loading) error {
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	err := pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error {
		if err := makeEmpty(ctx, tx); err != nil {
			return err
		}
		return (&loader{Loading: o, Backup: b, tx: tx}).load(ctx)
	})
	if err != nil {
		return fmt.Errorf("restore: %w", eventstore.Unavailable(err))
	}
	return nil
}

// A loader fills the tables.
type loader struct {
	Loading
	*Backup
	tx   pgx.Tx
	done int64
}

func (l *loader) load(ctx context.Context) error {
	if err := eventstore.MigrateTo(ctx, l.tx, l.Migrations, l.Schema.Migrations...); err != nil {
		return err
	}
	later, err := l.tables(ctx, l.Files) // what stands beside read tables is not there yet
	if err != nil {
		return err
	}
	if err := l.bringUpToDate(ctx, later); err != nil {
		return err
	}
	if later, err = l.tables(ctx, later); err != nil {
		return err
	}
	if len(later) > 0 {
		return fmt.Errorf("this program has no table %s.%s: use the hostpanel that made the backup", later[0].Schema, later[0].Table)
	}
	if err := l.sequences(ctx); err != nil {
		return err
	}
	if err := l.correct(ctx); err != nil {
		return err
	}
	return l.Finish(ctx, l.tx)
}

// bringUpToDate makes the schema that of this program, with the tables that stand beside
// read tables.
func (l *loader) bringUpToDate(ctx context.Context, later []File) error {
	if err := eventstore.MigrateTo(ctx, l.tx, nil, l.Schema.Migrations...); err != nil {
		return err
	}
	for _, sql := range l.Schema.Beside {
		if _, err := l.tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("make the tables beside the read tables: %w", err)
		}
	}
	if slices.ContainsFunc(later, func(f File) bool { return f.Table == clockTable }) {
		return clock.InstallIn(ctx, l.tx)
	}
	return nil
}

// tables fills those of the tables that are there, and returns the others.
func (l *loader) tables(ctx context.Context, files []File) (later []File, err error) {
	for _, f := range files {
		t := table{Schema: f.Schema, Name: f.Table, Columns: f.Columns}
		var isThere, isForced bool
		err := l.tx.QueryRow(ctx, `select count(*) > 0, coalesce(bool_or(relforcerowsecurity), false) from pg_class
			where oid = to_regclass($1)`, t.sql()).Scan(&isThere, &isForced)
		switch {
		case err != nil:
			return nil, err
		case !isThere:
			later = append(later, f)
			continue
		}
		if err := l.unforced(ctx, t, isForced, func() error { return l.table(ctx, t, f) }); err != nil {
			return nil, err
		}
	}
	return later, nil
}

// unforced does something while the policies of a table do not apply to its owner, as
// COPY asks for.
func (l *loader) unforced(ctx context.Context, t table, isForced bool, do func() error) error {
	if !isForced {
		return do()
	}
	if _, err := l.tx.Exec(ctx, `alter table `+t.sql()+` no force row level security`); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	_, err := l.tx.Exec(ctx, `alter table `+t.sql()+` force row level security`)
	return err
}

// table fills one table. A migration may have made rows in it.
func (l *loader) table(ctx context.Context, t table, f File) error {
	if _, err := l.tx.Exec(ctx, `delete from `+t.sql()); err != nil {
		return err
	}
	count := &lines{tell: func(n int64) { l.Progress(l.done+n, l.Rows()) }}
	err := l.read(f.Blob, func(r io.Reader) error {
		tag, err := l.tx.Conn().PgConn().CopyFrom(ctx, io.TeeReader(r, count), `copy `+t.sql()+` (`+columns(t.Columns)+`) from stdin`)
		if err == nil && tag.RowsAffected() != f.Rows {
			err = fmt.Errorf("%w: %d rows instead of %d", ErrDamaged, tag.RowsAffected(), f.Rows)
		}
		return err
	})
	l.done += f.Rows
	l.Progress(l.done, l.Rows())
	return err
}

// sequences lets numbers go on behind those that were given out.
func (l *loader) sequences(ctx context.Context) error {
	for _, s := range l.Sequences {
		last, isCalled := s.Last, s.IsCalled
		if l.Ahead > 0 {
			last, isCalled = last+l.Ahead, true
		}
		name := pgx.Identifier{s.Schema, s.Name}.Sanitize()
		if _, err := l.tx.Exec(
			ctx, `select setval(c.oid::regclass, $2, $3) from pg_class c where c.oid = to_regclass($1)`, name, last,
			isCalled,
		); err != nil {
			return fmt.Errorf("set the sequence %s: %w", name, err)
		}
	}
	return nil
}

// correct brings readers of the log and the verification in the background to what the
// backup holds.
func (l *loader) correct(ctx context.Context) error {
	var readers []string
	for _, name := range l.Schema.Derived {
		readers = append(readers, name)
	}
	if _, err := l.tx.Exec(ctx, `update readers set position = 0 where name = any($1)`, readers); err != nil {
		return fmt.Errorf("let readers begin anew: %w", err)
	}
	_, err := l.tx.Exec(ctx, `update log_verification set position = 0, hash = '', is_over = false, next_at = real_now()`)
	if err != nil {
		return fmt.Errorf("let the verification begin anew: %w", err)
	}
	return nil
}
