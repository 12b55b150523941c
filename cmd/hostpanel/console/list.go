package console

import (
	"cmp"
	"fmt"
	"strings"

	"hostpanel/domain/field"
)

// List prints records by their fields: all of them as JSON for programs, or a
// table of some.
func List[A any, P interface {
	*A
	field.Record
}](c Console, asJSON bool, records []A, columns field.Columns) error {
	if asJSON {
		return c.JSON(Sets[A, P](records))
	}
	i := c.Ink()
	t := Table{}
	for _, cells := range columns.Cells(field.Table(P(new(A)))) {
		t.Head = append(t.Head, headOf(cells[0]))
	}
	for n := range records {
		var row []Cell
		for _, cells := range columns.Cells(field.Table(P(&records[n]))) {
			row = append(row, i.cell(cells))
		}
		t.Add(row...)
	}
	t.Print(c)
	return nil
}

// Sets are records as programs read them.
func Sets[A any, P interface {
	*A
	field.Record
}](records []A) []field.Set {
	sets := make([]field.Set, len(records))
	for i := range records {
		sets[i] = field.Table(P(&records[i]))
	}
	return sets
}

func headOf(c field.Cell) string {
	head := cmp.Or(c.Field.Head, strings.ReplaceAll(c.Field.Name, "_", " "))
	if c.IsMoment {
		head += " (UTC)"
	}
	return head
}

// cell is a column of a record, in which the first field decides how it looks.
func (i Ink) cell(all []field.Cell) Cell {
	var texts []string
	for _, one := range all {
		texts = append(texts, Some(textOf(one))...)
	}
	cell := Plain(strings.Join(texts, " "))
	switch first := all[0]; {
	case first.IsFault:
		cell.Paint = i.Red
	case first.IsState:
		cell.Paint = i.Status
	case first.IsNumber:
		cell.Right = true
	}
	return cell
}

// textOf is a value as it stands in a table.
func textOf(c field.Cell) string {
	switch {
	case c.At != nil:
		return Moment(*c.At).Text
	case c.Amount != nil:
		return c.Amount.StringFixed(2) + " " + c.Currency
	}
	if is, isFlag := c.Field.Value().(bool); isFlag {
		return map[bool]string{true: "yes", false: "no"}[is]
	}
	return c.Text
}

// Some are the texts that are not empty.
func Some(all ...string) (out []string) {
	for _, text := range all {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Values prints fields of a record, one a line, less the empty ones.
func (c Console) Values(set field.Set, names ...string) {
	for _, cells := range field.Columns(names).Cells(set) {
		if text := (Ink{}).cell(cells).Text; text != "" {
			fmt.Fprintf(c.Out, "  %s %s\n", c.Ink().Faint(fmt.Sprintf("%-10s", cmp.Or(cells[0].Field.Head, cells[0].Field.Name))), text)
		}
	}
}
