package projections

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// now is the moment after all that has happened.
func (p *panel) now(t testing.TB) (at time.Time) {
	t.Helper()
	if err := p.owner.QueryRow(t.Context(), `select business_clock()`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

func (p *panel) lookBack(t testing.TB, at time.Time) *Past {
	t.Helper()
	past, err := OpenPast(t.Context(), p.owner, p.Reader(), View{At: at, Hidden: []string{"series"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := past.Close(); err != nil {
			t.Error(err)
		}
	})
	return past
}

// kill ends the connection of a view, as the end of its process does.
func (p *panel) kill(t testing.TB, past *Past) {
	t.Helper()
	backend := past.conn.PgConn().PID()
	if err := past.conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for lives := true; lives; {
		if err := p.owner.QueryRow(t.Context(), `select exists (select from pg_stat_activity where pid = $1)`, backend).
			Scan(&lives); err != nil {
			t.Fatal(err)
		}
	}
}

// seen is all text in the tables of the business, in a schema.
func (p *panel) seen(t testing.TB, schema string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, projection := range All.past() {
		for _, name := range projection.names {
			rows, _ := p.owner.Query(t.Context(), `select t::text from `+pgx.Identifier{schema, name}.Sanitize()+` t order by 1`)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			all[name] = strings.Join(lines, "\n")
		}
	}
	return all
}

// pasts are the schemas of views of the past.
func (p *panel) pasts(t testing.TB) []string {
	t.Helper()
	rows, _ := p.owner.Query(t.Context(), `select nspname from pg_namespace where nspname like 'past\_%' order by 1`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// openPast is how a process reads from a view of the past.
func openPast(t testing.TB, url string, past *Past) (pool, readers *pgxpool.Pool) {
	t.Helper()
	pool, err := eventstore.ConnectPast(t.Context(), url, past.Schema, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if readers, err = eventstore.ConnectPastReaders(t.Context(), url, past.Schema, 2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(readers.Close)
	return pool, readers
}

func TestTheLogOfAViewEndsWithItsMomentAndNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	url := database(t)
	p := openPanelAt(t, url)
	p.do(t, tenant(1, "Ana", "ana"))
	at := p.now(t)
	p.do(t, tenant(2, "Bea", "bea"))
	past := p.lookBack(t, at)
	pool, readers := openPast(t, url, past)
	store := eventstore.Open(pool, p.facts, eventstoretest.Keys(t))
	if head, _, err := store.Reader().Head(t.Context()); err != nil || head != past.Position || head != 1 {
		t.Error(head, past.Position, err)
	}
	if found, err := store.Read(t.Context(), hosting.Ref{Kind: "tenant", ID: 2}.Stream()); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	all, err := Open(readers).For(System).Hosting().Resources(t.Context(), "tenant", 0)
	if err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	for _, db := range []*pgxpool.Pool{pool, readers} {
		for _, sql := range []string{
			`delete from resources`, `delete from public.resources`, `insert into series values ('x', 1)`,
			`update users set email = ''`,
		} {
			if _, err := db.Exec(t.Context(), sql); err == nil {
				t.Errorf("%s was carried out", sql)
			}
		}
		conn, err := db.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `set default_transaction_read_only = off`); err != nil {
			t.Error(err)
		}
		for _, sql := range []string{`delete from ` + past.Schema + `.resources`, `create table ` + past.Schema + `.more ()`} {
			if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("the role of the program may %s: %v", sql, err)
			}
		}
		conn.Release()
	}
}

func TestAViewOfThePastKeepsTenantsApart(t *testing.T) {
	t.Parallel()
	url := database(t)
	p := openPanelAt(t, url)
	p.do(t, tenant(1, "Ana", "ana"))
	p.do(t, tenant(2, "Bea", "bea"))
	p.do(t, site(1, 1, "ana.example.com", ""))
	p.do(t, site(2, 2, "bea.example.com", ""))
	_, readers := openPast(t, url, p.lookBack(t, p.now(t)))
	if err := CheckIsolation(t.Context(), readers); err != nil {
		t.Error(err)
	}
	for _, q := range []struct {
		caller Caller
		sites  int
	}{{Caller{User: 7, Tenant: 1}, 1}, {Caller{User: 7}, 0}, {Caller{}, 0}, {Caller{User: 8, Superuser: true}, 2}} {
		all, err := Open(readers).For(q.caller).Hosting().Resources(t.Context(), "site", 0)
		if err != nil || len(all) != q.sites {
			t.Errorf("%+v sees %d sites: %v", q.caller, len(all), err)
		}
		for _, r := range all {
			if q.caller.Tenant != 0 && r.Tenant != q.caller.Tenant {
				t.Errorf("%+v sees %+v", q.caller, r)
			}
		}
	}
}

func TestAnErasedPersonIsNotSeenInThePast(t *testing.T) {
	t.Parallel()
	url := database(t)
	p := openPanelAt(t, url)
	gone, _ := p.secretive(t, 1, "zacarias")
	later, _ := p.secretive(t, 2, "yolanda")
	at := p.now(t)
	if err := p.erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	past := openPanelAt(t, url).lookBack(t, at) // a process that has never seen the keys
	text := func() string { return strings.Join(slices.Collect(maps.Values(p.seen(t, past.Schema))), "\n") }
	if strings.Contains(text(), "zacarias") || !strings.Contains(text(), "yolanda") {
		t.Error(text())
	}
	// Who is erased while others look back is not shown from then on.
	if err := p.erase(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- past.Follow(ctx, time.Millisecond) }()
	for strings.Contains(text(), "yolanda") {
		if t.Context().Err() != nil {
			t.Fatal("yolanda is still shown")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWhatAKilledProcessHasLeftIsDroppedAndNothingElse(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(1, "Ana", "ana"))
	at := p.now(t)
	one, other := p.lookBack(t, at), p.lookBack(t, at)
	if want := []string{one.Schema, other.Schema}; len(p.pasts(t)) != 2 {
		t.Fatal(p.pasts(t), want)
	}
	p.kill(t, one)
	third := p.lookBack(t, at)
	left := p.pasts(t)
	if slices.Contains(left, one.Schema) || !slices.Contains(left, other.Schema) || !slices.Contains(left, third.Schema) {
		t.Error(left, "instead of", other.Schema, third.Schema)
	}
	if err := one.Follow(t.Context(), time.Millisecond); err == nil {
		t.Error("a view goes on without its schema")
	}
	p.kill(t, third)
	if err := Prepare(t.Context(), p.owner, p.Reader()); err != nil {
		t.Fatal(err)
	}
	if left := p.pasts(t); !slices.Equal(left, []string{other.Schema}) {
		t.Error("the start of the panel has left", left)
	}
}

func TestALookBackThatIsCutOffLeavesNothing(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(1, "Ana", "ana"))
	ctx, stop := context.WithCancel(t.Context())
	_, err := OpenPast(ctx, p.owner, p.Reader(), View{At: p.now(t), Progress: func(int64, int64) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left := p.pasts(t); len(left) > 0 {
		t.Error(left)
	}

	past := p.lookBack(t, p.now(t))
	ctx, stop = context.WithCancel(t.Context())
	backend := past.conn.PgConn().PID()
	go func() {
		defer stop()
		for sleeps := false; !sleeps; {
			if err := p.owner.QueryRow(
				t.Context(), `select exists (select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep')`,
				backend,
			).Scan(&sleeps); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	if _, err := past.conn.Exec(ctx, `select pg_sleep(60)`); err == nil || !past.conn.IsClosed() {
		t.Fatal("the connection outlives a query that was cut off", err)
	}
	if err := past.Close(); err != nil {
		t.Error(err)
	}
	if left := p.pasts(t); len(left) > 0 {
		t.Error(left)
	}
}

func TestOnlyAMomentThatIsOverCanBeLookedBackAt(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	_, err := OpenPast(t.Context(), p.owner, p.Reader(), View{At: p.now(t).Add(time.Hour)})
	if domain.CodeOf(err) != domain.Invalid {
		t.Error(err)
	}
	if _, err := p.owner.Exec(t.Context(), `update projections set hash = 'other' where name = 'orders'`); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPast(t.Context(), p.owner, p.Reader(), View{At: noon.AddDate(-20, 0, 0)}); !errors.Is(err, errOtherTables) {
		t.Error(err)
	}
	if left := p.pasts(t); len(left) > 0 {
		t.Error(left)
	}
}
