package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// limit bounds everything that a test asks of the cluster.
const limit = time.Minute

// quick are settings of the shared server. Each connection plans a statement once, in place
// of up to five times and at times always: a test executes most of its statements rarely.
var quick = map[string]string{"plan_cache_mode": "force_generic_plan", "max_connections": "1000", "shared_buffers": "128MB"}

// missing is how the first attempt to find or fetch PostgreSQL failed. Further
// attempts would each wait for the same answer.
var missing struct {
	mu  sync.Mutex
	err error
}

// A server is where the databases of this test binary stand.
type server struct {
	base     url.URL
	way      url.URL       // to it for tests, which may be long
	owner    *url.Userinfo // of the databases
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
	away, _, err := distant(address, distance) // as long as this process
	if err != nil {
		return nil, err
	}
	way, err := url.Parse(away)
	if err != nil {
		return nil, err
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
	s := &server{
		base: *base, way: *way, admin: admin, run: runPrefix + newID(), strategy: strategy, holder: first,
		templates: map[string]*template{},
	}
	if s.owner, err = ordinary(ctx, first, base.User); err != nil {
		return nil, err
	}
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

// url is the address of a database for its owner, as tests get it.
func (s *server) url(database string) string {
	u := s.way
	u.Path, u.User = "/"+database, s.owner
	return u.String()
}

// adminURL is the address of a database for the role that makes and empties it.
func (s *server) adminURL(database string) string {
	u := s.base
	u.Path = "/" + database
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
