package backup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
)

// A Schema is what a program knows of the tables in its database.
type Schema struct {
	Migrations []eventstore.Migration // beside those of the log
	Beside     []string               // SQL of tables that stand beside read tables
	Derived    map[string]string      // tables that a reader of the log fills, and its name: they are left out
}

// clockTable has the offset of a demo's clock. It is there in demos alone.
const clockTable = "business_clock_ahead"

var madeTable = regexp.MustCompile(`(?im)^\s*create table (?:if not exists )?([a-z_.]+)`)

// tables are the names of all tables with rows that cannot be computed anew.
// Read tables, derived ones and unlogged ones are not among them.
func (s Schema) tables() (names []string, err error) {
	texts, err := eventstore.Statements(s.Migrations...)
	if err != nil {
		return nil, err
	}
	names = append(names, "public."+clockTable)
	for _, text := range append(texts, s.Beside...) {
		for _, made := range madeTable.FindAllStringSubmatch(text, -1) {
			schema, table, qualified := strings.Cut(made[1], ".")
			if !qualified {
				schema, table = "public", schema
			}
			if _, derived := s.Derived[table]; !derived {
				names = append(names, schema+"."+table)
			}
		}
	}
	return names, nil
}

// A table is one that the database has, with what it refers to.
type table struct {
	Schema, Name string
	Columns      []string
	Needs        []string // qualified names of tables that have to be loaded before
}

func (t table) qualified() string { return t.Schema + "." + t.Name }

func (t table) sql() string { return pgx.Identifier{t.Schema, t.Name}.Sanitize() }

const presentTables = `
select n.nspname, c.relname,
	(select array_agg(a.attname::text order by a.attnum) from pg_attribute a
		where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''),
	array(select fn.nspname || '.' || f.relname from pg_constraint k join pg_class f on f.oid = k.confrelid
		join pg_namespace fn on fn.oid = f.relnamespace
		where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname || '.' || c.relname = any($1) order by 1, 2`

// present are those of the tables that the database has, each behind the ones that it
// refers to.
func present(ctx context.Context, tx pgx.Tx, names []string) ([]table, error) {
	rows, _ := tx.Query(ctx, presentTables, names)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", eventstore.Unavailable(err))
	}
	return inOrder(found), nil
}

// inOrder puts each table behind those that it needs. Tables that need each other in a
// circle come last.
func inOrder(all []table) (sorted []table) {
	placed := map[string]bool{}
	waits := func(t table) bool {
		return slices.ContainsFunc(t.Needs, func(name string) bool { return !placed[name] })
	}
	for len(all) > 0 {
		i := slices.IndexFunc(all, func(t table) bool { return !waits(t) })
		i = max(i, 0)
		placed[all[i].qualified()] = true
		sorted, all = append(sorted, all[i]), slices.Delete(all, i, i+1)
	}
	return sorted
}

// columns are the names as SQL.
func columns(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

// sequences are where all sequences of the schemas stand. They are ahead of the
// snapshot, or equal to it.
func sequences(ctx context.Context, tx pgx.Tx, schemas []string) ([]Sequence, error) {
	rows, _ := tx.Query(ctx, `
		select n.nspname as schema, c.relname as name, 0::bigint as last, false as is_called from pg_class c
			join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'S' and n.nspname = any($1) and c.relowner = (select oid from pg_roles
			where rolname = current_user) order by 1, 2`, schemas)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Sequence])
	for i, s := range found {
		if err == nil {
			err = tx.QueryRow(ctx, `select last_value, is_called from `+pgx.Identifier{s.Schema, s.Name}.Sanitize()).Scan(
				&found[i].Last, &found[i].IsCalled,
			)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the sequences: %w", eventstore.Unavailable(err))
	}
	return found, nil
}
