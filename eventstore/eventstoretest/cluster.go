package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/postgres"
)

// limit bounds everything that a test asks of the cluster.
const limit = time.Minute

// Restart makes a [Private] cluster crash and come back at the same address. Every
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

// quick are settings of the shared server. Each connection plans a statement once, in place
// of up to five times and at times always: a test executes most of its statements rarely.
var quick = map[string]string{"plan_cache_mode": "force_generic_plan", "max_connections": "1000", "shared_buffers": "128MB"}

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

	holding sync.Mutex
	holder  *pgx.Conn // holds the locks of the run

	mu        sync.Mutex
	templates map[string]*template
}

// shared also lets garbage be collected less often: tests allocate far more than they keep.
var shared = sync.OnceValues(func() (*server, error) {
	debug.SetGCPercent(400)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if given := os.Getenv("TEST_DATABASE_URL"); given != "" {
		first, err := pgx.Connect(ctx, given)
		if err != nil {
			return nil, errors.New("TEST_DATABASE_URL leads to no server") // it holds a password
		}
		return connect(ctx, given, "", first)
	}
	address, first, err := common.join(ctx)
	if err != nil {
		return nil, err
	}
	return connect(ctx, address, " strategy file_copy", first) // faster where nothing is synced
})

// connect begins a run on a server. The run lives as long as the first connection.
func connect(ctx context.Context, address, strategy string, first *pgx.Conn) (*server, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the server is no URL") // it holds a password
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
	s := &server{base: *base, admin: admin, run: runPrefix + newID(), strategy: strategy, holder: first, templates: map[string]*template{}}
	if _, err := first.Exec(ctx, "select pg_advisory_lock("+lockOf+")", s.run); err != nil {
		return nil, err
	}
	return s, s.clearUp(ctx)
}

func (s *server) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := s.admin.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%.200s: %w", sql, err)
	}
	return nil
}

func (s *server) url(database string) string {
	u := s.base
	u.Path = "/" + database
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
