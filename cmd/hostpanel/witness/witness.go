// Package witness has the command that is a witness of the logs of other panels
// (docs/audit.md, "Witnesses").
package witness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/tlog/witness"
)

// Command is `hostpanel witness`.
type Command struct {
	State   string   `required:"" placeholder:"FILE" help:"Its key, and what it has cosigned. Made at the first start."`
	Name    string   `help:"Its name in cosignatures, such as witness.example.com/w1. For the first start."`
	Log     []string `placeholder:"VKEY" help:"Public key of a log that it cosigns, as: hostpanel log checkpoint --key. Once for each."`
	Address string   `default:"127.0.0.1:8091" help:"Where it listens."`
	Key     bool     `help:"Write the public key of the witness, and end."`
}

// Run cosigns until it is told to stop.
func (w Command) Run(ctx context.Context, c console.Console) (err error) {
	of, err := witness.Open(w.State, w.Name, w.Log, clock.Now)
	if err != nil {
		return console.Misused("%w", err)
	}
	defer func() { err = errors.Join(err, of.Close()) }()
	if w.Key {
		fmt.Fprintln(c.Out, of.VKey())
		return nil
	}
	if len(w.Log) == 0 {
		return console.Misused("name the logs to cosign with --log")
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", w.Address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", w.Address, err)
	}
	fmt.Fprintf(c.Out, "%s cosigns at http://%s\n", of.VKey(), listener.Addr())
	return of.Serve(ctx, listener, slog.New(slog.NewTextHandler(c.Err, nil)))
}
