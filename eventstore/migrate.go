package eventstore

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/clock"
)

//go:embed migrations/*.sql
var ownMigrations embed.FS

// A Migration is the numbered SQL files of one area of the schema, such as
// "0001_eventstore.sql". Each is carried out once, in order; a file that has been
// released never changes.
type Migration struct {
	Area  string
	Files fs.FS // the files may stand in a folder named migrations
}

// Migrate brings the schema up to date. Several processes may call it at once:
// one works, the others wait and find nothing left to do. A schema newer than
// this program is refused, and one that was not begun with its first files.
func Migrate(ctx context.Context, owner *pgxpool.Pool, more ...Migration) error {
	return repeatDeadlocked(ctx, func() error {
		return pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error { return MigrateTo(ctx, tx, nil, more...) })
	})
}

// MigrateTo is [Migrate] in a transaction, up to what another database has. Nil: up to
// the end.
func MigrateTo(ctx context.Context, tx pgx.Tx, level []MigrationRecord, more ...Migration) error {
	if err := known(level, more); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		set local lock_timeout = '60s';
		select pg_advisory_xact_lock(hashtext('hostpanel migrations'));
		create table if not exists schema_migrations (
			area text, number int, name text not null, applied_at timestamptz not null, primary key (area, number))`)
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	for _, m := range allOf(more) {
		if err := m.apply(ctx, tx, level); err != nil {
			return err
		}
	}
	return numberKinds(ctx, tx)
}

func allOf(more []Migration) []Migration {
	return slices.Concat([]Migration{{"clock", clock.Migrations}, {"log", ownMigrations}}, more)
}

func (m Migration) apply(ctx context.Context, tx pgx.Tx, level []MigrationRecord) error {
	files, err := m.list()
	if err != nil {
		return err
	}
	done, err := m.applied(ctx, tx, files)
	if err != nil {
		return err
	}
	if newest := files[len(files)-1].Number; done > newest {
		return fmt.Errorf(
			"the database's %s schema is at migration %d, newer than this program (%d): use a newer hostpanel", m.Area,
			done, newest,
		)
	}
	for _, f := range files {
		if f.Number <= done || level != nil && !slices.Contains(level, MigrationRecord{m.Area, f.Number, f.Name}) {
			continue
		}
		if _, err := tx.Exec(ctx, f.SQL); err != nil {
			return fmt.Errorf("migration %s/%s: %w", m.Area, f.Name, withHint(err))
		}
		if _, err := tx.Exec(ctx, `insert into schema_migrations values ($1, $2, $3, real_now())`, m.Area, f.Number, f.Name); err != nil {
			return fmt.Errorf("record migration %s/%s: %w", m.Area, f.Name, err)
		}
	}
	return nil
}

// applied is the number of the last migration in the database. Those before it
// must be the program's own.
func (m Migration) applied(ctx context.Context, tx pgx.Tx, files []migrationFile) (last int, err error) {
	rows, _ := tx.Query(ctx, `select number, name, '' from schema_migrations where area = $1 order by number`, m.Area)
	done, err := pgx.CollectRows(rows, pgx.RowToStructByPos[migrationFile])
	if err != nil {
		return 0, fmt.Errorf("read the migrations of %s: %w", m.Area, err)
	}
	for _, d := range done {
		last = d.Number
		if of := slices.IndexFunc(files, func(f migrationFile) bool { return f.Number == d.Number }); of >= 0 && files[of].Name != d.Name {
			return 0,
				fmt.Errorf("the database was made by an older hostpanel: its %s schema has the migration %s, and this program has %s. "+
					"It cannot be brought up to date: use an empty database (another HOSTPANEL_DATA_DIR, or another "+
					"database in DATABASE_URL), "+
					"or go on with the hostpanel that made this one", m.Area, d.Name, files[of].Name)
		}
	}
	return last, nil
}

type migrationFile struct {
	Number    int
	Name, SQL string
}

func (m Migration) list() ([]migrationFile, error) {
	var files []migrationFile
	err := fs.WalkDir(m.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".sql" {
			return err
		}
		digits, _, _ := strings.Cut(path.Base(name), "_")
		number, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("migration %s/%s has no number", m.Area, name)
		}
		sql, err := fs.ReadFile(m.Files, name)
		files = append(files, migrationFile{number, path.Base(name), string(sql)})
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no migrations in %s", m.Area)
	}
	slices.SortFunc(files, func(a, b migrationFile) int { return cmp.Compare(a.Number, b.Number) })
	for i, f := range files {
		if i > 0 && err == nil && files[i-1].Number == f.Number {
			err = fmt.Errorf("migrations %s/%s and %s have one number", m.Area, files[i-1].Name, f.Name)
		}
	}
	return files, err
}

// withHint shows what Postgres advises, such as the statement that a
// superuser has to run.
func withHint(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Hint != "" {
		return fmt.Errorf("%w (%s)", err, pg.Hint)
	}
	return err
}

// A MigrationRecord is a migration that a database has.
type MigrationRecord struct {
	Area   string `json:"area"`
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// AllMigrated are the migrations that a database has.
func AllMigrated(ctx context.Context, db queryer) ([]MigrationRecord, error) {
	rows, err := db.Query(ctx, `select area, number, name from schema_migrations order by area, number`)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", Unavailable(err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[MigrationRecord])
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", Unavailable(err))
	}
	return all, nil
}

// ErrOutdated means that a database lacks migrations of this program.
var ErrOutdated = errors.New("the database is older than this program")

// CheckMigrated refuses a database that lacks migrations, as [ErrOutdated].
func CheckMigrated(ctx context.Context, db queryer, more ...Migration) error {
	level, err := AllMigrated(ctx, db)
	if err != nil {
		return err
	}
	for _, m := range allOf(more) {
		files, err := m.list()
		if err != nil {
			return err
		}
		for _, f := range files {
			if !slices.Contains(level, MigrationRecord{m.Area, f.Number, f.Name}) {
				return fmt.Errorf("%w: its %s schema lacks the migration %s", ErrOutdated, m.Area, f.Name)
			}
		}
	}
	return nil
}

// known refuses migrations that this program does not have.
func known(level []MigrationRecord, more []Migration) error {
	own := map[string][]migrationFile{}
	for _, m := range allOf(more) {
		files, err := m.list()
		if err != nil {
			return err
		}
		own[m.Area] = files
	}
	for _, of := range level {
		at := slices.IndexFunc(own[of.Area], func(f migrationFile) bool { return f.Number == of.Number })
		switch {
		case at < 0:
			return fmt.Errorf(
				"the %s schema is at migration %d, which this program does not have: use a newer hostpanel", of.Area,
				of.Number,
			)
		case own[of.Area][at].Name != of.Name:
			return fmt.Errorf(
				"the %s schema has the migration %s, and this program has %s: use the hostpanel that made it", of.Area,
				of.Name, own[of.Area][at].Name,
			)
		}
	}
	return nil
}

// Statements are the SQL of all migrations.
func Statements(more ...Migration) (all []string, err error) {
	for _, m := range allOf(more) {
		files, err := m.list()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all = append(all, f.SQL)
		}
	}
	return all, nil
}
