package field

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// A record is a row of tables for people too: on pages, and at the console. The
// description says what a column is called and what kind of value it has; each
// table chooses columns by their names.

// Headed names the column of the field in a table.
func (f Field) Headed(head string) Field { f.Head = head; return f }

// Labelled is the key of the field's label in the texts of pages.
func (f Field) Labelled(key string) Field { f.Key = key; return f }

// Worded is what the keys of the texts for the field's values begin with:
// "invoice_state_".
func (f Field) Worded(prefix string) Field { f.Words = prefix; return f }

// In names the currency of an amount.
func (f Field) In(currency *string) Field { f.currency = currency; return f }

// Fault says what went wrong; blank: nothing did.
func (f Field) Fault() Field { f.fault = true; return f }

// A Cell is a value of a record for people, before any language or device has
// given it a form. At most one of At and Amount is set.
type Cell struct {
	Field    Field
	Text     string // as it is sent; "": there is no value
	At       *time.Time
	Amount   *decimal.Decimal
	Currency string
	IsNumber bool
	IsState  bool // one of a few values, which have words
	IsMoment bool
	IsFault  bool
}

// Cell is the value of the named field. It panics if the record has none of that
// name.
func (s Set) Cell(name string) Cell {
	f, has := s.Named(name)
	if !has {
		panic("field: there is no field " + name) // declared wrong
	}
	c := Cell{Field: f, IsState: f.Words != "", IsFault: f.fault, IsMoment: f.metadata().Type == "datetime"}
	switch v := f.Value().(type) {
	case time.Time:
		c.At = &v
	case *time.Time:
		c.At = v
	case decimal.Decimal:
		c.setAmount(v)
	case *decimal.Decimal:
		if v != nil {
			c.setAmount(*v)
		}
	case int64:
		c.Text, c.IsNumber = strconv.FormatInt(v, 10), true
	case *uuid.UUID:
		if v != nil {
			c.Text = v.String()
		}
	case []string:
		c.Text = strings.Join(v, " ")
	case *string:
		if v != nil {
			c.Text = *v
		}
	case *int64:
		if v != nil {
			c.Text, c.IsNumber = strconv.FormatInt(*v, 10), true
		}
	default:
		c.Text = f.FormText()
	}
	return c
}

// setAmount takes an amount, with its currency if it is money.
func (c *Cell) setAmount(v decimal.Decimal) {
	c.Text, c.IsNumber = v.String(), true
	if c.Field.currency != nil {
		c.Amount, c.Currency = &v, *c.Field.currency
	}
}

// Columns are fields of a record that a table shows, in this order. Names that
// are joined by + share a column.
type Columns []string

// ColumnsOf are columns of a record. It panics if the record lacks one, so that
// a mistake shows when the program starts.
func ColumnsOf[A any, P interface {
	*A
	Record
}](names ...string) Columns {
	return Columns(names).Check(Table(P(new(A))))
}

// Check panics if a set lacks one of the columns.
func (c Columns) Check(set Set) Columns {
	for _, column := range c {
		for name := range strings.SplitSeq(column, "+") {
			set.Cell(name)
		}
	}
	return c
}

// Cells are the values of the record in each column.
func (c Columns) Cells(set Set) [][]Cell {
	all := make([][]Cell, len(c))
	for i, column := range c {
		for name := range strings.SplitSeq(column, "+") {
			all[i] = append(all[i], set.Cell(name))
		}
	}
	return all
}

// A Tabled record has values for tables besides those of its answers.
type Tabled interface {
	Record
	Columns() Set // the fields of answers among them
}

// Table are the fields of which tables choose their columns.
func Table(r Record) Set {
	if t, is := r.(Tabled); is {
		return t.Columns()
	}
	return r.Fields()
}
