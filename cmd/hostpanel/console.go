package main

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

// A console is where a command writes, its result to out and all else to err,
// and where it reads what may not stand on its command line.
type console struct {
	out, err io.Writer
	in       io.Reader
}

// terminal tells whether the output is a terminal.
func terminal(end any) bool {
	file, ok := end.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// An ink colours words on a terminal; its zero value leaves them as they are.
type ink struct{ on bool }

// ink is used only where it shows, and not when the environment disables it
// (https://no-color.org).
func (c console) ink() ink {
	return ink{terminal(c.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (i ink) with(code, text string) string {
	if !i.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (i ink) bold(text string) string   { return i.with("1", text) }
func (i ink) faint(text string) string  { return i.with("2", text) }
func (i ink) red(text string) string    { return i.with("31", text) }
func (i ink) green(text string) string  { return i.with("32", text) }
func (i ink) yellow(text string) string { return i.with("33", text) }

// status colours the state of an order, a run or a piece of news.
func (i ink) status(state string) string {
	switch state {
	case "active", "done", "paid", "delivered":
		return i.green(state)
	case "failed", "parked", "unmatched", "refused":
		return i.red(state)
	case "pending", "payment_processing", "provisioning", "stored", "waiting", "running", "ready":
		return i.yellow(state)
	}
	return state
}

// A table is printed with its columns in line. A cell is its text and how it
// is coloured, so that colours do not count as width.
type table struct {
	head []string
	rows [][]cell
}

type cell struct {
	text  string
	paint func(string) string // nil: as it is
	right bool                // of numbers
}

func plain(text string) cell { return cell{text: oneLine(text)} }
func number[T any](n T) cell { return cell{text: fmt.Sprint(n), right: true} }

func painted(text string, by func(string) string) cell { return cell{text: oneLine(text), paint: by} }

func moment(t time.Time) cell      { return plain(t.UTC().Format("2006-01-02 15:04:05")) }
func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }
func (t *table) line(i ink, w io.Writer, row []cell) {
	var b strings.Builder
	for n, c := range row {
		gap := strings.Repeat(" ", t.width(n)-utf8.RuneCountInString(c.text))
		text := c.text
		if c.paint != nil {
			text = c.paint(text)
		}
		if c.right {
			text, gap = gap+text, ""
		}
		b.WriteString(text + gap + "  ")
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

func (t *table) width(column int) int {
	most := utf8.RuneCountInString(t.head[column])
	for _, row := range t.rows {
		most = max(most, utf8.RuneCountInString(row[column].text))
	}
	return most
}

func (t *table) print(c console) {
	i, head := c.ink(), []cell{}
	for n, name := range t.head {
		head = append(head, cell{name, i.bold, len(t.rows) > 0 && t.rows[0][n].right})
	}
	t.line(i, c.out, head)
	for _, row := range t.rows {
		t.line(i, c.out, row)
	}
}

// oneLine keeps what others have written from moving the cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// json prints a listing for programs.
func (c console) json(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// progress shows how far a long job is, with its rate and the time that is
// left, on a terminal; a log gets nothing.
func (c console) progress(what string) (step func(done, all int64), end func()) {
	if !terminal(c.err) {
		return func(int64, int64) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("events"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth(),
	)
	return func(done, all int64) {
		bar.ChangeMax64(all)
		_ = bar.Set64(done)
	}, func() { _ = bar.Finish() }
}
