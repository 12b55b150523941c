// Command hostpanel takes orders for hosting, waits for the money, and sets up
// what was bought. `hostpanel serve --demo` shows all of it without any
// preparation; docs/operations.md tells how to run it in earnest, and
// docs/configuration.md what can be set.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/at"
	"hostpanel/cmd/hostpanel/backup"
	"hostpanel/cmd/hostpanel/compute"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/database"
	"hostpanel/cmd/hostpanel/doctor"
	"hostpanel/cmd/hostpanel/engine"
	"hostpanel/cmd/hostpanel/evidence"
	"hostpanel/cmd/hostpanel/history"
	"hostpanel/cmd/hostpanel/memory"
	"hostpanel/cmd/hostpanel/offers"
	"hostpanel/cmd/hostpanel/operations"
	"hostpanel/cmd/hostpanel/sandbox"
	"hostpanel/cmd/hostpanel/secrets"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/cmd/hostpanel/shell"
	"hostpanel/cmd/hostpanel/users"
	"hostpanel/cmd/hostpanel/witness"
	"hostpanel/cmd/hostpanel/zone"
	"hostpanel/domain"
)

// commands are what the program can do; each has its package below this one.
type commands struct {
	config.Settings
	HelpSettings shell.SettingsHelp `help:"Show the settings and their variables."`

	Serve  serve.Command `cmd:"" help:"Serve the API and carry out orders, until told to stop."`
	Worker serve.Worker  `cmd:"" help:"Carry out orders without serving the API, beside a serve on the same database."`

	At at.Command `cmd:"" help:"Show lists of the panel as they were at a moment: at 2026-05-01T10:00Z -- orders list."`

	Migrate  database.Migrate `cmd:"" help:"Bring the database up to date, and nothing else."`
	Backup   backup.Command   `cmd:"" help:"Write all that cannot be computed anew to a folder or a file."`
	Restore  backup.Restore   `cmd:"" help:"Fill an empty database from a backup, and check it."`
	Recovery backup.Recovery  `cmd:"" help:"Tell whether a restored panel keeps from reaching outside, and let it."`

	Evidence evidence.Command `cmd:"" help:"Write an evidence pack: events with their bytes and proofs, for a stranger to check."`

	Export        history.Export           `cmd:"" help:"Write the log, or a part of it, to a file: JSON lines or CSV."`
	History       history.Command          `cmd:"" help:"Tell what has happened to an order, a site, a tenant, …"`
	Orders        operations.Orders        `cmd:"" help:"List, show and retry orders."`
	Invoices      operations.Invoices      `cmd:"" help:"List invoices, and record or waive what is to be paid."`
	Subscriptions operations.Subscriptions `cmd:"" help:"List, change and cancel subscriptions."`
	Runs          operations.Runs          `cmd:"" help:"List, show and retry runs: what the panel does outside, step by step."`
	Engine        engine.Command           `cmd:"" help:"Try the hosting engine, before the panel is pointed at it."`
	Compute       compute.Command          `cmd:"" help:"Try a hypervisor, before the panel makes machines on it."`
	Secrets       secrets.Command          `cmd:"" help:"Check and replace the secret key, with which personal data is sealed."`
	Incidents     operations.Incidents     `cmd:"" help:"List, requeue and settle problems that need an operator."`
	Plans         offers.Plans             `cmd:"" help:"List, offer and change plans."`
	Nodes         offers.Stock             `cmd:"" help:"List and keep the nodes on which virtual servers are made."`
	AddressPools  offers.Stock             `cmd:"" help:"List and keep the networks from which virtual servers get addresses."`
	Machines      offers.Machines          `cmd:"" help:"List virtual servers, and do with them what their owners may do."`
	Keys          offers.Keys              `cmd:"" help:"List, make, change and end the storefront keys of websites."`
	Sandbox       sandbox.Command          `cmd:"" help:"Let the sandboxes fail, to see how the panel takes it."`
	User          users.Command            `cmd:"" help:"Open accounts, set passwords, list, show and erase."`
	Webhooks      operations.Webhooks      `cmd:"" help:"List and replay what payment providers have sent."`
	Projections   database.Projections     `cmd:"" help:"List read tables, and build them anew from the log."`
	Zone          zone.Command             `cmd:"" help:"Write a DNS zone as a zone file."`
	Doctor        doctor.Command           `cmd:"" help:"Examine the panel and all that it depends on, and name each fault with its mend."`
	Verify        history.Verify           `cmd:"" help:"Check that nothing in the log was changed, added or taken away."`
	Log           history.Log              `cmd:"" help:"Write the checkpoint of the transparency log, or begin a new origin."`
	Witness       witness.Command          `cmd:"" help:"Be a witness of other panels' logs: cosign checkpoints of logs that only grow."`
	Completion    shell.Completion         `cmd:"" help:"Print the script that completes commands in bash, zsh or fish."`
	Complete      shell.Complete           `cmd:"" hidden:""`
	Version       shell.Version            `cmd:"" help:"Print the version."`
	Help          shell.Help               `cmd:"" help:"Show what a command does."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	memory.PaceCollections(os.Getenv)
	code := run(ctx, os.Args[1:], console.Console{Out: os.Stdout, Err: os.Stderr, In: os.Stdin})
	os.Exit(code)
}

// run carries out one command and answers with the exit code.
func run(ctx context.Context, args []string, c console.Console) int {
	if err := carryOut(ctx, args, c, time.Time{}); err != nil {
		return c.Complain(err)
	}
	return console.Done
}

// carryOut carries out one command, as of a moment if there is one.
func carryOut(ctx context.Context, args []string, c console.Console, asOf time.Time) error {
	all := commands{Settings: config.Settings{Payments: config.Providers()}}
	helped := false
	parser, err := newParser(&all, c, func(int) { helped = true })
	if err != nil {
		panic(err) // a mistake in the declarations above
	}
	if err := config.RefuseSecretFlags(args); err != nil {
		return err
	}
	chosen, err := parser.Parse(shell.Arguments(parser, args))
	if helped {
		return nil
	}
	if err == nil {
		err = all.ReadSecrets()
	}
	if err == nil && !asOf.IsZero() {
		err = at.Allowed(chosen.Command())
	}
	if err != nil {
		return err
	}
	all.AsOf = asOf
	chosen.BindTo(domain.Origin{Cause: domain.OperatorCause(uuid.New())}.With(ctx), (*context.Context)(nil))
	chosen.Bind(at.Nested(func(moment time.Time, args []string) error { return carryOut(ctx, args, c, moment) }))
	return chosen.Run(all.Settings, c)
}

func newParser(into *commands, c console.Console, exit func(int)) (*kong.Kong, error) {
	return kong.New(into,
		kong.Name("hostpanel"),
		kong.Description("Takes orders for hosting, waits for the money, and sets up what was bought."),
		kong.Writers(c.Out, c.Err),
		kong.Exit(exit),
		kong.Help(shell.PrintHelp),
		kong.PostBuild(shell.Explain),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "settings", Title: "Settings (docs/configuration.md):"},
		}),
	)
}
