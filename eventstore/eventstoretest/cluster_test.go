package eventstoretest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

var runs atomic.Int32

func TestEveryTestHasADatabaseOfItsOwn(t *testing.T) {
	var prepared atomic.Int32
	key := fmt.Sprint("plans", runs.Add(1)) // the test may be repeated within a test binary
	prepare := func(ctx context.Context, url string) error {
		prepared.Add(1)
		return run(ctx, url, "create table plans (name text)")
	}
	ok := t.Run("all at once", func(t *testing.T) {
		for n := range 8 {
			t.Run(fmt.Sprint("test ", n), func(t *testing.T) {
				t.Parallel()
				url := Database(t, key, prepare)
				must(t, run(t.Context(), url, "insert into plans values ('basic')"))
				if got := count(t, url, "select count(*) from plans"); got != 1 {
					t.Errorf("a test sees %d plans, it has made 1", got)
				}
			})
		}
	})
	if !ok || prepared.Load() != 1 {
		t.Fatalf("the template was prepared %d times", prepared.Load())
	}
}

func TestATestWithoutPreparationGetsAnEmptyDatabase(t *testing.T) {
	if got := count(t, Database(t, "empty", nil), "select count(*) from pg_tables where schemaname = 'public'"); got != 0 {
		t.Errorf("there are %d tables", got)
	}
}

func TestACrashOfAPrivateClusterLosesNothingThatWasCommitted(t *testing.T) {
	c := Private(t, map[string]string{"max_connections": "20"})
	must(t, run(t.Context(), c.URL(), "create table payments (n int); insert into payments select generate_series(1, 1000)"))
	before := c.URL()
	Restart(t, c)
	if c.URL() != before {
		t.Error("the cluster came back at another address")
	}
	if got := count(t, before, "select count(*) from payments"); got != 1000 {
		t.Errorf("%d of 1000 payments survived", got)
	}
	if got := count(t, before, "select current_setting('max_connections')::bigint"); got != 20 {
		t.Errorf("max_connections is %d", got)
	}
}

func TestWhatDeadRunsLeftIsDroppedAndWhatLivesIsKept(t *testing.T) {
	given := Private(t, nil).URL()
	dead, living := connected(t, given), connected(t, given)
	prepare := func(ctx context.Context, url string) error { return run(ctx, url, "create table plans (name text)") }
	left, err := dead.template("plans", prepare)
	must(t, err)
	kept, err := living.template("plans", prepare)
	must(t, err)
	dies(t, dead, given)

	connected(t, given)
	const names = "select count(*) from pg_database where datname = '%s'"
	if count(t, given, fmt.Sprintf(names, left.name)) != 0 {
		t.Error("what a dead run left is still there")
	}
	if count(t, given, fmt.Sprintf(names, kept.name)) != 1 {
		t.Error("the template of a living run was dropped")
	}
}

func TestRunsShareATemplateAndTakeOverDatabasesOfDeadOnes(t *testing.T) {
	given := Private(t, nil).URL()
	var prepared atomic.Int32
	prepare := func(ctx context.Context, url string) error {
		prepared.Add(1)
		return run(ctx, url, "create table plans (name text); insert into plans values ('basic')")
	}
	first, second := connected(t, given), connected(t, given)
	inFirst, err := first.prepared(digest("plans", nil), prepare)
	must(t, err)
	inSecond, err := second.prepared(digest("plans", nil), prepare)
	must(t, err)
	if prepared.Load() != 1 || inFirst.name != inSecond.name {
		t.Errorf("the template was prepared %d times", prepared.Load())
	}
	other, err := second.prepared(digest("plans", []string{"another schema"}), prepare)
	must(t, err)
	if prepared.Load() != 2 || other.name == inFirst.name {
		t.Error("two schemas have one template")
	}

	used, err := first.take(inFirst, false)
	must(t, err)
	must(t, run(t.Context(), first.url(used.name), "delete from plans; insert into plans values ('huge'), ('tiny')"))
	if d, err := second.adopt(inSecond); err != nil || d != nil {
		t.Error("a database of a living run was taken over", err)
	}
	dies(t, first, given)
	var d *database
	eventually(t, "a database of the dead run is taken over", func() bool { // once no client is left in it
		d, err = second.adopt(inSecond)
		return err != nil || d != nil
	})
	must(t, err)
	if count(t, second.url(d.name), "select count(*) from plans where name = 'basic'") != 1 || count(t, second.url(d.name), "select count(*) from plans") != 1 {
		t.Error("the database has rows of the run before")
	}
}

// dies ends a run: the server knows once the process of its first connection has ended.
func dies(t *testing.T, s *server, url string) {
	t.Helper()
	process := s.holder.PgConn().PID()
	must(t, s.holder.Close(t.Context()))
	s.admin.Close()
	eventually(t, "the run ends", func() bool {
		return count(t, url, fmt.Sprintf("select count(*) from pg_stat_activity where pid = %d", process)) == 0
	})
}

func connected(t *testing.T, url string) *server {
	t.Helper()
	first, err := pgx.Connect(t.Context(), url)
	must(t, err)
	s, err := connect(t.Context(), url, "", first)
	must(t, err)
	t.Cleanup(s.admin.Close)
	return s
}

func BenchmarkDatabase(b *testing.B) {
	for b.Loop() {
		s, err := shared()
		if err != nil {
			b.Fatal(err)
		}
		template, err := s.template("benchmark", nil)
		if err != nil {
			b.Fatal(err)
		}
		name := s.newName(template)
		if err := s.clone(name, template.name); err != nil {
			b.Fatal(err)
		}
		if err := s.exec("drop database " + name); err != nil {
			b.Fatal(err)
		}
	}
}

func run(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

func count(t *testing.T, url, sql string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	must(t, conn.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
