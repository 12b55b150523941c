package projections

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A writer makes SQL of a change, and collects its arguments.
type writer struct {
	tables map[string]table
	live   bool      // the time of the event is recorded_at()
	many   bool      // arguments are columns of the rows arg
	at     time.Time // of the event
	args   []any
	types  []string // of the arguments

	row     table            // that is changed
	aliases map[string]table // of the sources
	column  string           // that is set
}

// one is the statement of a single change.
func (w *writer) one(c Change) string {
	sql := w.part(c)
	if len(c.also) == 0 {
		return sql
	}
	parts := make([]string, len(c.also))
	for i, other := range c.also {
		parts[i] = fmt.Sprintf("w%d as (%s)", i, w.part(other))
	}
	return "with " + strings.Join(parts, ", ") + " " + sql
}

func (w *writer) part(c Change) string {
	w.row, w.aliases = w.tables[c.table], map[string]table{}
	for _, s := range c.from {
		w.aliases[s.alias] = w.tables[s.table]
	}
	switch c.verb {
	case updates:
		set := w.assigned(c.set)
		return "update " + c.table + " as t set " + set + w.base(c, " from ") + w.where(c)
	case deletes:
		return "delete from " + c.table + " as t" + w.base(c, " using ") + w.where(c)
	case counts:
		return w.counting(c)
	case upserts:
		return w.inserting(c, slices.Concat(c.key, c.set), "") + w.conflict(c, c.or)
	default:
		return w.inserting(c, c.set, "")
	}
}

// conflict says what becomes of a row that exists.
func (w *writer) conflict(c Change, or Row) string {
	sql := " on conflict (" + strings.Join(c.key.names(), ", ") + ") do "
	if len(or) == 0 {
		return sql + "nothing"
	}
	return sql + "update set " + w.assigned(or)
}

// counting adds figures. Those of many changes are summed up first, because one
// statement changes a row once.
func (w *writer) counting(c Change) string {
	more := make(Row, len(c.set))
	for i, figure := range c.set {
		more[i] = Column{figure.Name, addition.call(col(figure.Name), excluded(figure.Name))}
	}
	if !w.many {
		return w.inserting(c, slices.Concat(c.key, c.set), "") + w.conflict(c, more)
	}
	groups := make([]string, len(c.key))
	for i := range groups {
		groups[i] = fmt.Sprint(i + 1)
	}
	sums := make(Row, len(c.set))
	for i, figure := range c.set {
		sums[i] = Column{figure.Name, total.call(figure.To)}
	}
	return w.inserting(c, slices.Concat(c.key, sums), " group by "+strings.Join(groups, ", ")) + w.conflict(c, more)
}

var total = &function{sql: `sum(%[1]s)`}

func (w *writer) inserting(c Change, row Row, groups string) string {
	values := make([]string, len(row))
	for i, column := range row {
		values[i] = w.value(column)
	}
	sql := "insert into " + c.table + " as t (" + strings.Join(row.names(), ", ") + ") "
	list := strings.Join(values, ", ")
	if !w.many && len(c.from)+len(c.when) == 0 {
		return sql + "values (" + list + ")"
	}
	c.key = nil // a new row is looked for nowhere
	return sql + "select " + list + w.base(c, " from ") + w.where(c) + groups
}

// base are the rows from which values come: the arguments of many changes, and the
// sources.
func (w *writer) base(c Change, begin string) string {
	sql := ""
	switch {
	case w.many:
		sql = begin + "arg"
	case len(c.from) > 0:
		sql = begin + "(select) one"
	}
	for _, s := range c.from {
		join := " join "
		if s.left {
			join = " left join "
		}
		sql += join + s.table + " " + s.alias + " on " + w.equal(s.alias, s.key)
	}
	return sql
}

func (w *writer) where(c Change) string {
	var conditions []string
	if len(c.key) > 0 {
		conditions = append(conditions, w.equal("t", c.key))
	}
	for _, condition := range c.when {
		conditions = append(conditions, w.expr(condition, "boolean"))
	}
	if conditions == nil {
		return ""
	}
	return " where " + strings.Join(conditions, " and ")
}

// equal finds a row by its key.
func (w *writer) equal(alias string, key Row) string {
	of := w.row
	if alias != "t" {
		of = w.aliases[alias]
	}
	parts := make([]string, len(key))
	for i, column := range key {
		parts[i] = alias + "." + column.Name + " = " + w.expr(column.To, of.types[column.Name])
	}
	return strings.Join(parts, " and ")
}

func (w *writer) assigned(set Row) string {
	parts := make([]string, len(set))
	for i, column := range set {
		parts[i] = column.Name + " = " + w.value(column)
	}
	return strings.Join(parts, ", ")
}

func (w *writer) value(c Column) string {
	typ, known := w.row.types[c.Name]
	if !known {
		panic("projections: table " + w.row.name + " has no column " + c.Name)
	}
	w.column = c.Name
	return w.expr(c.To, typ)
}

// expr is a value in SQL. A plain one becomes an argument.
func (w *writer) expr(v any, typ string) string {
	e, is := v.(Expr)
	if !is {
		return w.arg(v, typ)
	}
	switch e.function {
	case timeOfEvent:
		if w.live {
			return "recorded_at()"
		}
		return w.arg(w.at, "timestamptz")
	case setColumn:
		return "t." + w.column
	case presentOf:
		return "t." + e.name
	case givenOf:
		return "excluded." + e.name
	case foundOf:
		return e.text + "." + e.name
	case literal:
		return e.text
	case rowsOf:
		w.aliases[e.text] = w.tables[e.name]
		return "(select count(*) from " + e.name + " " + e.text + " where " + w.expr(e.operands[0], "boolean") + ")"
	}
	return w.called(e, typ)
}

func (w *writer) called(e Expr, typ string) string {
	values := typ
	switch {
	case e.values != "":
		values = e.values
	case e.beside:
		values = w.typeBeside(e, typ)
	}
	operands := make([]any, len(e.operands))
	for i, operand := range e.operands {
		operands[i] = w.expr(operand, values)
	}
	return fmt.Sprintf(e.sql, operands...)
}

// typeBeside is the type of the first operand that has one.
func (w *writer) typeBeside(e Expr, typ string) string {
	for _, operand := range e.operands {
		x, is := operand.(Expr)
		if !is {
			continue
		}
		switch x.function {
		case presentOf, givenOf:
			return w.row.types[x.name]
		case setColumn:
			return w.row.types[w.column]
		case foundOf:
			return w.aliases[x.text].types[x.name]
		}
		if x.typ != "" {
			return x.typ
		}
	}
	return typ
}

// arg is an argument: of one change $1, of many a column of their rows.
func (w *writer) arg(v any, typ string) string {
	w.args, w.types = append(w.args, v), append(w.types, typ)
	if w.many {
		return "arg.a" + strconv.Itoa(len(w.args))
	}
	return "$" + strconv.Itoa(len(w.args)) + "::" + typ
}
