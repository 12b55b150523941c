package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Tracer hears what a pool asks: each statement, and each round trip. Both may be nil.
type Tracer struct {
	Statement func(sql string, args []any)
	Trip      func()
}

// Traced is another pool like the given one, with at most so many connections, which a
// tracer hears.
func Traced(t testing.TB, pool *pgxpool.Pool, conns int32, tracer *Tracer) *pgxpool.Pool {
	t.Helper()
	config := pool.Config()
	config.ConnConfig.Tracer, config.MaxConns = tracer, conns
	traced, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	closes(t, config.ConnString(), traced)
	return traced
}

func (h *Tracer) statement(sql string, args []any) {
	if h.Statement != nil {
		h.Statement(sql, args)
	}
}

func (h *Tracer) trip() {
	if h.Trip != nil {
		h.Trip()
	}
}

// TraceQueryStart implements [pgx.QueryTracer].
func (h *Tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	h.trip()
	h.statement(q.SQL, q.Args)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*Tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (h *Tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	h.trip()
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (h *Tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	h.statement(q.SQL, q.Args)
}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*Tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A Witness notes the texts of statements in their order.
type Witness struct {
	mu   sync.Mutex
	seen []string
}

// Note notes a statement.
func (w *Witness) Note(sql string, _ []any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, strings.Join(strings.Fields(sql), " "))
}

// Taken are the statements since the last time.
func (w *Witness) Taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.seen = nil }()
	return w.seen
}

// Statements are the texts of what was asked, each once.
type Statements struct {
	mu    sync.Mutex
	texts map[string]bool
}

// Note notes a statement.
func (s *Statements) Note(sql string, _ []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]bool{}
	}
	s.texts[sql] = true
}

var (
	planned   = regexp.MustCompile(`(?i)^\s*(select|with|insert|update|delete)\s`)
	parameter = regexp.MustCompile(`\$[0-9]+`)
)

// ReadNoWholeTable fails the test if there is a statement that reads a table, or an index of
// all its rows, from the beginning to the end: it becomes slower with each day. Tables that do
// not grow are excepted.
func (s *Statements) ReadNoWholeTable(t testing.TB, pool *pgxpool.Pool, small ...string) {
	t.Helper()
	s.mu.Lock()
	texts := slices.Sorted(maps.Keys(s.texts))
	s.mu.Unlock()
	indexes := wholeIndexes(t, pool)
	known := 0
	for _, text := range texts {
		if !planned.MatchString(text) {
			continue
		}
		known++
		plan, err := genericPlan(t.Context(), pool, text)
		if err != nil {
			t.Errorf("%v: %s", err, text)
			continue
		}
		for _, table := range plan.whole(indexes, false) {
			if !slices.Contains(small, table) {
				t.Errorf("no index serves what is read of %s:\n%s", table, text)
			}
		}
	}
	t.Logf("%d statements have plans", known)
}

// A plan is a node of what EXPLAIN says in JSON.
type plan struct {
	Kind  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Cond  string `json:"Index Cond"`
	Plans []plan
}

// whole are the tables that are read from the beginning to the end, or by all of an index:
// its first column is not asked for. A limit ends what is read in the order of an index.
func (p plan) whole(indexes map[string]index, limited bool) (tables []string) {
	switch p.Kind {
	case "Seq Scan":
		tables = append(tables, p.Table)
	case "Index Scan", "Index Only Scan", "Bitmap Index Scan":
		if i, known := indexes[p.Index]; known && !limited && !i.column.MatchString(p.Cond) {
			tables = append(tables, i.table)
		}
	case "Limit":
		limited = true
	case "Sort", "Incremental Sort", "Aggregate", "Hash", "Materialize":
		limited = false
	}
	for _, below := range p.Plans {
		tables = append(tables, below.whole(indexes, limited)...)
	}
	return tables
}

// An index is known by its table and by how a condition names its first column.
type index struct {
	table  string
	column *regexp.Regexp
}

// wholeIndexes are the indexes of all rows. Others are read whole for the sake of some rows.
func wholeIndexes(t testing.TB, pool *pgxpool.Pool) map[string]index {
	t.Helper()
	rows, err := pool.Query(t.Context(), `select c.relname, i.indrelid::regclass::text, trim(both '()'
		from pg_get_indexdef(i.indexrelid, 1, true))
		from pg_index i join pg_class c on c.oid = i.indexrelid where i.indpred is null`)
	if err != nil {
		t.Fatal(err)
	}
	all, name, table, column := map[string]index{}, "", "", ""
	if _, err := pgx.ForEachRow(rows, []any{&name, &table, &column}, func() error {
		all[name] = index{table, regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(column) + `(\W|$)`)}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// genericPlan is the plan of a statement for parameters that are not known, by the settings of
// the panel's pools: a whole table is read only for want of an index.
func genericPlan(ctx context.Context, pool *pgxpool.Pool, text string) (plan, error) {
	most := 0
	for _, p := range parameter.FindAllString(text, -1) {
		var n int
		_, _ = fmt.Sscanf(p, "$%d", &n)
		most = max(most, n)
	}
	execute := "execute planned"
	if most > 0 {
		execute += "(null" + strings.Repeat(", null", most-1) + ")"
	}
	var said []struct{ Plan plan }
	err := pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if _, err := conn.Exec(ctx, "prepare planned as "+text); err != nil {
			return err
		}
		err := conn.QueryRow(ctx, "explain (format json) "+execute, pgx.QueryExecModeSimpleProtocol).Scan(&said)
		_, left := conn.Exec(ctx, "deallocate planned")
		return errors.Join(err, left)
	})
	if err != nil || len(said) == 0 {
		return plan{}, err
	}
	return said[0].Plan, nil
}
