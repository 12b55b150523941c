package eventstoretest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// A template is what the databases of one key begin as.
type template struct {
	once   sync.Once
	name   string
	digest string // of what makes it; empty: it is this run's alone
	err    error

	content content
	free    []*database // databases that are as the template is, guarded by the server
}

// The content of a database: its schema as a digest, its rows and its sequences. It is zero
// if no database is handed on.
type content struct {
	Schema    string
	Rows      map[string][]byte // what COPY says, by table; nothing of an empty one
	Sequences string            // the statement that sets them
}

// A database is lent to one test after the other. Making one costs more than most tests
// do in it, and so does what a new process of Postgres learns of it.
type database struct {
	name     string
	admin    string // address for the keeper
	template *template
	lendings int
	keeper   *pgx.Conn // empties it

	mu       sync.Mutex
	over     <-chan struct{} // the end of the test that has it
	ending   bool            // that test closes its pools
	sessions []*session
}

// lent are the databases that tests use, by their URLs.
var lent sync.Map

// measuring are the tests that have called [Measures].
var measuring sync.Map

// Measures gives a test databases that no test has used, as what is read depends on the
// deleted rows in their files. It is called first.
func Measures(t testing.TB) {
	t.Helper()
	measuring.Store(t, true)
	t.Cleanup(func() { measuring.Delete(t) })
}

// mostRows are the bytes of rows that it takes longer to restore than to clone the template.
const mostRows = 1 << 20

// mostLendings is how often a database is lent. Deleted rows stay in its files.
const mostLendings = 100

func (s *server) template(key string, prepare func(context.Context, string) error) (*template, error) {
	if prepare == nil {
		return &template{name: "template0"}, nil
	}
	t := s.known(key, "")
	t.once.Do(func() { t.content, t.err = s.fill(t.name, prepare) })
	return t, t.err
}

func (s *server) prepared(digest string, prepare func(context.Context, string) error) (*template, error) {
	t := s.known(digest, digest)
	t.once.Do(func() { t.content, t.err = s.findOrFill(t.name, prepare) })
	return t, t.err
}

func (s *server) known(key, digest string) *template {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.templates[key] == nil {
		name := fmt.Sprintf("%s_template_%d", s.run, len(s.templates))
		if digest != "" {
			name = templatePrefix + digest
		}
		s.templates[key] = &template{name: name, digest: digest}
	}
	return s.templates[key]
}

// fill makes a template.
func (s *server) fill(name string, prepare func(context.Context, string) error) (c content, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.clone(name, "template0"); err != nil {
		return c, err
	}
	if err := prepare(ctx, s.url(name)); err != nil {
		return c, err
	}
	conn, err := pgx.Connect(ctx, s.adminURL(name))
	if err != nil {
		return c, err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing was left open
	return contentOf(ctx, conn)
}

func (s *server) clone(name, template string) error {
	return s.exec("create database " + quote(name) + " owner " + quote(s.owner.Username()) + " template " + quote(template) + s.strategy)
}

// take takes a database that a test before has left, also one of an earlier run, or a new
// one.
func (s *server) take(t *template, unused bool) (*database, error) {
	s.mu.Lock()
	var d *database
	if last := len(t.free) - 1; last >= 0 && !unused {
		d, t.free = t.free[last], t.free[:last]
	}
	s.mu.Unlock()
	var err error
	if d == nil && !unused {
		if d, err = s.adopt(t); err != nil {
			return nil, err
		}
	}
	if d == nil {
		d = s.newDatabase(t)
		if err := s.clone(d.name, t.name); err != nil {
			return nil, err
		}
	}
	d.lendings++
	lent.Store(s.url(d.name), d)
	return d, nil
}

// release hands a database on, or drops it: after a test that failed or changed its
// schema, while a client is still connected, and once its files have grown.
func (s *server) release(d *database, failed bool) error {
	lent.Delete(s.url(d.name))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	d.lendTo(nil)
	if !failed && d.lendings < mostLendings && s.empty(ctx, d) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		d.template.free = append(d.template.free, d)
		return nil
	}
	return s.drop(ctx, d)
}

func (s *server) drop(ctx context.Context, d *database) error {
	for _, left := range d.sessions {
		_ = left.Close()
	}
	if d.keeper != nil {
		_ = d.keeper.Close(ctx)
	}
	return s.exec("drop database if exists " + quote(d.name) + " with (force)")
}

// take takes a session that was begun like this, if a test before has left one.
func (d *database) take(began string) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.sessions, func(s *session) bool { return s.began == began })
	if at < 0 || d.ending {
		return nil
	}
	s := d.sessions[at]
	d.sessions = slices.Delete(d.sessions, at, at+1)
	return s
}

// ends makes the sessions of clients that go from now on those of the next test.
// Before the end of a test they end with their clients, as they do elsewhere.
func (d *database) ends() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ending = true
}

// lendTo gives the database to a test that is over then, or to none: who goes now leaves nothing.
func (d *database) lendTo(over <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over, d.ending = over, false
}

// leave tells whether a session was left to the next test. What follows the log ends with
// the context of the test, before its pools.
func (d *database) leave(s *session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ending := d.ending
	select {
	case <-d.over:
		ending = true
	default:
	}
	if ending {
		d.sessions = append(d.sessions, s)
	}
	return ending
}

// empty makes the content of a database that of its template.
func (s *server) empty(ctx context.Context, d *database) (err error) {
	if d.keeper == nil {
		if d.keeper, err = pgx.Connect(ctx, d.admin); err != nil {
			return err
		}
	}
	for _, left := range d.sessions {
		if err := left.settle(); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, d.keeper, func(tx pgx.Tx) error { return d.template.content.restore(ctx, tx, 1+len(d.sessions)) })
}

// A State is what a test's database held at a moment, for later tests to begin with.
type State struct{ content content }

// StateOf is the present state of a test's database.
func StateOf(t testing.TB, address string) (s State) {
	t.Helper()
	err := asKeeper(t, address, func(ctx context.Context, keeper *pgx.Conn) (err error) {
		s.content, err = contentOf(ctx, keeper)
		return err
	})
	if err != nil || s.content.Schema == "" {
		t.Fatalf("the state of %s is too large, or was not read: %v", address, err)
	}
	return s
}

// Restore gives the state to a test's database, before anything reads it.
func (s State) Restore(t testing.TB, address string) {
	t.Helper()
	err := asKeeper(t, address, func(ctx context.Context, keeper *pgx.Conn) error {
		return pgx.BeginFunc(ctx, keeper, func(tx pgx.Tx) error { return s.content.write(ctx, tx) })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// asKeeper does something with the connection that empties a lent database.
func asKeeper(t testing.TB, address string, do func(context.Context, *pgx.Conn) error) (err error) {
	t.Helper()
	known, _ := lent.Load(address)
	d := known.(*database)
	if d.keeper == nil {
		if d.keeper, err = pgx.Connect(t.Context(), d.admin); err != nil {
			return err
		}
	}
	return do(t.Context(), d.keeper)
}

const (
	// clients counts who is connected to the database, and tells its schema.
	clients = `select (select count(*) from pg_stat_activity where datname = current_database()), (` + schema + `)`

	// written lists the tables that were ever written to.
	written = `
		select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.oid >= 16384 and pg_relation_size(c.oid) > 0
		order by 1`

	// schema tells what a database consists of, by the last change of each catalog and its
	// number of entries. Those of temporary tables are the session's own. The age of a
	// transaction is cheaper to read than its number; that of the first one ever makes it one.
	schema = `
		select concat_ws(' ',
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_class), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_attribute),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_attrdef), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_index),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_constraint), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_trigger),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_policy), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_proc),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_type), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_rewrite),
			(select (count(*), age('3'::xid) - min(age(xmin))) from pg_statistic), (select (count(*),
				age('3'::xid) - min(age(xmin))) from pg_extension),
			(select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()))`

	// sequences is the statement that sets all sequences to where they are.
	sequences = `
		select coalesce('select ' || string_agg(format('setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
			coalesce(last_value, start_value), last_value is not null), ', '), '')
		from pg_sequences`
)

func contentOf(ctx context.Context, conn *pgx.Conn) (c content, err error) {
	if err = conn.QueryRow(ctx, schema).Scan(&c.Schema); err != nil {
		return c, err
	}
	if err = conn.QueryRow(ctx, sequences).Scan(&c.Sequences); err != nil {
		return c, err
	}
	rows, _ := conn.Query(ctx, written)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return c, err
	}
	c.Rows = map[string][]byte{}
	size := 0
	for _, table := range tables {
		var rows bytes.Buffer
		if _, err := conn.PgConn().CopyTo(ctx, &rows, "copy "+table+" to stdout"); err != nil {
			return c, err
		}
		if rows.Len() > 0 {
			c.Rows[table] = rows.Bytes()
		}
		if size += rows.Len(); size > mostRows {
			return content{}, nil
		}
	}
	return c, nil
}

// restore brings back the rows. It fails if the schema is another one, or a client
// is connected of which we do not know.
func (c content) restore(ctx context.Context, tx pgx.Tx, known int) error {
	var now string
	var others int
	if err := tx.QueryRow(ctx, clients).Scan(&others, &now); err != nil {
		return err
	}
	if others != known || now != c.Schema {
		return fmt.Errorf("%d clients are connected, and %d are known; the schema was %s and is %s", others, known, c.Schema, now)
	}
	return c.write(ctx, tx)
}

// write replaces all rows by those of the content.
func (c content) write(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, written)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	restore := []string{"set local session_replication_role = replica"} // no trigger, no foreign key
	for _, table := range tables {
		restore = append(restore, "delete from "+table)
	}
	restore = append(restore, c.Sequences)
	conn := tx.Conn().PgConn()
	if _, err := conn.Exec(ctx, strings.Join(restore, "; ")).ReadAll(); err != nil {
		return err
	}
	for table, rows := range c.Rows {
		if _, err := conn.CopyFrom(ctx, bytes.NewReader(rows), "copy "+table+" from stdin"); err != nil {
			return err
		}
	}
	return nil
}

// handedOn makes the connections of a pool those that tests before have left.
func handedOn(t testing.TB, address string, connect func(eventstore.Change) (*pgxpool.Pool, error)) *pgxpool.Pool {
	t.Helper()
	d, ours := lent.Load(address)
	pool, err := connect(func(config *pgconn.Config) {
		if ours {
			config.DialFunc = d.(*database).dial
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	closes(t, address, pool)
	return pool
}

// closes closes a pool after the test, and leaves its sessions to the next one.
func closes(t testing.TB, address string, pool *pgxpool.Pool) {
	t.Helper()
	t.Cleanup(func() {
		if d, ours := lent.Load(address); ours {
			d.(*database).ends()
		}
		pool.Close()
	})
}
