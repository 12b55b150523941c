package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/erasures"
)

// erasureFiles are the places of the list of erasures. A command on a machine without the
// data directory leaves that one to the processes that serve.
func (p *Program) erasureFiles() (places []string) {
	if _, err := os.Stat(p.Config.DataDir); err == nil {
		places = append(places, p.Config.ErasuresFile())
	}
	if p.Config.ErasuresCopy != "" {
		places = append(places, p.Config.ErasuresCopy)
	}
	return places
}

// ApplyErasures erases everybody in a list of erasures whom this database has not erased
// ([erasures.Apply]).
func (p *Program) ApplyErasures(ctx context.Context, l erasures.List) (applied int, err error) {
	return erasures.Apply(ctx, p.Pool, p.Sagas.Accounts, l)
}

// eraseAgain applies the lists in the data directory and in the second place, before
// anything is served: the database may come from an older backup.
func eraseAgain(ctx context.Context, p *Program) error {
	applied, err := p.book.ApplyKept(ctx, p.Sagas.Accounts)
	if applied > 0 {
		p.Log.WarnContext(ctx, "people were erased again, whom this database had not erased", "people", applied)
	}
	if err != nil {
		return fmt.Errorf(
			`%w: nothing is served before all in the list of erasures are erased ("List of erasures" in docs/accounts.md)`,
			eventstore.Unavailable(err),
		)
	}
	return nil
}

// erasedHere refuses a command, or a view of the past, on a database that comes from an
// older backup and has not erased everybody in the lists. Both may erase no person.
func erasedHere(ctx context.Context, p *Program, as Part) error {
	if p.past == nil && as != Reading {
		return nil
	}
	err := p.book.CheckKept(ctx)
	if errors.Is(err, erasures.ErrMissing) {
		return console.Misused(
			`%w: start the panel of today on it first, which erases them again ("List of erasures" in docs/accounts.md)`,
			err,
		)
	}
	return eventstore.Unavailable(err)
}

// ListErasures writes the list after an erasure. What cannot be written now is written
// later, and operators are told.
func (p *Program) ListErasures(ctx context.Context) {
	of, err := p.book.Keep(ctx)
	p.toldOfErasures(ctx, of, err)
}

// toldOfErasures reports the files that could not be written, and settles the incidents
// of those that could.
func (p *Program) toldOfErasures(ctx context.Context, of []erasures.Outcome, err error) {
	if err != nil {
		p.Log.WarnContext(ctx, "the list of erasures was not written", "error", err)
	}
	host, _ := os.Hostname()
	for _, o := range of {
		trouble := operations.ErasuresTrouble(host, o.File)
		if o.Err == nil {
			p.settle(ctx, trouble, "the file has the whole list")
			continue
		}
		p.Log.ErrorContext(ctx, "the list of erasures is not complete", "file", o.File, "error", o.Err, "alarm", true)
		p.Report(ctx, trouble)
	}
}

// KeptErasures is the list of erasures as it is kept, brought up to date; nil: it is not
// kept here.
func (p *Program) KeptErasures(ctx context.Context) ([]byte, error) {
	p.ListErasures(ctx)
	for _, name := range p.erasureFiles() {
		if text, err := os.ReadFile(name); err == nil {
			return text, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the list of erasures: %w", err)
		}
	}
	return nil, nil
}
