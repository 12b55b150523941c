// Package console is where commands of the operator's command line write and read: tables,
// colours, JSON, passwords and exit codes.
package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Console is where a command writes, its result to out and all else to err,
// and where it reads what may not stand on its command line.
type Console struct {
	Out, Err io.Writer
	In       io.Reader
}

// terminal tells whether the output is a terminal.
func terminal(end any) bool {
	file, ok := end.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// IsTerminal tells whether the result is shown to a person, and not kept.
func (c Console) IsTerminal() bool { return terminal(c.Out) }

// An Ink colours words on a terminal; its zero value leaves them as they are.
type Ink struct{ on bool }

// Ink is used only where it shows, and not when the environment disables it
// (https://no-color.org).
func (c Console) Ink() Ink {
	return Ink{terminal(c.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (i Ink) with(code, text string) string {
	if !i.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for titles.
func (i Ink) Bold(text string) string { return i.with("1", text) }

// Faint is for what is less important.
func (i Ink) Faint(text string) string { return i.with("2", text) }

// Red is for failures.
func (i Ink) Red(text string) string { return i.with("31", text) }

// Green is for success.
func (i Ink) Green(text string) string  { return i.with("32", text) }
func (i Ink) yellow(text string) string { return i.with("33", text) }

// Status colours the state of an order, a run or a piece of news.
func (i Ink) Status(state string) string {
	switch state {
	case "active", "done", "paid", "delivered":
		return i.Green(state)
	case "failed", "parked", "unmatched", "refused":
		return i.Red(state)
	case "pending", "payment_processing", "provisioning", "stored", "waiting", "running", "ready":
		return i.yellow(state)
	}
	return state
}

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

// JSON prints a listing for programs.
func (c Console) JSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Doing shows on a terminal what a start does at the moment, with the time that it
// takes; a log gets nothing. begin names the next part, end clears the line.
func (c Console) Doing() (begin func(what string), end func()) {
	if !terminal(c.Err) {
		return func(string) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	end = func() {
		if bar != nil {
			_ = bar.Finish()
		}
		bar = nil
	}
	return func(what string) {
		end()
		bar = progressbar.NewOptions64(-1,
			progressbar.OptionSetWriter(c.Err), progressbar.OptionSetDescription(what+" …"), progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(true), progressbar.OptionSetRenderBlankState(true), progressbar.OptionClearOnFinish(),
		)
	}, end
}

// Progress shows how far a long job is, with its rate and the time that is
// left, on a terminal; a log gets nothing.
func (c Console) Progress(what string) (step func(done, all int64), end func()) {
	if !terminal(c.Err) {
		return func(int64, int64) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(c.Err), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("events"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth(),
	)
	return func(done, all int64) {
		bar.ChangeMax64(all)
		_ = bar.Set64(done)
	}, func() { _ = bar.Finish() }
}
