package projections

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// A Listing says which part of a list is wanted, and in what order. The zero
// Listing is the newest records.
type Listing struct {
	Search  []string   // each has to occur in the record, in whatever case
	Order   []Ordering // fields that the list does not know are left out; none: newest first
	Filters []Filter
	Offset  int64 // [LastPage]: where the last page begins
	Limit   int64 // 0: 100
	Mark    Mark  // beside which the page that Offset counts off begins
}

// LastPage is the offset of the last page of Limit records.
const LastPage = -1

// An Ordering is one of the fields that a list is ordered by. Every order ends
// in the record's id, so that pages neither overlap nor leave gaps.
type Ordering struct {
	Field      string
	Descending bool
}

// A Filter keeps the records whose field compares with the value as the
// operator says. The value has the Go type of the field; that of "in" is a
// slice of them, and "=" finds empty fields with nil.
type Filter struct {
	Field string
	Op    string // = >= <= > < in
	Value any
}

// A Listed is the wanted part of a list, and of how many records.
type Listed[T any] struct {
	Count int64 // of the records that the caller may see and the filters leave
	Rows  []T
}

// listRules say once how the records of a table are listed
// (docs/read-tables.md, "Lists").
type listRules struct {
	columns string            // of a record
	from    string            // the table, with the name that all columns below use
	joined  string            // what else the columns need; it neither adds nor removes records
	joins   []any             // the arguments of joined, where ? stands for them
	fields  map[string]string // columns to filter and to order by, by the names of the API
	search  string            // column with all text that is searched, in lower case
	id      string            // column that every order ends in
	key     string            // the columns of the primary key, as the table names them; blank: id
	parts   []string          // conditions, of which each record of the list meets one; each has an index in the order of the list
	counted *knownCount       // how many they are, if that need not be counted
}

// A knownCount is a query for what would otherwise have to be counted.
type knownCount struct {
	sql  string
	args []any
}

var comparisons = map[string]string{"=": "%s = ?", ">=": "%s >= ?", "<=": "%s <= ?", ">": "%s > ?", "<": "%s < ?", "in": "%s = any(?)"}

// part reads the wanted part of a list and counts all of it, in one round trip.
func part[T any](ctx context.Context, db *reader, by listRules, w *where, l Listing) (found Listed[T], err error) {
	return pick[T](by, w, l, func(questions func(*pgx.Batch)) error { return db.askFitted(ctx, questions) })
}

// pick asks for the wanted part of a list, and how long it is. A page beside a mark
// that is not as full as its number says is read by the number.
func pick[T any](by listRules, w *where, l Listing, ask func(func(*pgx.Batch)) error) (found Listed[T], err error) {
	l.Limit = cmp.Or(l.Limit, usualLimit)
	if by.canMark(l) {
		found, err = picked[T](by, &where{slices.Clone(w.conditions), slices.Clone(w.args)}, l, ask)
		if err != nil || int64(len(found.Rows)) >= min(l.Limit, found.Count-l.Offset) {
			return found, err
		}
	}
	l.Mark = Mark{}
	return picked[T](by, w, l, ask)
}

func picked[T any](by listRules, w *where, l Listing, ask func(func(*pgx.Batch)) error) (found Listed[T], err error) {
	if err := by.narrow(w, l); err != nil {
		return found, err
	}
	count := cmp.Or(by.counted, &knownCount{`select count(*) from ` + by.from + w.String() + by.anyPart(), slices.Clone(w.args)})
	page := by.page(w, l)
	err = ask(func(b *pgx.Batch) {
		b.Queue(count.sql, count.args...).QueryRow(into(&found.Count))
		b.Queue(page, w.args...).Query(filled(&found.Rows))
	})
	if err != nil {
		return found, fmt.Errorf("list %s: %w", nameOf[T](), err)
	}
	if l.Offset == LastPage && found.Count > 0 { // which is seldom full
		found.Rows = found.Rows[max(0, len(found.Rows)-int((found.Count-1)%l.Limit+1)):]
	}
	return found, nil
}

// narrow adds what the caller asked for to the scope.
func (by listRules) narrow(w *where, l Listing) error {
	for _, f := range l.Filters {
		column, known := by.fields[f.Field]
		comparison, possible := comparisons[f.Op]
		switch {
		case !known || !possible:
			return fmt.Errorf("list %s: no filter %s %s", by.from, f.Field, f.Op)
		case f.Value == nil:
			w.conditions = append(w.conditions, column+" is null")
		default:
			w.and(fmt.Sprintf(comparison, column), f.Value)
		}
	}
	for _, term := range l.Search {
		w.and(`strpos(`+by.search+`, lower(?)) > 0`, term)
	}
	return nil
}

// page is the query for the wanted part: its records, and only then what they
// show of others.
func (by listRules) page(w *where, l Listing) string {
	name := by.from[strings.LastIndex(by.from, " ")+1:]
	return `select ` + by.columns + ` from (` + by.wanted(w, l, name+`.*`) + `) ` + name +
		w.with(by.joined, by.joins...) + by.order(l.Order, false)
}

// wanted are the records of the part. Where others come before it, it picks
// keys, in an index where there is one, and looks up the records of these alone.
// A mark takes the place of those before.
func (by listRules) wanted(w *where, l Listing, all string) string {
	marked := l.Mark.ID != nil
	order := by.order(l.Order, l.Offset == LastPage || marked && l.Mark.Before) // a full page, from the other end
	if marked {
		w.and(by.behind(order, w.String()), l.Mark.ID)
	}
	if l.Offset <= 0 || marked {
		return `select ` + all + by.source(w, all, order, l.Limit) + order + w.with(` limit ?`, l.Limit)
	}
	key := cmp.Or(by.key, "id")
	return `select ` + all + ` from (select ` + key + by.source(w, columnsOf(order), order, l.Limit+l.Offset) + order + w.with(
		` limit ? offset ?`, l.Limit, l.Offset,
	) +
		`) picked join ` + by.from + ` using (` + key + `)`
}

// source is where the first so many records of a list, in this order, come
// from: the table, or as many of each part of it, in order.
func (by listRules) source(w *where, columns, order string, first int64) string {
	if by.parts == nil {
		return ` from ` + by.from + w.String()
	}
	var parts []string
	limit := w.with(` limit ?`, first)
	for _, part := range by.parts {
		parts = append(parts, `(select `+columns+` from `+by.from+w.String()+` and `+part+order+limit+`)`)
	}
	name := by.from[strings.LastIndex(by.from, " ")+1:]
	return ` from (` + strings.Join(parts, ` union all `) + `) ` + name
}

// anyPart is the condition that a record meets one of the parts.
func (by listRules) anyPart() string {
	if by.parts == nil {
		return ""
	}
	return ` and (` + strings.Join(by.parts, ` or `) + `)`
}

// columnsOf are what an order looks at.
func columnsOf(order string) string {
	return strings.NewReplacer(" order by ", "", " desc", "", " asc", "").Replace(order)
}

// order is that of the list, or its reverse.
func (by listRules) order(wanted []Ordering, reverse bool) string {
	var terms []string
	way := func(descending bool) string {
		if descending != reverse {
			return " desc"
		}
		return " asc"
	}
	last := true
	for _, o := range wanted {
		column, known := by.fields[o.Field]
		if !known {
			continue
		}
		last = o.Descending
		terms = append(terms, column+way(last))
		if column == by.id {
			return " order by " + strings.Join(terms, ", ")
		}
	}
	if terms == nil {
		terms = []string{by.fields["created_at"] + way(last)}
	}
	return " order by " + strings.Join(append(terms, by.id+way(last)), ", ")
}

// loadedPart turns the rows of a list into records, one by one.
func loadedPart[Row, T any](load func(Row) (T, error)) func(Listed[Row], error) (Listed[T], error) {
	return func(found Listed[Row], err error) (Listed[T], error) {
		rows, err := loaded(load)(found.Rows, err)
		return Listed[T]{found.Count, rows}, err
	}
}

// fieldsOf are the fields that every record has, and those of the table, by
// the name that its columns have in the API.
func fieldsOf(table string, names ...string) map[string]string {
	fields := map[string]string{}
	for _, name := range append(names, "id", "created_at", "updated_at") {
		fields[name] = table + "." + name
	}
	return fields
}

// with adds fields that have other columns: pairs of a name and a column.
func with(fields map[string]string, more ...string) map[string]string {
	for pair := range slices.Chunk(more, 2) {
		fields[pair[0]] = pair[1]
	}
	return fields
}

// A Mark is the record beside which a page begins, so that reading a page deep in a
// list costs what the first page does: the records before it are not counted off
// (keyset pagination).
type Mark struct {
	ID     any  // of the record, in the type of its column; nil: no mark
	Before bool // the page ends before the record; otherwise it begins behind it
}

// canMark tells whether a page can begin beside a mark: if the list has one direction,
// by columns that every record has and an index knows.
func (by listRules) canMark(l Listing) bool {
	if l.Mark.ID == nil || l.Offset <= 0 {
		return false
	}
	for _, o := range l.Order {
		if column := by.fields[o.Field]; o.Descending != l.Order[0].Descending || column != by.id && column != by.fields["created_at"] {
			return false
		}
	}
	return true
}

// behind is the condition that a record comes behind the mark, in this order. A mark
// that the list does not hold any more leaves no record.
func (by listRules) behind(order, scope string) string {
	columns, sign := columnsOf(order), " > "
	if strings.HasSuffix(order, " desc") {
		sign = " < "
	}
	return `(` + columns + `)` + sign + `(select ` + columns + ` from ` + by.from + scope + ` and ` + by.id + ` = ?)`
}

// A TableList says how a table beside the read tables is listed: one of
// working rows, which only operators see.
type TableList struct {
	Columns string            // of a record
	From    string            // the table, with the name that all columns use: "saga_run r"
	Fields  map[string]string // columns to filter and to order by, by the names of the API; created_at is one
	ID      string            // column that every order ends in
	Search  string            // text that is searched, in lower case; "": none
}

// ListTable reads the wanted part of such a table and counts all of it, in one
// round trip. Its primary key is named id.
func ListTable[T any](ctx context.Context, pool *pgxpool.Pool, t TableList, l Listing) (Listed[T], error) {
	by := listRules{columns: t.Columns, from: t.From, fields: t.Fields, id: t.ID, search: t.Search}
	return pick[T](by, &where{conditions: []string{"true"}}, l, func(questions func(*pgx.Batch)) error {
		b := &pgx.Batch{}
		questions(b)
		return eventstore.Unavailable(pool.SendBatch(ctx, b).Close())
	})
}
