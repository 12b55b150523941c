// Package doctor has the command that examines a panel and what it depends on, and
// names each fault with its mend (docs/operations.md, "Doctor").
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
)

// Command is `hostpanel doctor`.
type Command struct {
	SendTest string `placeholder:"ADDRESS" help:"Send a test mail to this address, too."`
	JSON     bool   `name:"json" help:"For programs."`
}

// What a check has found.
const (
	ok      = "ok"
	warning = "warning"
	failed  = "failed"
	skipped = "skipped" // it needs what another check has found missing
)

// A Finding is the result of one check, in one line.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning, failed, skipped
	Says  string `json:"says"`
	Mend  string `json:"mend,omitempty"`
}

// A world is what the checks ask outside the panel; tests replace it.
type world struct {
	free   func(dir string) (bytes uint64, err error)
	lookup func(ctx context.Context, host string) ([]string, error)
}

var outside = world{free: freeBytes, lookup: net.DefaultResolver.LookupHost}

// Run examines everything and ends with exit code 1 if a check has failed.
func (cmd Command) Run(ctx context.Context, s config.Settings, c console.Console) error {
	found := examine(ctx, s, cmd.SendTest, outside)
	if cmd.JSON {
		if err := c.JSON(found); err != nil {
			return err
		}
	} else {
		tell(c, found)
	}
	for _, f := range found {
		if f.State == failed {
			return console.ErrReported
		}
	}
	return nil
}

func tell(c console.Console, found []Finding) {
	i := c.Ink()
	for _, f := range found {
		state := fmt.Sprintf("%-8s", f.State)
		switch f.State {
		case ok:
			state = i.Green(state)
		case failed:
			state = i.Red(state)
		}
		line := f.Says
		if f.Mend != "" {
			line += ": " + f.Mend
		}
		fmt.Fprintf(c.Out, "%s  %-14s  %s\n", state, f.Check, console.OneLine(line))
	}
}

// A patient is what is examined.
type patient struct {
	world
	cfg      *config.Config
	panel    *program.Program // nil: it cannot be opened
	sendTest string
}

// needsPanel are the checks that ask the database, or what is opened with it.
var needsPanel = []struct {
	name string
	do   func(*patient, context.Context) Finding
}{
	{"privileges", (*patient).privileges},
	{"read tables", (*patient).readTables},
	{"clock", (*patient).clock},
	{"keys", (*patient).keys},
	{"engine", (*patient).engine},
}

// checkLimit bounds each check.
const checkLimit = 20 * time.Second

// examine makes all checks, in the order in which they depend on each other.
func examine(ctx context.Context, s config.Settings, sendTest string, w world) []Finding {
	cfg, err := settingsOf(s)
	if err != nil {
		return []Finding{{"settings", failed, err.Error(), "docs/configuration.md describes each"}}
	}
	cfg.Joined = true
	p := &patient{world: w, cfg: cfg, sendTest: sendTest}
	found := append(p.settings(), p.directory(), p.disk(), p.secretKey())
	opened, err := open(ctx, cfg)
	if err == nil {
		defer opened.Close()
		p.panel = opened
	}
	found = append(found, p.database(ctx, err))
	for _, check := range needsPanel {
		f := Finding{State: skipped, Says: "not examined without the database"}
		if p.panel != nil {
			f = within(ctx, func(ctx context.Context) Finding { return check.do(p, ctx) })
		}
		f.Check = check.name
		found = append(found, f)
	}
	found = append(found, p.hypervisors(ctx)...)
	found = append(found, p.providers(ctx)...)
	return append(found,
		within(ctx, p.mail),
		within(ctx, p.nameServers))
}

func within(ctx context.Context, do func(context.Context) Finding) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	return do(ctx)
}

// settingsOf reads the settings as the panel does: in the data directory of a
// demo, as the demo.
func settingsOf(s config.Settings) (*config.Config, error) {
	cfg, err := config.New(s, false)
	if err != nil {
		return nil, err
	}
	if _, missing := os.Stat(filepath.Join(cfg.DataDir, "demo.json")); missing != nil {
		return cfg, nil
	}
	if again, err := config.New(s, true); err == nil {
		return again, nil
	}
	return cfg, nil // real settings beside the file of a demo
}

func open(ctx context.Context, cfg *config.Config) (*program.Program, error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	return program.Open(ctx, cfg, redact.NewLog(io.Discard, slog.LevelError), program.Keeping)
}

// why is the text of an error without the parts that wrap it for programs.
func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %s", checkLimit)
	}
	return strings.TrimSpace(redact.Mask(err.Error()))
}
