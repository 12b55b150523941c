package backup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// things are all that a database has beside what Postgres and its extensions bring.
const things = `
select format('%I.%I', n.nspname, c.relname) as name,
	case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' when 'f'
		then 'foreign table' else 'table' end as kind
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
	and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('e', 'i', 'a'))
union all
select p.oid::regprocedure::text, 'function' from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (select from pg_depend d
	where d.objid = p.oid and d.deptype = 'e')
union all
select format('%I', nspname), 'schema' from pg_namespace n
where nspname !~ '^pg_' and nspname not in ('information_schema', 'public') and not exists (select from pg_depend d
	where d.objid = n.oid and d.deptype = 'e')
order by kind desc, name`

// A thing is a table, a sequence, a function or a schema.
type thing struct{ Name, Kind string }

func list(ctx context.Context, tx pgx.Tx) ([]thing, error) {
	rows, _ := tx.Query(ctx, things)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[thing])
}

// makeEmpty refuses a database in which something is, unless a restore that was not
// finished has left it.
func makeEmpty(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('hostpanel migrations'))`); err != nil {
		return err
	}
	all, err := list(ctx, tx)
	if err != nil || len(all) == 0 {
		return err
	}
	unfinished, err := isUnfinished(ctx, tx)
	if err != nil {
		return err
	}
	if !unfinished {
		return fmt.Errorf(
			"%w: it has %d tables, functions and schemas, such as the %s %s. Make a new one (createdb), and name it in DATABASE_URL",
			ErrNotEmpty, len(all), all[0].Kind, all[0].Name,
		)
	}
	return drop(ctx, tx, all)
}

func drop(ctx context.Context, tx pgx.Tx, all []thing) error {
	for _, t := range all {
		if _, err := tx.Exec(ctx, `drop `+t.Kind+` if exists `+t.Name+` cascade`); err != nil {
			return fmt.Errorf("take away what an unfinished restore has left: %w", err)
		}
	}
	return nil
}

// isUnfinished tells whether a restore into this database was cut off.
func isUnfinished(ctx context.Context, tx pgx.Tx) (unfinished bool, err error) {
	err = tx.QueryRow(ctx, `select to_regclass('public.recovery') is not null`).Scan(&unfinished)
	if err == nil && unfinished {
		err = tx.QueryRow(ctx, `select exists (select from recovery where not is_ready)`).Scan(&unfinished)
	}
	return unfinished, err
}

// Discard takes away what a restore that has failed has left.
func Discard(ctx context.Context, owner *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error { return makeEmpty(ctx, tx) })
}
