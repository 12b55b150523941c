// Package projections keeps the tables that callers read: the plans that are
// on offer, the state of every order, who may log in, what belongs to whom.
//
// Nothing here is the truth. Each table is what the log says, one SQL
// statement per event, carried out in the transaction that adds the event. So
// what a call has answered can be read back at once, and a unique index of a
// read table is a rule of the business. A table that was lost or whose
// definition has changed is built anew from the log (docs/read-tables.md).
package projections

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
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
	rules    []string // SQL that makes them, with the indexes that are rules
	indexes  []string // SQL of the other indexes
	beside   string
	walled   []string             // tables whose rows have an owner
	handlers map[string][]Handler // by name of the event
}

var createTable = regexp.MustCompile(`^create table (\w+)`)

// New declares a projection. The tables are the SQL that makes them, indexes
// included; names in it are not qualified, because a rebuild makes them in
// another schema, and no semicolon stands within a statement. It panics if they
// make no table.
func New(name, tables string, handlers ...Handler) *Projection {
	p := &Projection{name: name, handlers: map[string][]Handler{}}
	for sql := range strings.SplitSeq(tables, ";") {
		switch sql = strings.TrimSpace(sql); {
		case sql == "":
		case strings.HasPrefix(sql, "create index"):
			p.indexes = append(p.indexes, sql)
		default:
			p.rules = append(p.rules, sql)
		}
		if made := createTable.FindStringSubmatch(sql); made != nil {
			p.names = append(p.names, made[1])
		}
	}
	if p.names == nil {
		panic("projections: " + name + " makes no table")
	}
	for _, h := range handlers {
		p.handlers[h.fact] = append(p.handlers[h.fact], h)
	}
	return p
}

// Revision numbers what the fingerprint of the definition cannot see: the Go
// code that picks the arguments. Raise it when that changes, and the table is
// built anew.
func (p *Projection) Revision(n int) *Projection { p.revision = n; return p }

// Beside is SQL ("create table if not exists …") for a table that stands
// beside the projection and holds what is no event. A rebuild keeps it.
func (p *Projection) Beside(sql string) *Projection { p.beside = sql; return p }

// Name tells operators which table is meant.
func (p *Projection) Name() string { return p.name }

// A Handler says what one event does to a table.
type Handler struct {
	fact  string
	sql   string
	args  func(eventstore.RecordedEvent) []any
	taken map[string]error
	takes func(eventstore.RecordedEvent) map[string]error
	now   bool
}

// refusingBy is [Handler.Unique] where the refusal depends on the event.
func (h Handler) refusingBy(takes func(eventstore.RecordedEvent) map[string]error) Handler {
	h.takes = takes
	return h
}

// Now says that the handler is a rule about the moment of the change. A
// rebuild, in which what has happened has happened, leaves it out.
func (h Handler) Now() Handler { h.now = true; return h }

// On is the handler of the event E: the statement, and its arguments out of the
// event. Nil arguments mean that this one event does not concern the table. The
// statement reads and writes the tables of its own projection alone; the time
// of the event is recorded_at().
func On[E domain.Event](sql string, args func(eventstore.RecordedEvent, E) []any) Handler {
	var zero E
	return Handler{fact: zero.EventName(), sql: sql, args: func(r eventstore.RecordedEvent) []any {
		return args(r, r.Event.(E))
	}}
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

func (h Handler) statement(r eventstore.RecordedEvent) (eventstore.Statement, bool) {
	args, taken := h.args(r), h.taken
	if args != nil && h.takes != nil {
		taken = h.takes(r)
	}
	return eventstore.Statement{SQL: h.sql, Args: args, Taken: taken}, args != nil
}

// Project returns what the event does to the tables.
func (p *Projection) Project(r eventstore.RecordedEvent) []eventstore.Statement {
	return p.project(r, true)
}

func (p *Projection) project(r eventstore.RecordedEvent, now bool) []eventstore.Statement {
	var statements []eventstore.Statement
	for _, h := range p.handlers[r.Event.EventName()] {
		if h.now && !now {
			continue
		}
		if s, concerned := h.statement(r); concerned {
			statements = append(statements, s)
		}
	}
	return statements
}

// fingerprint changes with the definition.
func (p *Projection) fingerprint() string {
	definition := fmt.Appendf(nil, "%s\n%d\n%q\n%q\n%s\n", p.name, p.revision, p.rules, p.indexes, p.beside)
	for _, fact := range slices.Sorted(maps.Keys(p.handlers)) {
		for _, handler := range p.handlers[fact] {
			definition = fmt.Appendf(definition, "%s\n%s\n", fact, handler.sql)
		}
	}
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

// A Set is several projections that follow the same log.
type Set []*Projection

// Projector lets the store keep all of them in step with the log.
func Projector() eventstore.Projector { return All }

// Project returns what the event does to all tables.
func (s Set) Project(r eventstore.RecordedEvent) []eventstore.Statement { return s.project(r, true) }

func (s Set) project(r eventstore.RecordedEvent, now bool) []eventstore.Statement {
	var statements []eventstore.Statement
	for _, p := range s {
		statements = append(statements, p.project(r, now)...)
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

func (s Set) names() []string {
	names := make([]string, len(s))
	for i, p := range s {
		names[i] = p.name
	}
	return names
}
