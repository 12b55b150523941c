package main

import (
	"context"
	"log/slog"
	"time"

	"hostpanel/cmd/hostpanel/bench"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/sagas/assembly"
)

type benchCommand struct {
	Only    []string `placeholder:"SECTION" help:"Only these: log, commands, replay, transparency, rebuild, states, sagas, webhooks, access, hosting, notices, orders, renewals, streams, cliffs, counts."`
	Program string   `placeholder:"FILE" help:"Count the statements of this program instead: another version."`
	Size    int      `placeholder:"ROWS" default:"1000000" help:"Let cliffs grow to so many events and rows: 100000, 1000000 or 10000000."`
	River   string   `placeholder:"FILE" help:"Compare with River by this program, which make peers builds."`
	Save    string   `placeholder:"FILE" help:"Keep the counts of each path in a file."`
	Against string   `placeholder:"FILE" help:"Compare the counts of each path with those of such a file; more is a failure."`
	Smoke   bool     `help:"A moment of everything, to see that it runs."`
	JSON    bool     `name:"json" help:"For programs."`
	Median  []string `placeholder:"FILE" help:"Measure nothing, and print the run in the middle of several, which --json has printed to files."`
}

// Run measures on a database of its own, which is gone afterwards.
func (b benchCommand) Run(ctx context.Context, c console.Console) error {
	if len(b.Median) > 0 {
		return bench.Median(c.Out, b.Median)
	}
	about := bench.Panel{Catalogue: assembly.Catalogue(), Serve: assembly.Serve, Migrations: program.Migrations(), Server: measured}
	return bench.Run(ctx, bench.Options{Smoke: b.Smoke, Only: b.Only, Program: b.Program, Size: b.Size, River: b.River, JSON: b.JSON, Save: b.Save, Against: b.Against, Out: c.Out, Panel: about})
}

// measured is the server as the program wires it, on a database that is there
// to be measured.
func measured(on bench.Parts, limits bool) bench.Server {
	p := &program.Program{
		Config: &config.Config{AbuseLimits: limits, EngineWait: 3 * time.Second}, Log: slog.Default(),
		Store: on.Store, Pool: on.Store.Pool(), Tables: on.Tables, Sagas: on.Sagas, Keys: on.Keys,
	}
	p.SetPublicURL("http://127.0.0.1")
	return p.Server()
}
