package projections

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// alone is a pool of one connection, so that each reader gets the one that the
// last has given back.
func (p *panel) alone(t testing.TB) *Tables {
	t.Helper()
	config := p.readers.Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return Open(pool)
}

func TestAConnectionForgetsForWhomItWasUsed(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	tables := p.alone(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, use := range []struct {
		name string
		use  func(Scope)
	}{
		{"a read", func(s Scope) { _, _ = s.Hosting().Resources(t.Context(), "site", 0) }},
		{"a refusal", func(s Scope) { _, _ = s.Orders().Order(t.Context(), uuid.New()) }},
		{"an error", func(s Scope) {
			if err := s.db.ask(t.Context(), func(b *pgx.Batch) { b.Queue(`select 1 / 0`) }); err == nil {
				t.Error("one can divide by zero")
			}
		}},
		{"an unknown table", func(s Scope) {
			if err := s.db.ask(t.Context(), func(b *pgx.Batch) { b.Queue(`select * from nowhere`) }); err == nil {
				t.Error("there is a table nowhere")
			}
		}},
		{"a cancelled context", func(s Scope) { _, _ = s.Hosting().Resources(cancelled, "site", 0) }},
		{"a query that is cut off", func(s Scope) {
			ctx, stop := context.WithCancel(t.Context())
			began := make(chan error, 1)
			go func() {
				began <- s.db.ask(ctx, func(b *pgx.Batch) { b.Queue(`select pg_sleep(60) /* cut off */`) })
			}()
			p.await(t, `select count(*) from pg_stat_activity where datname = current_database()
				and query like '%pg\_sleep(60) /* cut off%' and state = 'active' and pid <> pg_backend_pid()`)
			stop()
			if err := <-began; err == nil {
				t.Error("it was not stopped")
			}
		}},
		{"a reader that gives up half-way", func(s Scope) {
			gone := errors.New("gone")
			err := s.db.ask(t.Context(), func(b *pgx.Batch) {
				b.Queue(`select id from users`).Query(func(pgx.Rows) error { return gone })
			})
			if !errors.Is(err, gone) {
				t.Error(err)
			}
		}},
	} {
		for _, c := range []Caller{System, ana, {User: 1, Superuser: true}} {
			use.use(tables.For(c))
			if left := tables.left(t); left != "" {
				t.Errorf("%s of %+v leaves %q", use.name, c, left)
			}
		}
	}
}

// left is on whose behalf the pool's only connection works, and how many rows
// it finds, if the caller is not named.
func (t *Tables) left(test testing.TB) (left string) {
	test.Helper()
	err := t.pool.QueryRow(test.Context(), `
		select concat(current_setting('app.tenant_id'), current_setting('app.user_id'), current_setting('app.key_owner'),
			nullif((select count(*) from users), 0))`).Scan(&left)
	if err != nil {
		test.Fatal(err)
	}
	return left
}

// await polls until a count is not zero.
func (p *panel) await(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually)
	defer cancel()
	for p.count(t, sql) == 0 {
		if ctx.Err() != nil {
			t.Fatalf("never: %s", sql)
		}
	}
}

func TestAPlanThatWasPreparedForOneServesTheNextAsItShould(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	tables := p.alone(t)
	for i := range 30 { // Postgres takes to a plan for all callers after five
		for _, c := range []Caller{ana, ben, {}, {User: 9, Superuser: true}, System, {User: 1, Tenant: 6}} {
			want := map[bool]int64{true: 2, false: 1}[c.seesAll()]
			if c.Tenant == 0 && !c.seesAll() {
				want = 0
			}
			n, err := value[int64](
				t.Context(), tables.For(c).db, `select count(*) from resources`,
				&where{conditions: []string{"kind = 'site'"}}, "",
			)
			if err != nil || n != want {
				t.Fatalf("round %d, %+v: %d sites, want %d: %v", i, c, n, want, err)
			}
		}
	}
	var generic int64
	err := tables.For(System).db.ask(t.Context(), func(b *pgx.Batch) {
		b.Queue(`select generic_plans from pg_prepared_statements where statement like 'select count(*) from resources%'`).QueryRow(
			func(r pgx.Row) error { return r.Scan(&generic) },
		)
	})
	if err != nil || generic == 0 {
		t.Fatalf("one plan was not used for several callers (%d times), so this proves nothing: %v", generic, err)
	}
}
