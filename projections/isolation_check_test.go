package projections

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestAFreshPanelKeepsRowsApart(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	if err := CheckIsolation(t.Context(), p.readers); err != nil {
		t.Fatal(err)
	}
}

func TestTheProgramDoesNotStartBehindABrokenWall(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for _, broken := range []struct{ sql, says string }{
		{`alter table orders no force row level security`, "table orders does not force its policies on its owner"},
		{`alter table invoices disable row level security`, "table invoices does not have row-level security"},
		{`alter table events disable row level security`, "table events does not have row-level security"},
		{`alter table credentials disable row level security`, "table credentials does not have row-level security"},
		{`alter table subject_keys disable row level security`, "table subject_keys has policies that are not in force"},
		{`drop policy reads on resources`, "table resources has lost its policy reads"},
		{`drop policy program on events`, "table events has lost its policy program"},
		{`drop policy program on secret_handoff`, "table secret_handoff has lost its policy program"},
		{`create policy everybody on users using (id > 0)`, "table users has an unknown policy everybody"},
		{`alter policy reads on memberships using (true)`, "the policy reads of table memberships lets everybody in"},
		{
			`create table tickets (id bigint, tenant_id bigint); grant select on tickets to hostpanel_app`,
			"table tickets does not have row-level security",
		},
		{
			`create table tickets (id bigint, user_id bigint); alter table tickets enable row level security, force row level security`,
			"table tickets has lost its policy program",
		},
		{`create view contacts as select email from users`, "view contacts reads with the rights of its owner"},
		{`create materialized view contacts as select email from users`, "materialized view contacts keeps rows that no policy guards"},
		{
			`create function contacts() returns setof users language sql security definer as 'select * from users'`,
			"function contacts runs with the rights of its owner",
		},
		{`grant update on events to hostpanel_app`, "role hostpanel_app may update the table events"},
		{`grant truncate on events to hostpanel_app`, "role hostpanel_app may truncate the table events"},
		{`grant create on schema public to hostpanel_app; alter table widgets owner to hostpanel_app`, "role hostpanel_app owns widgets"},
	} {
		config := p.readers.Config()
		config.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) { // with its end all is as before
			_, err := conn.Exec(ctx, "begin; set local role none; "+broken.sql+"; set local role hostpanel_app")
			return err == nil, err
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckIsolation(t.Context(), pool); err == nil || !strings.HasSuffix(err.Error(), "): "+broken.says) {
			t.Errorf("%s: %v", broken.sql, err)
		}
		pool.Close()
	}
}

// Hosters have extensions that make views of their own, as pg_stat_statements does.
func TestWhatBelongsToAnExtensionIsNoHole(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	if p.count(t, `select count(*) from pg_available_extensions where name = 'pg_stat_statements'`) == 0 {
		t.Skip("this Postgres comes without pg_stat_statements")
	}
	if _, err := eventstoretest.Superuser(t, p.owner).Exec(t.Context(), `create extension pg_stat_statements`); err != nil {
		t.Fatal(err)
	}
	if err := CheckIsolation(t.Context(), p.readers); err != nil {
		t.Error(err)
	}
}

func TestAViewThatReadsAsItsCallerIsNoHole(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	if _, err := p.owner.Exec(t.Context(), `create view contacts with (security_invoker) as select email
		from users; grant select on contacts to hostpanel_app`); err != nil {
		t.Fatal(err)
	}
	if err := CheckIsolation(t.Context(), p.readers); err != nil {
		t.Error(err)
	}
	n, err := value[int64](t.Context(), p.For(ana).db, `select count(*) from contacts`, p.For(ana).caller.public(), "")
	if err != nil || n != 1 {
		t.Error(n, err)
	}
}

func TestTheProgramDoesNotReadInARoleThatPoliciesDoNotBind(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	name := "passer_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	superuser := eventstoretest.Superuser(t, p.owner)
	owner := p.owner.Config().ConnConfig.User
	if _, err := superuser.Exec(t.Context(), `create role `+name+` nologin bypassrls in role hostpanel_app role `+owner); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := superuser.Exec(context.Background(), `drop role `+name); err != nil {
			t.Error(err)
		}
	})
	as := func(change func(*pgxpool.Config)) error {
		config := p.readers.Config()
		change(config)
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		return CheckIsolation(t.Context(), pool)
	}
	err := as(func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["role"] = name })
	if err == nil || !strings.HasSuffix(err.Error(), "): role "+name+" may bypass row-level security") {
		t.Error(err)
	}
	err = as(func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["app.tenant_id"] = "system" })
	if err == nil || !strings.HasSuffix(err.Error(), "): connections of readers begin on somebody's behalf: app.tenant_id is system") {
		t.Error(err)
	}
	if err := CheckIsolation(t.Context(), p.owner); err == nil || !strings.Contains(err.Error(), " owns ") {
		t.Error(err)
	}
	if err := CheckIsolation(t.Context(), superuser); err == nil || !strings.Contains(err.Error(), "is a superuser") {
		t.Error(err)
	}
}

// A table that says whose its rows are and stands in no projection's ReadBy and
// no migration's policy would be found only by this.
func TestNoTableWithRowsOfOwnersIsForgotten(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	rows, _ := p.owner.Query(t.Context(), `
		select distinct c.table_name::text from information_schema.columns c join information_schema.tables using (table_schema, table_name)
		where table_schema = 'public' and table_type = 'BASE TABLE' and data_type = 'bigint'
			and column_name in ('tenant', 'tenant_id', 'user_id', 'owner', 'key_owner') order by 1`)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Contains(found, "events") || !slices.Contains(found, "resources") || !slices.Contains(found, "credentials") {
		t.Fatal(found, err)
	}
	for _, table := range found {
		n := p.count(t, `select count(*) from pg_class where oid = to_regclass($1) and relrowsecurity and relforcerowsecurity
			and exists (select from pg_policy where polrelid = pg_class.oid and polname = 'program')`, table)
		if n != 1 {
			t.Errorf("the rows of table %s are somebody's: say whose, by ReadBy or by a policy in its migration", table)
		}
	}
	for _, projection := range All {
		for _, table := range projection.names {
			if slices.Contains(found, table) && !slices.Contains(projection.walled, table) {
				t.Errorf("the rows of read table %s are somebody's: say whose, by ReadBy", table)
			}
		}
	}
}

func TestAllSettingsBeginAsTheyShould(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	settings := `select concat_ws(',', current_setting('app.tenant_id'), current_setting('app.user_id'), current_setting('app.key_owner'))`
	for _, c := range []struct {
		pool *pgxpool.Pool
		want string
	}{{p.readers, ",,"}, {p.Pool(), "system,system,system"}, {p.owner, "system,system,system"}} {
		var got string
		if err := c.pool.QueryRow(t.Context(), settings).Scan(&got); err != nil || got != c.want {
			t.Errorf("%q instead of %q: %v", got, c.want, err)
		}
	}
	if eventstore.Everybody != "system" { // as the functions of the migration have it
		t.Error(eventstore.Everybody)
	}
}

func TestThereIsOnePlaceThatAsks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asks := strings.Count(string(text), ".pool.")
		switch {
		case file == "scope.go" && (asks != 2 || strings.Count(string(text), ".pool.BeginTx(") != 1): // one asks, one begins a snapshot
			t.Errorf("scope.go uses the database in %d places", asks)
		case file != "scope.go" && !strings.HasSuffix(file, "_test.go") && asks > 0:
			t.Errorf("%s asks the database by itself: nobody knows for whom", file)
		}
	}
}
