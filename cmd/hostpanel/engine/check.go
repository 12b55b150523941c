// Package engine has the command that tries a hosting engine before the panel
// is pointed at it (docs/engines.md, "Your own engine").
package engine

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"hostpanel/adapters/conformance"
	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
)

// Command is `hostpanel engine`.
type Command struct {
	Check Check `cmd:"" help:"Try the hosting engine of the settings: make one of everything, change it, and take it away."`
	Claim Claim `cmd:"" help:"Take the hosting engine for this installation, where another one or a copy works there."`
}

// Check is `hostpanel engine check`.
type Check struct {
	Yes       bool          `help:"Objects may be made on the engine, with names of their own, and removed again."`
	ThrowAway bool          `help:"The engine is one to throw away: answers may be lost on the way, too."`
	Zones     string        `placeholder:"FOLDER"`
	Database  string        `placeholder:"HOST:PORT" help:"The engine's database server, to see that logins work."`
	Address   string        `placeholder:"IP" help:"An address that the engine's web server has for sites, to see that a site moves to it."`
	Patience  time.Duration `default:"3m" help:"How long the engine may take to carry out what it has accepted."`
	Only      string        `placeholder:"WORDS" help:"Only the checks with these words in their names."`
	HeldBy    string        `placeholder:"INSTALLATION" help:"The installation of the panel that works at the engine, if one does."`
	Clean     string        `placeholder:"NAMES" help:"Take away what an interrupted check has left: the beginning of its names."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Check) Abouts() map[string]string {
	return map[string]string{
		"zones": "Folder of the zone files that the engine writes for BIND, to see that they are taken.",
	}
}

// Run tries the engine and tells each check in words.
func (c Check) Run(ctx context.Context, s config.Settings, out console.Console) error {
	s.Engine = "ispconfig"
	settings, err := config.New(s, false)
	if err != nil {
		return err
	}
	if !c.Yes {
		return console.Misused(
			"this makes clients, sites, databases, zones and mailboxes on %s, and removes them: say --yes",
			settings.ISPConfig.URL,
		)
	}
	if c.Address != "" && !settings.ISPConfig.Named {
		return console.Misused("--address: a site with an address would take the requests of all others (ISPCONFIG_SITE_ADDRESSES)")
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	tried, closed, err := c.open(ctx, settings)
	if err != nil {
		return err
	}
	defer closed()
	if c.Clean != "" {
		return c.cleaned(ctx, tried, out)
	}
	return c.try(ctx, tried, out)
}

// open connects to the engine, through a proxy of our own where answers may be
// lost.
func (c Check) open(ctx context.Context, settings *config.Config) (e enginetest.Engine, closed func(), err error) {
	to, log := *settings.ISPConfig, &record{}
	to.NameServers, to.Log = settings.NameServers, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	behind := enginetest.Servers{NameServers: to.NameServers, Database: c.Database}
	if c.Zones != "" {
		behind.Zone = enginetest.ZoneFiles(c.Zones, "pri.")
	}
	e = enginetest.Engine{
		Patience: c.Patience, Address: c.Address, Books: log.String, Lacks: []string{"cms", "proxy"},
		Observable: behind.Observable(),
	}
	if len(e.Observable) > 0 {
		e.Serves = behind.Serves
	}
	if c.ThrowAway {
		proxy, err := conformance.NewProxy(context.WithoutCancel(ctx), to.URL, ispconfig.CallOf)
		if err != nil {
			return e, nil, err
		}
		to.URL, e.Cut = proxy.URL, proxy.Cut
		e.Lose = func(_ conformance.T, call, kind string) { proxy.Lose(ispconfig.Writes(call, kind)...) }
	}
	engine, err := ispconfig.New(to)
	if err != nil {
		return e, nil, err
	}
	if err := engine.Check(ctx); err != nil {
		return e, nil, fmt.Errorf("the engine: %w", err)
	}
	holder, err := engine.Holder(ctx)
	switch {
	case err != nil:
		return e, nil, fmt.Errorf("the engine: %w", err)
	case holder != c.HeldBy:
		return e, nil, console.Misused("%s", heldBy(holder, c.HeldBy))
	}
	e.EngineServer = engine
	return e, func() { _ = engine.Close(context.WithoutCancel(ctx)) }, nil
}

// heldBy tells who works at an engine beside the one that was named.
func heldBy(holder, named string) string {
	if holder == "" {
		return "no installation of the panel works at the engine, so none is --held-by " + named
	}
	return "installation " + holder + " of the panel works at the engine: to try it all the same, say --held-by " + holder
}

func (c Check) cleaned(ctx context.Context, e enginetest.Engine, out console.Console) error {
	return out.Cleaned(c.Clean, enginetest.Clean(ctx, e, c.Clean))
}

func (c Check) try(ctx context.Context, e enginetest.Engine, out console.Console) error {
	return out.Tried(ctx, "hostpanel engine check --yes --clean", func(names string, tell func(conformance.Result)) {
		enginetest.Check(ctx, e, names, c.Only, tell)
	})
}

// A record keeps what the adapter logs, to search for secrets.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps a line of the log.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

// String is all that was logged.
func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Clone(r.text.String())
}
