package eventstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

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
