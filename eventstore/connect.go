package eventstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	uuidcodec "github.com/vgarvardt/pgx-google-uuid/v5"
)

// AppRole is the Postgres role that the program works as. It owns nothing and
// can neither change nor remove a fact.
const AppRole = "hostpanel_app"

// ErrUnavailable means that the database does not answer, or not for writing.
var ErrUnavailable = errors.New("the database is unavailable")

// On whose behalf a connection works: the settings that the rules of the tables
// look at (docs/security.md, "Row-level security"). Each is the number of a
// tenant, a user or a storefront key's owner, or [Everybody], or blank: nobody.
const (
	ForTenant   = "app.tenant_id"
	ForUser     = "app.user_id"
	ForKeyOwner = "app.key_owner"
)

// Everybody is on whose behalf the program itself works, where its
// transactions span tenants.
const Everybody = "system"

// Connect opens a pool whose connections work as [AppRole], at most conns at a
// time, on [Everybody]'s behalf. The role exists once [Migrate] has run.
func Connect(ctx context.Context, url string, conns int32) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, Everybody, asApp)
}

// ConnectReaders opens a pool as [Connect] does, but on nobody's behalf: its
// connections see nothing until a transaction says for whom it reads.
func ConnectReaders(ctx context.Context, url string, conns int32) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, "", asReader)
}

// ConnectOwner opens a small pool as the role of the URL, on [Everybody]'s
// behalf, for migrations and rebuilds.
func ConnectOwner(ctx context.Context, url string) (*pgxpool.Pool, error) {
	return connect(ctx, url, 4, Everybody, nil)
}

var asApp = map[string]string{
	"role":                                AppRole,
	"statement_timeout":                   "30s",
	"idle_in_transaction_session_timeout": "10s",
}

// asReader counts and pages in indexes rather than in tables: what lists walk
// through is in memory (docs/read-tables.md, "Lists").
var asReader = with(asApp, "random_page_cost", "1.1")

func with(params map[string]string, name, value string) map[string]string {
	more := maps.Clone(params)
	more[name] = value
	return more
}

func connect(ctx context.Context, url string, conns int32, behalf string, params map[string]string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a valid Postgres URL") // its text may hold a password
	}
	cfg.MaxConns = conns
	cfg.ConnConfig.RuntimeParams["application_name"] = "hostpanel"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		uuidcodec.Register(conn.TypeMap()) // else every UUID goes through its text
		return nil
	}
	for _, name := range []string{ForTenant, ForUser, ForKeyOwner} {
		cfg.ConnConfig.RuntimeParams[name] = behalf
	}
	for name, value := range params {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return pool, nil
}

// Unavailable marks errors that say nothing about the request, only about the
// database: it is away, starting, stopping, full or read-only.
func Unavailable(err error) error {
	var pg *pgconn.PgError
	var dial *pgconn.ConnectError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg):
		for _, class := range []string{"08", "53", "57P", "58", "25006"} {
			if strings.HasPrefix(pg.Code, class) {
				return fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
		}
		return err
	case errors.As(err, &dial), errors.As(err, &network), pgconn.SafeToRetry(err), errors.Is(err, net.ErrClosed), isBroken(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// isBroken recognises a connection that ended in the middle of a
// conversation, and a pool that is being closed: these have no type.
func isBroken(err error) bool {
	for _, part := range []string{"unexpected EOF", "conn closed", "closed pool", "broken pipe", "connection reset"} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}

// LockWriters makes all writers of the log wait until tx ends. Whoever holds
// it sees the whole log and nothing can be added behind it.
func LockWriters(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, lockWriters)
	return err
}
