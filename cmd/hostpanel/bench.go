package main

import (
	"context"
	"log/slog"
	"time"

	"hostpanel/cmd/hostpanel/bench"
	"hostpanel/sagas/assembly"
)

type benchCommand struct {
	Only  []string `placeholder:"SECTION" help:"Only these: log, commands, replay, sagas, webhooks, access, hosting, notices, orders, streams."`
	Smoke bool     `help:"A moment of everything, to see that it runs."`
	JSON  bool     `name:"json" help:"For programs."`
}

// Run measures on a database of its own, which is gone afterwards.
func (b benchCommand) Run(ctx context.Context, c console) error {
	about := bench.Panel{Catalogue: assembly.Catalogue(), Serve: assembly.Serve, Migrations: migrations(), Server: measured}
	return bench.Run(ctx, bench.Options{Smoke: b.Smoke, Only: b.Only, JSON: b.JSON, Out: c.out, Panel: about})
}

// measured is the server as the program wires it, on a database that is there
// to be measured.
func measured(on bench.Parts, limits bool) bench.Server {
	p := &program{
		config: &config{abuseLimits: limits, engineWait: 3 * time.Second}, log: slog.New(slog.DiscardHandler),
		store: on.Store, tables: on.Tables, sagas: on.Sagas, keys: on.Keys,
	}
	p.setPublicURL("http://127.0.0.1")
	return p.server()
}
