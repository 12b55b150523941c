package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/eventstore"
)

// A window is a part of the log that a rebuild carries into the new tables in one
// transaction: its changes in as few statements as keep their order where it counts.
type window struct {
	events   []eventstore.RecordedEvent
	position int64        // of the last event
	sets     []*changeSet // nil: the changes are not sorted yet
}

const (
	windowSize = 1000 // events
	fewRows    = 20   // below which a COPY is not worth its round trips
)

// A changeSet are changes that differ in their values alone: one statement, or one COPY.
type changeSet struct {
	form  Change
	sql   string
	types []string
	rows  [][]any
	names []string // of the events
}

// copies tells whether the set are new rows with nothing but values.
func (s *changeSet) copies() bool {
	c := s.form
	if c.verb != inserts || len(c.from)+len(c.when)+len(c.also) > 0 || len(s.rows) < fewRows {
		return false
	}
	return !slices.ContainsFunc(c.set, func(column Column) bool {
		e, is := column.To.(Expr)
		return is && e.function != timeOfEvent
	})
}

// changeGroups sort changes into sets. Changes of the same row stay in their order.
type changeGroups struct {
	sets   []*changeSet
	forms  map[string][]int   // the sets of each form, in order
	rows   map[string]touches // by table and key
	tables map[string]*tableTouches
}

func newGrouping() *changeGroups {
	return &changeGroups{forms: map[string][]int{}, rows: map[string]touches{}, tables: map[string]*tableTouches{}}
}

// A touch is a row that a change writes, adds figures to, or reads.
type touch struct {
	table, key string // "": which row is not known
	how        int
}

const (
	reading = iota
	adding
	writing
)

// touches are the last sets, counted from 1, that read, added to and wrote a row.
type touches [writing + 1]int

// tableTouches are those of any row of a table, and of changes whose row is not known.
type tableTouches struct{ any, unknown touches }

// before is the last set that a touch has to come after. Figures are added in any order.
func (t touches) before(how int) int {
	switch how {
	case reading:
		return max(t[adding], t[writing])
	case adding:
		return max(t[reading], t[writing])
	}
	return max(t[reading], t[adding], t[writing])
}

func (g *changeGroups) add(p *Projection, c Change, event *eventstore.RecordedEvent) {
	w := writer{tables: p.tables, many: true, at: event.RecordedAt}
	sql := w.one(c)
	touched := p.touched(c)
	after := 0
	for _, t := range touched {
		after = max(after, g.after(t))
	}
	at := g.first(sql, after)
	if at == 0 {
		g.sets = append(g.sets, &changeSet{form: c, sql: sql, types: w.types})
		at = len(g.sets)
		g.forms[sql] = append(g.forms[sql], at)
	}
	set := g.sets[at-1]
	set.rows, set.names = append(set.rows, w.args), append(set.names, event.Name)
	for _, t := range touched {
		g.note(t, at)
	}
}

// first is the first set of a form behind another one; 0: there is none.
func (g *changeGroups) first(form string, after int) int {
	sets := g.forms[form]
	i, _ := slices.BinarySearch(sets, after+1)
	if i == len(sets) {
		return 0
	}
	return sets[i]
}

func (g *changeGroups) after(t touch) int {
	table, known := g.tables[t.table]
	switch {
	case !known:
		return 0
	case t.key == "":
		return max(table.any.before(t.how), table.unknown.before(t.how))
	}
	return max(g.rows[t.table+" "+t.key].before(t.how), table.unknown.before(t.how))
}

func (g *changeGroups) note(t touch, at int) {
	table, known := g.tables[t.table]
	if !known {
		table = &tableTouches{}
		g.tables[t.table] = table
	}
	table.any[t.how] = max(table.any[t.how], at)
	if t.key == "" {
		table.unknown[t.how] = max(table.unknown[t.how], at)
		return
	}
	row := g.rows[t.table+" "+t.key]
	row[t.how] = max(row[t.how], at)
	g.rows[t.table+" "+t.key] = row
}

// touched are the rows that a change writes and reads.
func (p *Projection) touched(c Change) []touch {
	how, key := writing, c.key
	if c.verb == counts {
		how = adding
	}
	if c.verb == inserts {
		key = c.set
	}
	all := []touch{{c.table, p.rowKey(c.table, key), how}}
	for _, s := range slices.Concat(c.from, c.reads) {
		all = append(all, touch{s.table, p.rowKey(s.table, s.key), reading})
	}
	for _, other := range c.also {
		all = append(all, p.touched(other)...)
	}
	return all
}

// rowKey names a row by the columns of its primary key, or by those that keep its
// changes apart; blank if they are not all known.
func (p *Projection) rowKey(table string, key Row) string {
	columns := p.tables[table].key
	if apart, is := p.apart[table]; is {
		columns = []string{apart}
	}
	var parts []string
	for _, name := range columns {
		i := slices.IndexFunc(key, func(c Column) bool { return c.Name == name })
		if i < 0 {
			return ""
		}
		value := key[i].To
		if e, is := value.(Expr); is {
			if e.function != literal {
				return ""
			}
			value = strings.Trim(e.text, "'")
		}
		parts = append(parts, fmt.Sprint(value))
	}
	return strings.Join(parts, " ")
}

// Apart says that the rows of a table with the same value in a column change
// together, where handlers change several rows of one holder at once.
func (p *Projection) Apart(table, column string) *Projection {
	if p.apart == nil {
		p.apart = map[string]string{}
	}
	p.apart[table] = column
	return p
}

// apply carries a window into the new tables. Where a rule is broken, it tells the
// event by carrying out one change after the other. That may also succeed: a rule may
// hold in the order of the log alone.
func (r *rebuild) apply(ctx context.Context, tx pgx.Tx, w *window) error {
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return r.inSets(ctx, tx, w) })
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !strings.HasPrefix(pg.Code, "23") {
		return err
	}
	return r.oneByOne(ctx, tx, w)
}

func (r *rebuild) inSets(ctx context.Context, tx pgx.Tx, w *window) error {
	r.sort(w)
	b := &setSender{tx: tx}
	for _, set := range w.sets {
		if err := b.send(ctx, set); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// sort sorts the changes of a window into sets.
func (r *rebuild) sort(w *window) {
	if w.sets != nil {
		return
	}
	g := newGrouping()
	r.eachChange(w, func(p *Projection, c Change, event *eventstore.RecordedEvent) { g.add(p, c, event) })
	w.sets = g.sets
}

// eachChange goes through the changes of a window, for each table those that an earlier
// rebuild has not made.
func (r *rebuild) eachChange(w *window, do func(*Projection, Change, *eventstore.RecordedEvent)) {
	for i := range w.events {
		event := &w.events[i]
		for _, part := range r.parts {
			if event.Position <= part.made {
				continue
			}
			for _, c := range part.Changes(*event) {
				do(part.Projection, c, event)
			}
		}
	}
}

// A setSender sends sets, those between two COPYs in one round trip.
type setSender struct {
	tx    pgx.Tx
	batch pgx.Batch
	names []string // of the first event of each statement
}

func (s *setSender) send(ctx context.Context, set *changeSet) error {
	if !set.copies() {
		statement := unnested(set.sql, set.types, set.rows)
		s.batch.Queue(statement.SQL, statement.Args...)
		s.names = append(s.names, set.names[0])
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	_, err := s.tx.CopyFrom(ctx, pgx.Identifier{set.form.table}, set.form.set.names(), pgx.CopyFromRows(set.rows))
	if err != nil {
		return fmt.Errorf("copy what %s adds: %w", set.names[0], err)
	}
	return nil
}

func (s *setSender) flush(ctx context.Context) error {
	if s.batch.Len() == 0 {
		return nil
	}
	defer func() { s.batch, s.names = pgx.Batch{}, nil }()
	results := s.tx.SendBatch(ctx, &s.batch)
	for _, name := range s.names {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return fmt.Errorf("apply %s: %w", name, err)
		}
	}
	return results.Close()
}

// oneByOne carries out one change after the other, as they were carried out with
// their events.
func (r *rebuild) oneByOne(ctx context.Context, tx pgx.Tx, w *window) (err error) {
	r.eachChange(w, func(p *Projection, c Change, event *eventstore.RecordedEvent) {
		if err != nil {
			return
		}
		single := writer{tables: p.tables, at: event.RecordedAt}
		sql := single.one(c)
		if _, failed := tx.Exec(ctx, sql, single.args...); failed != nil {
			err = fmt.Errorf("apply %s at position %d: %w", event.Name, event.Position, failed)
		}
	})
	return err
}
