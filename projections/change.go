package projections

import (
	"fmt"
	"regexp"
	"strings"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// A Change is what an event does to rows of one table, as data: the statement for
// one event, the one for many, and the COPY are made of it (statement.go, sets.go).
type Change struct {
	verb  verb
	table string
	key   Row      // the rows whose columns have these values
	set   Row      // what their columns become
	or    Row      // of an upsert: what becomes of a row that exists; nil: it stays
	from  []source // rows whose columns are used
	when  []Expr   // otherwise nothing changes
	also  []Change // made at once: each sees the tables as they were before
	reads []source // rows that have to exist before
}

// A verb is the sort of a change.
type verb int

const (
	inserts verb = iota + 1
	updates
	upserts
	counts
	deletes
)

// A Row is columns and their values. A value is what Postgres stores, or an [Expr].
type Row []Column

// A Column is one column and its value.
type Column struct {
	Name string
	To   any
}

// names are those of the columns.
func (r Row) names() []string {
	names := make([]string, len(r))
	for i, c := range r {
		names[i] = c.Name
	}
	return names
}

// A source is a row of another table of the projection, found by its key. Its
// columns are used as [of] the alias.
type source struct {
	alias, table string
	key          Row
	left         bool // the change takes place without it as well
}

// insert adds a row that does not exist.
func insert(table string, row Row) Change { return Change{verb: inserts, table: table, set: row} }

// update changes the rows with these values.
func update(table string, key, set Row) Change {
	return Change{verb: updates, table: table, key: key, set: set}
}

// upsert adds the row with this key, or changes it. In or, [excluded] is what the new
// row would have had. An empty or leaves it as it is.
func upsert(table string, key, set, or Row) Change {
	return Change{verb: upserts, table: table, key: key, set: set, or: or}
}

// count adds to the figures of the row with this key, which is made if need be. The
// figures of many changes are added up.
func count(table string, key, figures Row) Change {
	return Change{verb: counts, table: table, key: key, set: figures}
}

// remove deletes the rows with these values.
func remove(table string, key Row) Change { return Change{verb: deletes, table: table, key: key} }

// using takes a row of another table along. Without it nothing changes.
func (c Change) using(alias, table string, key Row) Change {
	c.from = append(c.from, source{alias, table, key, false})
	return c
}

// usingAny is [Change.using] with a row that may be missing.
func (c Change) usingAny(alias, table string, key Row) Change {
	c.from = append(c.from, source{alias, table, key, true})
	return c
}

// provided is a condition of the change.
func (c Change) provided(condition Expr) Change {
	c.when = append(c.when, condition)
	return c
}

// with makes another change at once.
func (c Change) with(other Change) Change {
	c.also = append(c.also, other)
	return c
}

// after says that another row has to exist before, for a foreign key.
func (c Change) after(table string, key Row) Change {
	c.reads = append(c.reads, source{table: table, key: key})
	return c
}

// its is the key of the row of the event's stream.
func its(at eventstore.RecordedEvent) Row { return Row{{"id", at.Stream.ID}} }

// changed is what becomes of a row, with the time and the version of the event.
func changed(at eventstore.RecordedEvent, set Row) Row {
	return append(set, Column{"updated_at", now}, Column{"version", at.Version})
}

// A table is what a definition says of one: its columns with their types, and its
// primary key.
type table struct {
	name  string
	types map[string]string
	key   []string
}

var (
	createTable = regexp.MustCompile(`^create table (\w+)`)
	remark      = regexp.MustCompile(`--[^\n]*`)
	primaryKey  = regexp.MustCompile(`^primary key \(([^)]*)\)`)
	noColumn    = regexp.MustCompile(`^(primary|unique|constraint|check|foreign)\b`)
)

// tableOf reads the definition of a table.
func tableOf(name, sql string) table {
	t := table{name: name, types: map[string]string{}}
	for _, part := range parted(sql[strings.Index(sql, "(")+1:]) {
		if key := primaryKey.FindStringSubmatch(part); key != nil {
			t.key = strings.Split(strings.ReplaceAll(key[1], " ", ""), ",")
		}
		words := strings.Fields(part)
		if len(words) < 2 || noColumn.MatchString(part) {
			continue
		}
		t.types[words[0]] = words[1]
		if strings.Contains(part, "primary key") {
			t.key = []string{words[0]}
		}
	}
	return t
}

// parted are the parts of a list in parentheses, up to its end.
func parted(list string) (parts []string) {
	depth, begin := 0, 0
	for i, letter := range list {
		switch {
		case letter == '(':
			depth++
		case letter == ')' && depth > 0:
			depth--
		case depth == 0 && (letter == ',' || letter == ')'):
			parts = append(parts, strings.TrimSpace(list[begin:i]))
			begin = i + 1
			if letter == ')' {
				return parts
			}
		}
	}
	return parts
}

// erasing is what a table forgets of the person whose subject it is: as much
// as a rebuild would no longer find, once the keys are gone (docs/log.md,
// "Personal data"). Invoices are kept as long as the law demands.
func erasing(table string, set Row) Handler {
	return On(func(_ eventstore.RecordedEvent, e account.SubjectErased) Change {
		return update(table, Row{{"subject", e.Subject}}, set)
	})
}

// withoutPersonal is a spec without the personal fields of its kind.
func withoutPersonal() Expr {
	spec := keep
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			spec = either(is(col("kind"), word(kind.Name)), without(kind.Personal...), spec)
		}
	}
	return spec
}

// personalName is the condition on names that are a personal field.
func personalName() Expr {
	condition := no
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			condition = or(condition, and(is(col("kind"), word(kind.Name)), among(col("field"), kind.Personal...)))
		}
	}
	return condition
}

// personalFields are the branches of a case over kinds of resources: the names
// of their personal fields.
func personalFields() string {
	var branches strings.Builder
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			fmt.Fprintf(&branches, " when '%s' then '{%s}'::text[]", kind.Name, strings.Join(kind.Personal, ","))
		}
	}
	return branches.String()
}

// An Expr is a value that depends on the row, or on the time of the event. The
// functions below are the whole vocabulary.
type Expr struct {
	*function
	name     string // of a column, or an alias
	text     string // of a literal
	operands []any  // values or expressions
}

// A function is one sort of expression.
type function struct {
	sql    string // with %[1]s for the first operand
	typ    string // of its result; "": that of the column it is for
	values string // type of operands that are values; "": that of the expression beside them, or of the column
	beside bool   // the type of values is that of the expression beside them
}

var (
	timeOfEvent = &function{typ: "timestamptz"}
	presentOf   = &function{} // a column of the row
	setColumn   = &function{} // the column that is set
	givenOf     = &function{} // a column of the row that an upsert would have added
	foundOf     = &function{} // a column of a source
	literal     = &function{}
	rowsOf      = &function{typ: "bigint"}
)

// now is the time of the event.
var now = Expr{function: timeOfEvent}

// keep is the value that the column has.
var keep = Expr{function: setColumn}

// col is another column of the row.
func col(name string) Expr { return Expr{function: presentOf, name: name} }

// excluded is a column of the row that an [upsert] would have added.
func excluded(name string) Expr { return Expr{function: givenOf, name: name} }

// of is a column of a source.
func of(alias, name string) Expr { return Expr{function: foundOf, name: name, text: alias} }

// word is a text that is part of the program.
func word(text string) Expr {
	return Expr{function: literal, text: "'" + strings.ReplaceAll(text, "'", "''") + "'"}
}

// written is a condition in SQL that is part of the program.
func written(sql string) Expr { return Expr{function: literal, text: sql} }

var (
	choice     = &function{sql: `case when %[1]s then %[2]s else %[3]s end`}
	equality   = &function{sql: `%[1]s = %[2]s`, typ: "boolean", beside: true}
	earlier    = &function{sql: `%[1]s < %[2]s`, typ: "boolean", beside: true}
	absence    = &function{sql: `%[1]s is null`, typ: "boolean"}
	negation   = &function{sql: `not (%[1]s)`, typ: "boolean", values: "boolean"}
	both       = &function{sql: `(%[1]s and %[2]s)`, typ: "boolean", values: "boolean"}
	oneOf      = &function{sql: `(%[1]s or %[2]s)`, typ: "boolean", values: "boolean"}
	inclusion  = &function{sql: `%[1]s in (%[2]s)`, typ: "boolean"}
	containing = &function{sql: `%[2]s = any(%[1]s)`, typ: "boolean", values: "text"}
	addition   = &function{sql: `%[1]s + %[2]s`, beside: true}
	difference = &function{sql: `%[1]s - %[2]s`, beside: true}
	merging    = &function{sql: `%[1]s || %[2]s`, typ: "jsonb", values: "jsonb"}
	omission   = &function{sql: `%[1]s - %[2]s::text[]`, typ: "jsonb"}
	copying    = &function{sql: `jsonb_build_object(%[2]s, %[1]s -> %[3]s)`, typ: "jsonb"}
	increment  = &function{sql: `jsonb_build_object(%[2]s, coalesce((%[1]s ->> %[2]s)::int, 0) + 1)`, typ: "jsonb"}
	appending  = &function{sql: `%[1]s || %[2]s`, typ: "text[]", values: "text"}
	removing   = &function{sql: `array_remove(%[1]s, %[2]s)`, typ: "text[]", values: "text"}
	joining    = &function{sql: `array(select distinct x from unnest(%[1]s || %[2]s) x order by x)`, typ: "text[]", values: "text"}
	day        = &function{sql: `(%[1]s at time zone 'UTC')::date`, typ: "date"}
)

func (f *function) call(operands ...any) Expr { return Expr{function: f, operands: operands} }

// either is one value under a condition, else another.
func either(condition Expr, then, otherwise any) Expr { return choice.call(condition, then, otherwise) }

func is(a Expr, b any) Expr { return equality.call(a, b) }
func before(a, b any) Expr  { return earlier.call(a, b) }
func missing(a Expr) Expr   { return absence.call(a) }
func not(a Expr) Expr       { return negation.call(a) }
func and(a, b Expr) Expr    { return both.call(a, b) }
func or(a, b Expr) Expr     { return oneOf.call(a, b) }

// among tells whether a text is one of these.
func among[T ~string](a Expr, texts ...T) Expr {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = word(string(text)).text
	}
	return inclusion.call(a, Expr{function: literal, text: strings.Join(quoted, ", ")})
}

// has tells whether a list contains a text.
func has(list Expr, text any) Expr { return containing.call(list, text) }

// plus is a column of figures and a number.
func plus(column string, n int) Expr { return addition.call(col(column), number(n)) }

func number(n int) Expr       { return Expr{function: literal, text: fmt.Sprint(n)} }
func less(a any, b Expr) Expr { return difference.call(a, b) }

// merged is a JSON object with the fields of another.
func merged(with any) Expr { return merging.call(keep, with) }

// without is a JSON object without some fields.
func without(fields ...string) Expr {
	return omission.call(keep, word("{"+strings.Join(fields, ",")+"}"))
}

// added, removed and joined are lists of texts: with one more at the end, without
// it, and in order with it once.
func added(text any) Expr   { return appending.call(keep, text) }
func removed(text any) Expr { return removing.call(keep, text) }
func joined(text any) Expr  { return joining.call(keep, text) }

// rows is the number of rows of a table that meet a condition; its columns are [of]
// the alias.
func rows(alias, table string, condition Expr) Expr {
	return Expr{function: rowsOf, name: table, text: alias, operands: []any{condition}}
}

// no and null are values that are part of the program.
var no, null = Expr{function: literal, text: "false"}, Expr{function: literal, text: "null"}
