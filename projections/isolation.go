package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// Who may read a row, in the words of the database. Each stands in a
// sub-select, which is evaluated once a query and not once for each of perhaps
// a million rows.
const operators = `(select sees_all())` // superusers, and the program itself

func ofTenant(column string) string   { return column + ` = (select scope_tenant())` }
func ofUser(column string) string     { return column + ` = (select scope_user())` }
func ofKeyOwner(column string) string { return column + ` = (select scope_key_owner())` }

// ReadBy says whose the rows of a table are: a query on behalf of one of these
// reads them. For any other query they do not exist, even if it has no
// condition. The program itself reads and writes all (docs/security.md,
// "Row-level security").
func (p *Projection) ReadBy(table string, anyOf ...string) *Projection {
	if !slices.Contains(p.names, table) {
		panic("projections: " + p.name + " makes no table " + table)
	}
	p.rules = append(p.rules, wall(table, anyOf...)...)
	p.walled = append(p.walled, table)
	return p
}

// wall are the statements that put one around a table. Postgres asks its policies in the
// reverse order of their names, so a row that "reads" allows costs no question about the
// program.
func wall(table string, anyOf ...string) []string {
	return []string{
		`alter table ` + table + ` enable row level security`,
		`alter table ` + table + ` force row level security`, // on its owner too
		`drop policy if exists reads on ` + table,
		`drop policy if exists program on ` + table,
		`create policy reads on ` + table + ` for select using (` + strings.Join(anyOf, ` or `) + `)`,
		`create policy program on ` + table + ` using (is_system())`, // the program writes few rows at a time: cheaper than a sub-select
	}
}

// Whether the policies of a table bind its owner too. Postgres refuses COPY where they bind
// the role that copies, so tables are filled unforced.
const (
	unforced = "no force"
	forced   = "force"
)

// binding are the statements that make the policies of the tables forced or unforced.
func (p *Projection) binding(force string) (sql []string) {
	for _, table := range p.walled {
		sql = append(sql, `alter table `+table+` `+force+` row level security`)
	}
	return sql
}

func (s Set) walled() (tables []string) {
	for _, p := range s {
		tables = append(tables, p.walled...)
	}
	return tables
}

// owners are the columns, of numbers, that say whose a row is.
var owners = []string{"tenant", "tenant_id", "user_id", "owner", "key_owner"}

// CheckIsolation fails unless the database keeps everybody's rows apart by
// itself, also from the role that the readers work as. The error names each
// table, view, function and right that breaks it.
func CheckIsolation(ctx context.Context, readers *pgxpool.Pool) error {
	rows, err := readers.Query(ctx, leaks, All.walled(), owners)
	if err != nil {
		return fmt.Errorf("check who can read what: %w", eventstore.Unavailable(err))
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("check who can read what: %w", eventstore.Unavailable(err))
	}
	if len(found) > 0 {
		return fmt.Errorf(
			`the database does not keep rows apart (see "Row-level security" in docs/security.md): %s`,
			strings.Join(found, "; "),
		)
	}
	return nil
}

// leaks are the ways around the rules, a sentence each.
const leaks = `
with relation as (
	select c.oid, relname, relkind, relrowsecurity, relforcerowsecurity, coalesce(reloptions, '{}') as reloptions, relowner,
		relname = any($1) as declared,
		relname = any($1) or exists (
			select from pg_attribute where attrelid = c.oid and attname = any($2) and atttypid = 'bigint'::regtype
				and not attisdropped) as somebodys
	from pg_class c where relnamespace::regnamespace::name = any (current_schemas(false)) and relkind in ('r', 'p', 'v', 'm')
		and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e') -- an extension's
), part as (
	select * from relation where relkind in ('r', 'p')
), rule as (
	select relname, polname, polpermissive, coalesce(pg_get_expr(polqual, polrelid), 'true') as condition from pg_policy
		join part on polrelid = part.oid
), me as (
	select rolname, rolsuper, rolbypassrls from pg_roles where rolname = current_user
)
select format('table %s does not have row-level security', relname) from part where somebodys and not relrowsecurity
union all
select format('table %s does not force its policies on its owner', relname) from part where relrowsecurity and not relforcerowsecurity
union all
select format('table %s has policies that are not in force', relname) from part
	where not relrowsecurity and not somebodys and relname in (select relname from rule)
union all
select format('table %s has lost its policy %s', part.relname, policy) from part, unnest(array['reads', 'program']) policy
	where relrowsecurity and (declared or policy = 'program')
	and not exists (select from rule where rule.relname = part.relname and polname = policy)
union all
select format('table %s has an unknown policy %s', relname, polname) from rule where polpermissive and polname not in ('reads', 'program')
union all
select format('the policy %s of table %s lets everybody in', polname, relname) from rule where polpermissive and condition = 'true'
union all
select format('view %s reads with the rights of its owner', relname) from relation
	where relkind = 'v' and not reloptions && '{security_invoker=true,security_invoker=on,security_invoker=1}'
union all
select format('materialized view %s keeps rows that no policy guards', relname) from relation where relkind = 'm'
union all
select format('function %s runs with the rights of its owner', proname) from pg_proc p
	where pronamespace = 'public'::regnamespace and prosecdef and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
union all
select format('role %s is a superuser', rolname) from me where rolsuper
union all
select format('role %s may bypass row-level security', rolname) from me where rolbypassrls
union all
select format('role %s owns %s', rolname, min(relname)) from me, relation where pg_has_role(rolname, relowner, 'USAGE') group by rolname
union all
select format('role %s may %s the table events', rolname, lower(deed)) from me, unnest('{UPDATE,DELETE,TRUNCATE}'::text[]) deed
	where has_table_privilege(rolname, 'public.events', deed)
union all
select format('connections of readers begin on somebody''s behalf: %s is %s', name, setting) from (
	select name, current_setting(name, true) as setting
		from unnest('{` + eventstore.ForTenant + `,` + eventstore.ForUser + `,` + eventstore.ForKeyOwner + `}'::text[]) name
) setting where setting <> ''
order by 1`
