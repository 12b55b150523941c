package serve

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
)

// Worker is `hostpanel worker`.
type Worker struct{}

// Run carries out what others accept, until it is told to stop. Any number of
// workers may run beside any number of serves.
func (Worker) Run(ctx context.Context, s config.Settings, c console.Console) error {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	if err := cfg.GuessPublicURL(); err != nil {
		return err
	}
	log := redact.NewLog(c.Err, cfg.LogLevel)
	slog.SetDefault(log)
	cfg.Announce(log)
	p, err := program.Open(ctx, cfg, log, program.Working)
	if err != nil {
		return err
	}
	defer p.Close()
	stopped := ctx
	group, ctx := errgroup.WithContext(ctx)
	p.Work(ctx, group)
	log.Info("the worker is ready")
	return unlessStopped(stopped, group.Wait())
}
