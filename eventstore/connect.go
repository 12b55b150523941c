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

// AppRole is the Postgres role of the program. It owns nothing, and cannot change
// or delete an event.
const AppRole = "hostpanel_app"

// CheckRole refuses an owner who can neither work as [AppRole] nor make that role. The error
// says what a superuser has to run.
func CheckRole(ctx context.Context, owner *pgxpool.Pool) error {
	var name string
	var makes, exists, member bool
	err := owner.QueryRow(ctx, `
		select current_user, rolsuper or rolcreaterole, app is not null, coalesce(pg_has_role(current_user, app, 'member'), false)
		from pg_roles left join (select oid as app from pg_roles where rolname = $1) has on true where rolname = current_user`,
		AppRole).Scan(&name, &makes, &exists, &member)
	if err != nil {
		return fmt.Errorf("look for the role %s: %w", AppRole, Unavailable(err))
	}
	grant := fmt.Sprintf("grant %s to %s;", AppRole, pgx.Identifier{name}.Sanitize())
	switch {
	case member || makes:
		return nil
	case exists:
		return fmt.Errorf("%s may not work as %s: run as a superuser: %s", name, AppRole, grant)
	}
	return fmt.Errorf("the role %[1]s is missing, and %[2]s may not make it: run as a superuser: create role %[1]s nologin; %[3]s",
		AppRole, name, grant)
}

// ErrUnavailable means that the database does not answer, or is read-only.
var ErrUnavailable = errors.New("the database is unavailable")

// The Postgres settings that row-level security reads (docs/security.md,
// "Row-level security"). Each is the id of a tenant, a user or a storefront key's
// owner. [Everybody] sees all rows, and blank sees none.
const (
	ForTenant   = "app.tenant_id"
	ForUser     = "app.user_id"
	ForKeyOwner = "app.key_owner"
)

// Everybody is the setting of the program's own transactions, which span tenants.
const Everybody = "system"

// A Change changes how the connections of a pool are made.
type Change = func(*pgconn.Config)

// Connect opens a pool of at most conns connections, with the role [AppRole] and
// the settings [Everybody]. The role exists once [Migrate] has run.
func Connect(ctx context.Context, url string, conns int32, change ...Change) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, Everybody, asApp, change)
}

// ConnectReaders opens a pool like [Connect], but with blank settings. Its
// connections see no rows until a transaction sets its tenant, user or owner.
func ConnectReaders(ctx context.Context, url string, conns int32, change ...Change) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, "", asApp, change)
}

// ConnectPast opens a pool like [Connect] for a view of the past: what stands in the
// schema hides what has the same name in the schema public. Nothing can be written.
func ConnectPast(ctx context.Context, url, schema string, conns int32) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, Everybody, inPast(asApp, schema), nil)
}

// ConnectPastReaders opens a pool like [ConnectReaders] for a view of the past.
func ConnectPastReaders(ctx context.Context, url, schema string, conns int32) (*pgxpool.Pool, error) {
	return connect(ctx, url, conns, "", inPast(asApp, schema), nil)
}

func inPast(params map[string]string, schema string) map[string]string {
	return with(params, map[string]string{"search_path": schema + ", public", "default_transaction_read_only": "on"})
}

// ConnectOwner opens a small pool with the role of the URL and the settings
// [Everybody], for migrations and rebuilds.
func ConnectOwner(ctx context.Context, url string, change ...Change) (*pgxpool.Pool, error) {
	return connect(ctx, url, 4, Everybody, nil, change)
}

// asApp are the settings of the panel's pools. Most statements address rows by their keys,
// so their plans are made once; making them again took a quarter of Postgres's time. Lists
// with filters set another mode (docs/read-tables.md, "Plans").
var asApp = with(byKey, map[string]string{
	"role":                                AppRole,
	"statement_timeout":                   "30s",
	"idle_in_transaction_session_timeout": "10s",
	"plan_cache_mode":                     "force_generic_plan",
	"random_page_cost":                    "1.1", // what is read is in memory, or on a disk without arms
})

// byKey let plans find rows by their keys, also in tables that have no statistics yet.
// Postgres takes these for small, would read them from the beginning to the end, and keeps
// such a plan however long they become.
var byKey = map[string]string{
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"jit":              "off", // that compiles what seems dear, as what is off does
}

func with(params, further map[string]string) map[string]string {
	more := maps.Clone(params)
	maps.Copy(more, further)
	return more
}

func connect(
	ctx context.Context, url string, conns int32, behalf string, params map[string]string, changes []Change,
) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a valid Postgres URL") // the text of the error may hold a password
	}
	cfg.MaxConns = conns
	cfg.ConnConfig.RuntimeParams["application_name"] = "hostpanel"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		uuidcodec.Register(conn.TypeMap()) // UUIDs are sent in binary, not as text
		return nil
	}
	for _, name := range []string{ForTenant, ForUser, ForKeyOwner} {
		cfg.ConnConfig.RuntimeParams[name] = behalf
	}
	for name, value := range params {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
	for _, change := range changes {
		change(&cfg.ConnConfig.Config)
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

// Unavailable marks errors of the database as a whole: it is unreachable,
// starting, stopping, full or read-only.
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

// isBroken recognises a lost connection and a closed pool. These errors have no
// type of their own.
func isBroken(err error) bool {
	for _, part := range []string{"unexpected EOF", "conn closed", "closed pool", "broken pipe", "connection reset"} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}
