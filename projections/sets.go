package projections

import (
	"fmt"
	"reflect"
	"strings"

	"hostpanel/eventstore"
)

// together is the statement of several changes that differ in their values alone,
// as it is carried out with their event.
func (p *Projection) together(changes []Change) eventstore.Statement {
	w := writer{tables: p.tables, live: true, many: true}
	sql := w.one(changes[0])
	rows := [][]any{w.args}
	for _, c := range changes[1:] {
		other := writer{tables: p.tables, live: true, many: true}
		other.one(c)
		rows = append(rows, other.args)
	}
	return unnested(sql, w.types, rows)
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
	s.SQL = fmt.Sprintf("with arg as (select %s from unnest(%s) as sent (%s))", strings.Join(columns, ", "), strings.Join(arrays, ", "), strings.Join(names, ", "))
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
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.Index(i).String()) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}
