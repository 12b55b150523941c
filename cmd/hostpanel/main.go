// Command hostpanel takes orders for hosting, waits for the money, and sets up
// what was bought. `hostpanel serve --demo` shows all of it without any
// preparation; docs/operations.md tells how to run it in earnest, and
// docs/configuration.md what can be set.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// How a command ends.
const (
	done   = 0
	failed = 1
	usage  = 2
)

// commands are what the program can do, a file each.
type commands struct {
	Settings

	Serve       serveCommand       `cmd:"" help:"Serve the API and carry out orders, until told to stop."`
	Worker      workerCommand      `cmd:"" help:"Carry out orders without serving the API, beside a serve on the same database."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database up to date, and nothing else."`
	History     historyCommand     `cmd:"" help:"Tell what has happened to an order, a site, a tenant, …"`
	Orders      ordersCommand      `cmd:"" help:"List, show and retry orders."`
	Runs        runsCommand        `cmd:"" help:"List, show and retry runs: what the panel does outside, step by step."`
	Sandbox     sandboxCommand     `cmd:"" help:"Let the sandboxes fail, to see how the panel takes it."`
	User        userCommand        `cmd:"" help:"Open accounts, set passwords, list, show and erase."`
	Webhooks    webhooksCommand    `cmd:"" help:"List and replay what payment providers have sent."`
	Projections projectionsCommand `cmd:"" help:"List read tables, and build them anew from the log."`
	Zone        zoneCommand        `cmd:"" help:"Write a DNS zone as a zone file."`
	Verify      verifyCommand      `cmd:"" help:"Check that nothing in the log was changed, added or taken away."`
	Bench       benchCommand       `cmd:"" help:"Measure how fast this machine is at it."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], console{out: os.Stdout, err: os.Stderr, in: os.Stdin})
	os.Exit(code)
}

// run carries out one command and answers with the exit code.
func run(ctx context.Context, args []string, c console) int {
	all := commands{Settings: Settings{Payments: providers()}}
	code, helped := done, false
	parser, err := newParser(&all, c, func(int) { helped = true })
	if err != nil {
		panic(err) // a mistake in the declarations above
	}
	chosen, err := parser.Parse(args)
	if helped {
		return done
	}
	if err == nil {
		chosen.BindTo(ctx, (*context.Context)(nil))
		err = chosen.Run(all.Settings, c)
	}
	if err != nil {
		code = c.complain(err)
	}
	return code
}

func newParser(into *commands, c console, exit func(int)) (*kong.Kong, error) {
	return kong.New(into,
		kong.Name("hostpanel"),
		kong.Description("Takes orders for hosting, waits for the money, and sets up what was bought."),
		kong.Writers(c.out, c.err),
		kong.Exit(exit),
		kong.UsageOnError(),
		kong.Resolvers(secretFiles{}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "settings", Title: "Settings (docs/configuration.md):"},
		}),
	)
}

// A misuse is a mistake in how the program was called or configured.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misused(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// complain says what went wrong and answers with the exit code.
func (c console) complain(err error) int {
	var parse *kong.ParseError
	var mistake misuse
	if errors.Is(err, errSaid) {
		return failed
	}
	fmt.Fprintln(c.err, "hostpanel:", err)
	if errors.As(err, &parse) || errors.As(err, &mistake) {
		fmt.Fprintln(c.err, `Run "hostpanel --help" to see what it understands.`)
		return usage
	}
	return failed
}

// errSaid ends a command in failure whose output has told the reason.
var errSaid = errors.New("told already")
