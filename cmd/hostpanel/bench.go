package main

import (
	"context"

	"hostpanel/cmd/hostpanel/bench"
)

type benchCommand struct {
	Only  []string `placeholder:"SECTION" help:"Only these: log, commands, replay, sagas, webhooks."`
	Smoke bool     `help:"A moment of everything, to see that it runs."`
	JSON  bool     `name:"json" help:"For programs."`
}

// Run measures on a database of its own, which is gone afterwards.
func (b benchCommand) Run(ctx context.Context, c console) error {
	panel := bench.Panel{Catalogue: catalogue(), Serve: serveAll, Migrations: migrations()}
	return bench.Run(ctx, bench.Options{Smoke: b.Smoke, Only: b.Only, JSON: b.JSON, Out: c.out, Panel: panel})
}
