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
