package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/postgres"
)

// limit bounds everything that a test asks of the cluster.
const limit = time.Minute

// Database returns the URL of a private database for this test, with what prepare has put
// into a template once per test binary and key (prepare may be nil). It takes milliseconds.
// After the test the database is emptied for a later one, or dropped. It stands on the
// server of TEST_DATABASE_URL, or else on the [Cluster] of this test binary.
func Database(t testing.TB, key string, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	template, err := s.template(key, prepare)
	if err != nil {
		t.Fatalf("prepare the template %q: %v", key, err)
	}
	_, unused := measuring.Load(t)
	d, err := s.take(template, unused)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.release(d, t.Failed()); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return s.url(d.name)
}

// Cluster is the shared cluster of this test binary, which dies with it. Its
// writes are not durable: for faults that lose data take a [Private] one.
func Cluster(t testing.TB) *postgres.Cluster {
	t.Helper()
	c, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Restart makes the cluster crash and come back at the same address. Every
// connection to it breaks.
func Restart(t testing.TB, c *postgres.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := c.Crash(ctx); err != nil {
		t.Fatal(err)
	}
}

// Private is a cluster for this test alone, whose writes are durable, so that
// what it has committed must survive a crash. The settings win over ours.
func Private(t testing.TB, settings map[string]string) *postgres.Cluster {
	t.Helper()
	all := map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
	maps.Copy(all, settings)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c, err := throwAway(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// quick are settings of the shared cluster. Each connection plans a statement once, in place
// of up to five times and at times always: a test executes most of its statements rarely.
var quick = map[string]string{"plan_cache_mode": "force_generic_plan"}

var cluster = sync.OnceValues(func() (*postgres.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := throwAway(ctx, quick)
	if err != nil {
		return nil, err
	}
	return c, signInCheaply(ctx, c)
})

// missing is how the first attempt to find or fetch PostgreSQL failed. Further
// attempts would each wait for the same answer.
var missing struct {
	mu  sync.Mutex
	err error
}

// throwAway starts a cluster that dies with this test binary.
func throwAway(ctx context.Context, settings map[string]string) (*postgres.Cluster, error) {
	missing.mu.Lock()
	known := missing.err
	missing.mu.Unlock()
	if known != nil {
		return nil, known
	}
	c, err := postgres.Start(ctx, postgres.Options{Volatile: true, Settings: settings})
	if errors.Is(err, postgres.ErrMissing) {
		missing.mu.Lock()
		missing.err = err
		missing.mu.Unlock()
	}
	return c, err
}

// A server is where the databases of this test binary stand.
type server struct {
	base     url.URL
	admin    *pgxpool.Pool
	run      string // names of this run begin with it
	strategy string
	alive    *pgx.Conn // holds the lock of the run on a server that outlives us

	mu        sync.Mutex
	templates map[string]*template
}

// shared also lets garbage be collected less often: tests allocate far more than they keep.
var shared = sync.OnceValues(func() (*server, error) {
	debug.SetGCPercent(400)
	if given := os.Getenv("TEST_DATABASE_URL"); given != "" {
		s, err := connect(given, "")
		if err != nil {
			return nil, err
		}
		return s, s.clearUp()
	}
	c, err := cluster()
	if err != nil {
		return nil, err
	}
	return connect(c.URL(), " strategy file_copy") // faster where nothing is synced
})

func connect(address, strategy string) (*server, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_DATABASE_URL is no URL") // it holds a password
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 2
	admin, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	run := "hostpanel_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	return &server{base: *base, admin: admin, run: run, strategy: strategy, templates: map[string]*template{}}, nil
}

func (s *server) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := s.admin.Exec(ctx, sql)
	if refused := new(pgconn.PgError); err != nil && !errors.As(err, &refused) {
		s.admin.Reset() // a restart has cut the connections
		_, err = s.admin.Exec(ctx, sql)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

func (s *server) newName() string {
	return s.run + "_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
}

func (s *server) url(database string) string {
	u := s.base
	u.Path = "/" + database
	return u.String()
}

// clearUp drops what runs that have ended left on a server that outlives them:
// their templates, and everything of those that were killed. A run is alive as
// long as it holds the lock of its name.
func (s *server) clearUp() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.alive, err = pgx.Connect(ctx, s.base.String()); err != nil {
		return err
	}
	if _, err := s.alive.Exec(ctx, "select pg_advisory_lock(hashtextextended($1, 0))", s.run); err != nil {
		return err
	}
	rows, _ := s.alive.Query(ctx, `select datname from pg_database where datname ~ '^hostpanel_test_[0-9a-f]{12}_'`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := dropIfDead(ctx, s.alive, name); err != nil {
			return err
		}
	}
	return nil
}

func dropIfDead(ctx context.Context, conn *pgx.Conn, name string) error {
	const lock = "hashtextextended($1, 0)"
	run := name[:len("hostpanel_test_")+12]
	var dead bool
	if err := conn.QueryRow(ctx, "select pg_try_advisory_lock("+lock+")", run).Scan(&dead); err != nil || !dead {
		return err
	}
	if _, err := conn.Exec(ctx, "drop database if exists "+quote(name)+" with (force)"); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "select pg_advisory_unlock("+lock+")", run)
	return err
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
