package eventstoretest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

const shelf = `
	create table books (id bigint generated always as identity primary key, title text,
		long bool generated always as (length(title) > 3) stored);
	create function refuse() returns trigger language plpgsql as 'begin raise exception ''books are kept''; end';
	create trigger keep before delete or truncate on books execute function refuse();
	insert into books (title) values ('Emma'), ('She')`

// lend makes a test of its own, which uses a database with books.
func lend(t *testing.T, key string, use func(t *testing.T, pool *pgxpool.Pool)) (name string) {
	t.Helper()
	t.Run("a test", func(t *testing.T) {
		url := Database(t, key, func(ctx context.Context, url string) error { return run(ctx, url, shelf) })
		pool := Owner(t, url)
		must(t, pool.QueryRow(t.Context(), "select current_database()").Scan(&name))
		if got := texts(t, pool, "select string_agg(id || title || long, ',' order by id) from books"); got != "1Emmatrue,2Shefalse" {
			t.Errorf("a test begins with the books %s", got)
		}
		use(t, pool)
	})
	return name
}

func texts(t *testing.T, pool *pgxpool.Pool, sql string) (text string) {
	t.Helper()
	must(t, pool.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

func do(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql)
	must(t, err)
}

func newKey() string { return fmt.Sprint("books", runs.Add(1)) } // a test may be repeated within a test binary

func TestADatabaseIsHandedOnWithTheRowsOfItsTemplate(t *testing.T) {
	key := newKey()
	const insert = "insert into books (title) values ('It') returning id::text"
	write := func(t *testing.T, pool *pgxpool.Pool) {
		if id := texts(t, pool, insert); id != "3" {
			t.Errorf("the third book has the number %s", id)
		}
		do(t, pool, "set lock_timeout = '1s'; select pg_advisory_lock(7); listen books; create temp table notes (n int)")
	}
	first := lend(t, key, write)
	second := lend(t, key, func(t *testing.T, pool *pgxpool.Pool) {
		if got := texts(
			t, pool,
			"select current_setting('lock_timeout') || (select count(*) from pg_locks where locktype = 'advisory' "+
				"and pid = pg_backend_pid())",
		); got != "00" {
			t.Errorf("lock_timeout and locks of the test before: %s", got)
		}
		if got := texts(
			t, pool,
			"select count(*)::text from pg_prepared_statements where statement = '"+
				"insert into books (title) values (''It'') returning id::text'",
		); got != "1" {
			t.Errorf("%s statements of the test before are prepared", got)
		}
		write(t, pool)
	})
	if first != second {
		t.Error("the second test has another database")
	}
}

func TestADatabaseThatATestHasChangedIsDropped(t *testing.T) {
	key := newKey()
	first := lend(t, key, func(t *testing.T, pool *pgxpool.Pool) { do(t, pool, "create index on books (title)") })
	second := lend(t, key, func(t *testing.T, pool *pgxpool.Pool) { do(t, pool, "drop trigger keep on books") })
	third := lend(t, key, func(t *testing.T, pool *pgxpool.Pool) { do(t, pool, "analyze books") })
	fourth := lend(t, key, func(*testing.T, *pgxpool.Pool) {})
	if first == second || second == third || third == fourth {
		t.Error(first, second, third, fourth)
	}
	for _, name := range []string{first, second, third} {
		if count(t, Database(t, "", nil), "select count(*) from pg_database where datname = '"+name+"'") != 0 {
			t.Error("it is still there after its test")
		}
	}
}

func TestADatabaseOfWhichAClientIsLeftIsDropped(t *testing.T) {
	key := newKey()
	var stays *pgxpool.Pool
	first := lend(t, key, func(t *testing.T, pool *pgxpool.Pool) {
		var err error
		stays, err = pgxpool.NewWithConfig(context.Background(), pool.Config())
		must(t, err)
		must(t, stays.Ping(t.Context()))
	})
	defer stays.Close()
	if second := lend(t, key, func(*testing.T, *pgxpool.Pool) {}); first == second {
		t.Error("two tests can write to one database")
	}
	if err := stays.Ping(t.Context()); err == nil {
		t.Error("what a test has left behind is still connected")
	}
}

func TestASessionOfACancelledQuestionIsNotHandedOn(t *testing.T) {
	key := newKey()
	lend(t, key, func(t *testing.T, pool *pgxpool.Pool) {
		ctx, cancel := context.WithCancel(t.Context())
		conn, err := pool.Acquire(ctx)
		must(t, err)
		do(t, pool, "select 1")
		cancel()
		if _, err := conn.Exec(ctx, "select pg_sleep(60)"); err == nil {
			t.Error("a cancelled question is answered")
		}
		conn.Release()
	})
	lend(t, key, func(*testing.T, *pgxpool.Pool) {})
}

// make versions puts the programs of another PostgreSQL first on PATH. Without it any version that
// the panel supports may serve.
func TestTheServerIsOfASupportedVersionOrTheOneThatWasAskedFor(t *testing.T) {
	got := count(t, Database(t, "", nil), "select current_setting('server_version_num')::int / 10000")
	if want := os.Getenv("HOSTPANEL_TEST_POSTGRES"); got < 15 || want != "" && want != strconv.FormatInt(got, 10) {
		t.Errorf("PostgreSQL %d serves, and %q was asked for", got, want)
	}
}
