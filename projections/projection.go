// Package projections keeps the tables that callers read: the plans that are
// on offer, the state of every order, who may log in, what belongs to whom.
//
// Nothing here is the truth. Each table is what the log says: an event becomes
// changes of rows, carried out in the transaction that adds the event. So
// what a call has answered can be read back at once, and a unique index of a
// read table is a rule of the business. A table that was lost or whose
// definition has changed is built anew from the log (docs/read-tables.md).
package projections

import (
	"crypto/sha256"
	_ "embed" // statements.txt
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// A Projection is a read table, or a few that change together: how they are
// made and what each event does to them. Its queries stand in the same file,
// as methods of the reader of its area ([Scope]).
type Projection struct {
	name     string
	revision int
	names    []string // of the tables
	tables   map[string]table
	apart    map[string]string // see Apart
	rules    []string          // SQL that makes them, with the indexes that changes need
	indexes  []string          // SQL of the other indexes
	beside   string
	today    bool                 // see Today
	walled   []string             // tables whose rows have an owner
	ruled    map[string][]string  // columns of each table whose values may be there once
	handlers map[string][]Handler // by name of the event
}

// New declares a projection. The tables are the SQL that makes them, indexes
// included; names in it are not qualified, because a rebuild makes them in
// another schema, and no semicolon stands within a statement. It panics if they
// make no table.
func New(name, tables string, handlers ...Handler) *Projection {
	p := &Projection{name: name, tables: map[string]table{}, handlers: map[string][]Handler{}}
	for sql := range strings.SplitSeq(remark.ReplaceAllString(tables, ""), ";") {
		switch sql = strings.TrimSpace(sql); {
		case sql == "":
		case strings.HasPrefix(sql, "create index"):
			p.indexes = append(p.indexes, sql)
		default:
			p.rules = append(p.rules, sql)
		}
		if made := createTable.FindStringSubmatch(sql); made != nil {
			p.names = append(p.names, made[1])
			p.tables[made[1]] = tableOf(made[1], sql)
		}
	}
	if p.names == nil {
		panic("projections: " + name + " makes no table")
	}
	p.ruled = ruledColumns(p.rules, p.tables)
	for _, h := range handlers {
		p.handlers[h.event] = append(p.handlers[h.event], h)
	}
	return p
}

// Revision numbers what the fingerprint of the definition cannot see: values that
// Go code computes of an event. Raise it when that changes, and the table is built
// anew.
func (p *Projection) Revision(n int) *Projection { p.revision = n; return p }

// Beside is SQL ("create table if not exists …") for a table that stands
// beside the projection and holds what is no event. A rebuild keeps it.
func (p *Projection) Beside(sql string) *Projection { p.beside = sql; return p }

// LooksBy lets indexes stand from the beginning of a rebuild, because changes look for rows
// by them. The others are added at its end.
func (p *Projection) LooksBy(indexes ...string) *Projection {
	for _, name := range indexes {
		i := slices.IndexFunc(p.indexes, func(sql string) bool { return strings.HasPrefix(sql, "create index "+name+" ") })
		p.rules, p.indexes = append(p.rules, p.indexes[i]), slices.Delete(p.indexes, i, i+1)
	}
	return p
}

// Besides are the SQL of all tables that stand beside read tables (see
// [Projection.Beside]).
func Besides() (sql []string) {
	for _, p := range All {
		if p.beside != "" {
			sql = append(sql, p.beside)
		}
	}
	return sql
}

// Name tells operators which table is meant.
func (p *Projection) Name() string { return p.name }

// A Handler says what one event does to a table.
type Handler struct {
	event   string
	changes func(eventstore.RecordedEvent) []Change
	rule    string // SQL of a rule, which changes nothing
	args    func(eventstore.RecordedEvent) []any
	taken   map[string]error
	takes   func(eventstore.RecordedEvent) map[string]error
}

// refusingBy is [Handler.Unique] where the refusal depends on the event.
func (h Handler) refusingBy(takes func(eventstore.RecordedEvent) map[string]error) Handler {
	h.takes = takes
	return h
}

// On is the handler of the event E: what it changes. The zero [Change] means that
// this one event does not concern the table. A change uses the tables of its own
// projection alone.
func On[E domain.Event](change func(eventstore.RecordedEvent, E) Change) Handler {
	return OnEach(func(r eventstore.RecordedEvent, e E) []Change {
		if c := change(r, e); c.verb != 0 {
			return []Change{c}
		}
		return nil
	})
}

// OnEach is [On] for an event that changes several rows in the same way.
func OnEach[E domain.Event](changes func(eventstore.RecordedEvent, E) []Change) Handler {
	var zero E
	return Handler{event: zero.EventName(), changes: func(r eventstore.RecordedEvent) []Change { return changes(r, r.Event.(E)) }}
}

// Rule is a rule about the moment of the event E: a statement that changes no row,
// but breaks a condition if the rule is broken. A rebuild, in which what has
// happened has happened, leaves it out. Nil arguments mean that there is no rule for
// this one event.
func Rule[E domain.Event](sql string, args func(eventstore.RecordedEvent, E) []any) Handler {
	var zero E
	return Handler{event: zero.EventName(), rule: sql, args: func(r eventstore.RecordedEvent) []any { return args(r, r.Event.(E)) }}
}

// Unique says how a caller is refused whose change breaks the named unique
// index, or condition on a row. Nothing has happened then, since the table
// changes with the log.
func (h Handler) Unique(index string, refusal error) Handler {
	return h.refusing(map[string]error{index: refusal})
}

func (h Handler) refusing(taken map[string]error) Handler {
	all := maps.Clone(taken)
	maps.Copy(all, h.taken)
	h.taken = all
	return h
}

// statements are what the event does, as it is carried out with it.
func (h Handler) statements(p *Projection, r eventstore.RecordedEvent) []eventstore.Statement {
	var s eventstore.Statement
	if h.rule != "" {
		args := h.args(r)
		if args == nil {
			return nil
		}
		s = p.checking(h.rule, args)
	} else {
		changes := h.changes(r)
		if len(changes) == 0 {
			return nil
		}
		s = p.changing(changes)
	}
	if s.Taken = h.taken; h.takes != nil {
		s.Taken = h.takes(r)
	}
	return []eventstore.Statement{s}
}

// Project returns what the event does to the tables, as it is carried out with it.
func (p *Projection) Project(r eventstore.RecordedEvent) []eventstore.Statement {
	var statements []eventstore.Statement
	for _, h := range p.handlers[r.Event.EventName()] {
		statements = append(statements, h.statements(p, r)...)
	}
	return statements
}

// Changes returns what the event does to the tables, as data.
func (p *Projection) Changes(r eventstore.RecordedEvent) []Change {
	var changes []Change
	for _, h := range p.handlers[r.Name] {
		if h.rule == "" {
			changes = append(changes, h.changes(r)...)
		}
	}
	return changes
}

// statements are those that the examples of all events make, a line each
// (statements_test.go). Fingerprints cover them.
//
//go:embed statements.txt
var statements string

// fingerprint changes with the definition.
func (p *Projection) fingerprint() string {
	definition := fmt.Appendf(nil, "%s\n%d\n%q\n%q\n%s\n", p.name, p.revision, p.rules, p.indexes, p.beside)
	for _, fact := range slices.Sorted(maps.Keys(p.handlers)) {
		for _, handler := range p.handlers[fact] {
			definition = fmt.Appendf(definition, "%s\n%s\n", fact, handler.rule)
		}
	}
	for line := range strings.Lines(statements) {
		if strings.HasPrefix(line, p.name+" ") {
			definition = append(definition, line...)
		}
	}
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

// A Set is several projections that follow the same log.
type Set []*Projection

// Fingerprints change with the definitions of the tables.
func (s Set) Fingerprints() (all []string) {
	for _, p := range s {
		all = append(all, p.fingerprint())
	}
	return all
}

// Projector lets the store keep all of them in step with the log.
func Projector() eventstore.Projector { return All }

// Project returns what the event does to all tables.
func (s Set) Project(r eventstore.RecordedEvent) []eventstore.Statement {
	var statements []eventstore.Statement
	for _, p := range s {
		statements = append(statements, p.Project(r)...)
	}
	return statements
}

func (s Set) named(name string) (Set, error) {
	i := slices.IndexFunc(s, func(p *Projection) bool { return p.name == name })
	if i < 0 {
		return nil, domain.Refuse(domain.NotFound, "There is no read table %q.", name)
	}
	return s[i : i+1], nil
}

// CheckName refuses a name that no read table has.
func CheckName(name string) error {
	_, err := All.named(name)
	return err
}

// Names are those of all read tables, as operators know them.
func Names() []string { return All.names() }

// tables lists the names of the tables of all projections of the set.
func (s Set) tables() (names []string) {
	for _, p := range s {
		names = append(names, p.names...)
	}
	return names
}

func (s Set) names() []string {
	names := make([]string, len(s))
	for i, p := range s {
		names[i] = p.name
	}
	return names
}
