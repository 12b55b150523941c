package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilEnded is a context that ends with a signal, and with the first line that
// cannot be written. No signal ends the process any more, so that a run that is
// broken off stops its Postgres and removes its folders.
func untilEnded(ctx context.Context, out *io.Writer) (context.Context, func()) {
	ctx, broken := context.WithCancelCause(ctx)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE) // so a write to a closed pipe is an error
	*out = output{*out, broken}
	return ctx, func() { signal.Stop(pipe); stop(); broken(nil) }
}

// An output ends the run when it cannot be written to.
type output struct {
	io.Writer
	broken context.CancelCauseFunc
}

func (o output) Write(line []byte) (int, error) {
	n, err := o.Writer.Write(line)
	if err != nil {
		o.broken(fmt.Errorf("write what was measured: %w", err))
	}
	return n, err
}
