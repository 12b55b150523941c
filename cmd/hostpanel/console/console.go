// Package console is where commands of the operator's command line write and read: tables,
// colours, JSON, passwords and exit codes.
package console

import (
	"encoding/json"
	"io"
	"os"
	"time"

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

// JSON prints a listing for programs.
func (c Console) JSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// LogsToTerminal tells whether a person watches the log.
func (c Console) LogsToTerminal() bool { return terminal(c.Err) }

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
