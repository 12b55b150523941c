// Package evidence has the command that makes evidence packs (docs/audit.md, "Evidence
// packs").
package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/audit"
	"hostpanel/eventstore/evidence"
	"hostpanel/projections"
)

// Command is `hostpanel evidence`.
type Command struct {
	Order  uuid.UUID `placeholder:"UUID" help:"Of an order: all that came of it."`
	Tenant int64     `placeholder:"ID" help:"Of a tenant."`
	From   time.Time `placeholder:"TIME" help:"Of events since then (RFC 3339)."`
	To     time.Time `placeholder:"TIME" help:"Of events until then."`
	Out    string    `required:"" placeholder:"PATH"`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Command) Abouts() map[string]string {
	return map[string]string{
		"out": "Where the pack is written: a folder, or a file that ends in .zip. What exists is not replaced.",
	}
}

// Run writes a pack. It fails if events are not sealed yet, or not witnessed.
func (e Command) Run(ctx context.Context, s config.Settings, c console.Console) error {
	of := audit.PackOf{Order: e.Order, Tenant: e.Tenant, From: e.From, To: e.To}
	if of == (audit.PackOf{}) {
		return console.Misused("say of what: --order, --tenant, --from, --to")
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		pack, err := p.Sagas.Audit.Pack(ctx, projections.System, of)
		if err != nil {
			return err
		}
		if err := write(pack, e.Out); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s has evidence of %s: %d events\n", console.OneLine(e.Out), of, len(pack.Events))
		return nil
	})
}

func write(pack evidence.Pack, path string) error {
	if !strings.EqualFold(filepath.Ext(path), ".zip") {
		return pack.Folder(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(pack.Zip(f), f.Close())
}
