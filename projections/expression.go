package projections

import (
	"fmt"
	"strings"
)

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
