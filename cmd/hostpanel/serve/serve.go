// Package serve runs the panel: `hostpanel serve` and `hostpanel worker`, the first
// superuser and the demo (docs/operations.md).
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
)

// Command is `hostpanel serve`.
type Command struct {
	Demo       bool   `help:"With everything to try it out, and nothing real: test payments, sandboxes, plans, a widget, keys."`
	AsOf       string `placeholder:"TIME" help:"A view of the past: nothing can be changed, and superusers alone may look (docs/audit.md)."`
	Checkpoint string `placeholder:"FILE"`
}

// aboutCheckpoint is the text of --checkpoint.
const aboutCheckpoint = "A signed checkpoint that was kept outside of the panel: without all that it covers, " +
	"nothing is written."

// Abouts are the longer texts of its flags and arguments, by name.
func (Command) Abouts() map[string]string {
	return map[string]string{
		"checkpoint": aboutCheckpoint,
	}
}

// Run serves until it is told to stop, then ends what runs and leaves the rest
// to the next start.
func (s Command) Run(ctx context.Context, settings config.Settings, c console.Console) error {
	return unlessStopped(ctx, s.run(ctx, settings, c))
}

// unlessStopped drops errors that follow from a requested stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s Command) run(ctx context.Context, settings config.Settings, c console.Console) error {
	as, err := s.part(&settings)
	if err != nil {
		return err
	}
	cfg, err := config.New(settings, s.Demo)
	if err != nil {
		return err
	}
	cfg.Joined = as == program.Viewing
	cfg.Checkpoint = s.Checkpoint
	log := redact.NewLog(c.Err, cfg.LevelOn(c.LogsToTerminal()))
	slog.SetDefault(log)
	cfg.Announce(log)
	begin, end := c.Doing()
	cfg.Begins = begin
	looked := program.Looking(cfg, c)
	p, err := program.Open(ctx, cfg, log, as)
	end()
	looked()
	if err != nil {
		return err
	}
	defer p.Close()
	listener, err := Listen(ctx, p)
	if err != nil {
		return err
	}
	if err := SetUp(ctx, p, c); err != nil {
		_ = listener.Close()
		return err
	}
	return Serve(ctx, p, listener, c)
}

// part is what the command serves: the panel, or a view of the past.
func (s Command) part(settings *config.Settings) (as program.Part, err error) {
	settings.AsOf, err = console.ParseTime(s.AsOf)
	switch {
	case err != nil || s.AsOf == "":
		return program.Serving, err
	case s.Demo:
		return as, console.Misused("--demo and --as-of do not go together: leave --demo out, and name the data directory of the demo")
	}
	return program.Viewing, nil
}

// Listen claims the address, which tells where we are reached.
func Listen(ctx context.Context, p *program.Program) (net.Listener, error) {
	listener, err := listenOn(ctx, p.Config.Listen)
	if err != nil {
		return nil, err
	}
	if p.Config.PublicURL == "" || !p.Config.AsOf.IsZero() {
		p.SetPublicURL("http://" + reachable(listener.Addr()))
	}
	return listener, nil
}

func listenOn(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, whyNoAddress(address, err)
	}
	return listener, nil
}

// whyNoAddress says what to do about an address that cannot be listened on.
// An address that is taken, or not there yet, may be free at the next start.
func whyNoAddress(address string, err error) error {
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"another program listens on %s: stop it, or choose another address with HOSTPANEL_LISTEN (port 0 is any free one)",
			address,
		)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine does not have the address %s: correct HOSTPANEL_LISTEN, or wait for the network", address)
	case errors.Is(err, syscall.EACCES):
		return console.Misused("HOSTPANEL_LISTEN: this user may not listen on %s: choose a port from 1024 on, behind a proxy", address)
	case errors.As(err, &unknown):
		return console.Misused("HOSTPANEL_LISTEN: the host of %s has no address", address)
	}
	return fmt.Errorf("listen on %s: %w", address, err)
}

// reachable is an address that a browser can go to: one that listens on every
// interface is reached on this machine.
func reachable(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return at.String()
}

// SetUp makes what a panel cannot be without.
func SetUp(ctx context.Context, p *program.Program, c console.Console) error {
	switch {
	case p.Config.Demo:
		return SeedDemo(ctx, p)
	case !p.Config.AsOf.IsZero():
		return nil
	}
	return ensureAdmin(ctx, p, c)
}

// Serve runs everything until ctx ends or a part breaks; then all parts end.
func Serve(ctx context.Context, p *program.Program, listener net.Listener, c console.Console) error {
	server := p.Server()
	if p.Config.Demo {
		settings, err := demoOf(p)
		if err != nil {
			return err
		}
		server.Demo = settings
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Serve(ctx, listener) })
	group.Go(func() error {
		if awaitReady(ctx, p) {
			fmt.Fprintf(c.Out, "hostpanel is ready at %s\n", "http://"+reachable(listener.Addr()))
			if at := p.Config.AsOf; !at.IsZero() {
				fmt.Fprintf(c.Out, "It shows the panel as of %s. Nothing can be changed there.\n", at.UTC().Format(time.RFC3339Nano))
			}
			if p.Config.Demo {
				welcome(c, p, server.Demo.Link)
			}
		}
		return nil
	})
	p.Work(ctx, group)
	err := group.Wait()
	p.Log.Info("hostpanel has stopped")
	return err
}

// awaitReady waits until /readyz is 200.
func awaitReady(ctx context.Context, p *program.Program) bool {
	for {
		if len(p.Ready(ctx)) == 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}
