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
