// Command bench measures the panel against its peers, side by side in one run: the raw
// database by pgbench, message-db, plain SQL, River. Figures of two machines cannot be
// compared; ratios can (docs/benchmarks.md). It is a module of its own, so that the panel
// does not carry it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/memory"
	"hostpanel/domain"
)

// Options say what is measured, and for how long.
type Options struct {
	Only    []string  `placeholder:"SECTION" help:"Only these: ${sections}."`
	Program string    `placeholder:"FILE" help:"Count the statements of this program, and not of the panel as it stands here."`
	Size    int       `placeholder:"ROWS" default:"1000000" help:"Let cliffs grow to so many events and rows: 100000, 1000000 or 10000000."`
	River   string    `placeholder:"FILE" help:"Compare with River by this program, which make peers builds."`
	Save    string    `placeholder:"FILE" help:"Keep the counts of each path in a file."`
	Against string    `placeholder:"FILE" help:"Compare the counts of each path with those of such a file; more is a failure."`
	Smoke   bool      `help:"A moment of everything, to see that it runs."`
	JSON    bool      `name:"json" help:"Print the record of the run, for a file in runs/."`
	Machine string    `placeholder:"WORDS" help:"What the record says of this machine."`
	Median  []string  `placeholder:"FILE" help:"Measure nothing, and print the run in the middle of several records."`
	Page    string    `placeholder:"FILE" help:"Measure nothing, and print the page of a record: docs/generated/benchmarks.md."`
	Out     io.Writer `kong:"-"`
}

func main() {
	memory.PaceCollections(os.Getenv) // as the panel does
	o := Options{Out: os.Stdout}
	kong.Parse(&o, kong.Name("bench"), kong.Description("Measures how fast this machine is at the panel's work."), kong.Vars{
		"sections": "log, commands, replay, transparency, rebuild, states, sagas, webhooks, access, hosting, notices, orders, " +
			"renewals, streams, cliffs, counts",
	})
	ctx := domain.Origin{Cause: domain.OperatorCause(uuid.New())}.With(context.Background())
	if err := o.carryOut(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o Options) carryOut(ctx context.Context) error {
	switch {
	case o.Page != "":
		return printPage(o.Out, o.Page)
	case len(o.Median) > 0:
		return median(o, o.Median)
	}
	return measure(ctx, o)
}
