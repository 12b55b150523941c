package projections

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hostpanel/eventstore"
)

// Events of one commit change the read tables together: changes that differ in their
// values alone are one statement. The order of the log stays wherever it counts: of
// changes of one row, and where a rule looks at other rows.

// A rowForm is how a statement joins others of its form.
type rowForm struct {
	of      *Projection
	change  Change // the first one; the zero value: the statement of a [Rule], which goes alone
	text    string // alike for changes that differ in their values alone
	types   []string
	rows    [][]any // of arguments
	touched []touch
}

// Together joins the statements of the events of one commit, in the order of the log.
func (s Set) Together(all []eventstore.Statement) []eventstore.Statement {
	if len(all) < 2 {
		return all
	}
	g := newGrouping()
	joined := make([]eventstore.Statement, 0, len(all))
	for _, statement := range all {
		f := statement.Form.(*rowForm)
		after := 0
		for _, t := range f.touched {
			after = max(after, g.after(t))
		}
		at := g.first(f.text, after)
		if at == 0 || f.change.verb == 0 {
			joined = append(joined, statement)
			g.sets = append(g.sets, &changeSet{form: f.change, types: f.types})
			at = len(g.sets)
			g.forms[f.text] = append(g.forms[f.text], at)
		}
		g.sets[at-1].rows = append(g.sets[at-1].rows, f.rows...)
		for _, t := range f.touched {
			g.note(t, at)
		}
	}
	for i, set := range g.sets {
		if f := joined[i].Form.(*rowForm); len(set.rows) > len(f.rows) {
			joined[i] = unnested(f.many(), set.types, set.rows)
		}
	}
	return joined
}

// ofMany are the texts of statements over many rows, by those of one.
var ofMany sync.Map

func (f *rowForm) many() string {
	if text, known := ofMany.Load(f.text); known {
		return text.(string)
	}
	w := writer{tables: f.of.tables, live: true, many: true}
	text := w.one(f.change)
	ofMany.Store(f.text, text)
	return text
}

// changing is the statement of changes that differ in their values alone, as it is
// carried out with their event.
func (p *Projection) changing(changes []Change) eventstore.Statement {
	f := &rowForm{of: p, change: changes[0]}
	var sql string
	for _, c := range changes {
		w := writer{tables: p.tables, live: true}
		sql = w.one(c)
		f.types, f.rows, f.touched = w.types, append(f.rows, w.args), append(f.touched, p.held(c)...)
	}
	f.text = sql
	if f.change.verb == counts {
		f.text += " counting" // an upsert may have the same text, and no sums
	}
	s := eventstore.Statement{SQL: sql, Args: f.rows[0], Form: f}
	if len(changes) > 1 {
		together := unnested(f.many(), f.types, f.rows)
		s.SQL, s.Args = together.SQL, together.Args
	}
	return s
}

// checking is the statement of a rule, which may look at every row.
func (p *Projection) checking(rule string, args []any) eventstore.Statement {
	f := &rowForm{of: p, text: rule, rows: [][]any{args}}
	for _, name := range p.names {
		f.touched = append(f.touched, touch{name, "", reading})
	}
	return eventstore.Statement{SQL: rule, Args: args, Form: f}
}

// unique is the key of what the rules of a table hold: no row has it.
const unique = "\x00unique"

// held are the rows that a change touches, and what it does to values that may be there
// once. New rows take such values, removed ones free them. An update may do both.
func (p *Projection) held(c Change) []touch {
	touched := p.touched(c)
	for _, part := range append([]Change{c}, c.also...) {
		ruled := p.ruled[part.table]
		switch {
		case len(ruled) == 0:
		case part.verb == deletes:
			touched = append(touched, touch{part.table, unique, reading})
		case part.verb == updates && part.set.any(ruled), part.verb == upserts && part.or.any(ruled):
			touched = append(touched, touch{part.table, unique, writing})
		case part.verb != updates:
			touched = append(touched, touch{part.table, unique, adding})
		}
	}
	return touched
}

// any tells whether a row has one of these columns.
func (r Row) any(columns []string) bool {
	return slices.ContainsFunc(r, func(c Column) bool { return slices.Contains(columns, c.Name) })
}

var (
	uniqueIndex = regexp.MustCompile(`(?s)^create unique index \w+ on (\w+) (.*)$`)
	formula     = regexp.MustCompile(`generated always as`)
	oneOfATable = regexp.MustCompile(`^(constraint \w+ )?unique \(`)
	words       = regexp.MustCompile(`\w+`)
)

// ruledColumns are the columns of each table whose values may be there once. Those of
// which others are computed count as well.
func ruledColumns(rules []string, tables map[string]table) map[string][]string {
	held, formulas := map[string]string{}, map[string]string{}
	for _, sql := range rules {
		if index := uniqueIndex.FindStringSubmatch(sql); index != nil {
			held[index[1]] += index[2]
		}
		made := createTable.FindStringSubmatch(sql)
		if made == nil {
			continue
		}
		for _, part := range parted(sql[strings.Index(sql, "(")+1:]) {
			switch {
			case oneOfATable.MatchString(part):
				held[made[1]] += part
			case formula.MatchString(part):
				formulas[made[1]] += part
			}
		}
	}
	ruled := map[string][]string{}
	for name, text := range held {
		for _, column := range words.FindAllString(text+formulas[name], -1) {
			if tables[name].types[column] != "" && !slices.Contains(ruled[name], column) {
				ruled[name] = append(ruled[name], column)
			}
		}
	}
	return ruled
}

// unnested is a statement over rows of arguments, an array for each column.
func unnested(sql string, types []string, rows [][]any) eventstore.Statement {
	s := eventstore.Statement{Args: make([]any, len(types))}
	arrays, names, columns := make([]string, len(types)), make([]string, len(types)), make([]string, len(types))
	for i, typ := range types {
		values := make([]any, len(rows))
		for n, row := range rows {
			values[n] = row[i]
		}
		sent := typ
		if asText(typ, values) {
			sent = "text"
			for n, v := range values {
				values[n] = textual(v)
			}
		}
		s.Args[i], arrays[i], names[i] = values, fmt.Sprintf("$%d::%s[]", i+1, sent), fmt.Sprintf("a%d", i+1)
		columns[i] = names[i]
		if sent != typ {
			columns[i] += "::" + typ + " as " + names[i]
		}
	}
	// Apart from the statement, as a cast in a condition is leaky: Postgres would read all
	// rows that the caller may see before it compares keys.
	s.SQL = fmt.Sprintf(
		"with arg as materialized (select %s from unnest(%s) as sent (%s))", strings.Join(columns, ", "),
		strings.Join(arrays, ", "), strings.Join(names, ", "),
	)
	if rest, more := strings.CutPrefix(sql, "with "); more {
		s.SQL += ", " + rest
	} else {
		s.SQL += " " + sql
	}
	return s
}

// asText tells whether the values of a column travel as texts: an array of arrays is
// none, and a number or an id may be given as its text.
func asText(typ string, values []any) bool {
	if typ == "text" {
		return false
	}
	if typ == "numeric" || strings.HasSuffix(typ, "[]") {
		return true
	}
	for _, v := range values {
		if v != nil && reflect.TypeOf(v).Kind() == reflect.String {
			return true
		}
	}
	return false
}

// textual is a value as Postgres reads it; a list is one of texts.
func textual(v any) any {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer && !r.IsNil() {
		r = r.Elem()
	}
	switch {
	case !r.IsValid() || r.Kind() == reflect.Pointer, r.Kind() == reflect.Slice && r.IsNil():
		return nil
	case r.Kind() != reflect.Slice:
		return fmt.Sprint(r.Interface())
	}
	quoted := make([]string, r.Len())
	for i := range quoted {
		quoted[i] = `"` + elements.Replace(r.Index(i).String()) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// elements escapes an element of an array for its text.
var elements = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
