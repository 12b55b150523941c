package console

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A Table is printed with its columns in line. A cell is its text and how it
// is coloured, so that colours do not count as width.
type Table struct {
	Head []string
	rows [][]Cell
}

// A Cell is one value of a table.
type Cell struct {
	Text  string
	Paint func(string) string // nil: as it is
	Right bool                // of numbers
}

// Plain is a cell of text.
func Plain(text string) Cell { return Cell{Text: OneLine(text)} }

// Number is a cell that is aligned right.
func Number[T any](n T) Cell { return Cell{Text: fmt.Sprint(n), Right: true} }

// Painted is a cell of coloured text.
func Painted(text string, by func(string) string) Cell { return Cell{Text: OneLine(text), Paint: by} }

// Moment is a cell with a time in UTC.
func Moment(t time.Time) Cell { return Plain(t.UTC().Format("2006-01-02 15:04:05")) }

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.rows = append(t.rows, cells) }

func (t *Table) line(i Ink, w io.Writer, row []Cell) {
	var b strings.Builder
	for n, c := range row {
		gap := strings.Repeat(" ", t.width(n)-utf8.RuneCountInString(c.Text))
		text := c.Text
		if c.Paint != nil {
			text = c.Paint(text)
		}
		if c.Right {
			text, gap = gap+text, ""
		}
		b.WriteString(text + gap + "  ")
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

func (t *Table) width(column int) int {
	most := utf8.RuneCountInString(t.Head[column])
	for _, row := range t.rows {
		most = max(most, utf8.RuneCountInString(row[column].Text))
	}
	return most
}

// Print writes the table with its head.
func (t *Table) Print(c Console) {
	i, head := c.Ink(), []Cell{}
	for n, name := range t.Head {
		head = append(head, Cell{name, i.Bold, len(t.rows) > 0 && t.rows[0][n].Right})
	}
	t.line(i, c.Out, head)
	for _, row := range t.rows {
		t.line(i, c.Out, row)
	}
}

// OneLine keeps what others have written from moving the cursor.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
