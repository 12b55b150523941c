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
type Worker struct {
	Checkpoint string `placeholder:"FILE"`
	Health     string `placeholder:"ADDRESS"`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Worker) Abouts() map[string]string {
	return map[string]string{
		"checkpoint": aboutCheckpoint,
		"health": "Serve /healthz, /readyz and /metrics on this address, such as 127.0.0.1:9090; none: not at " +
			"all.",
	}
}

// Run carries out what others accept, until it is told to stop. Any number of
// workers may run beside any number of serves.
func (w Worker) Run(ctx context.Context, s config.Settings, c console.Console) error {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	if err := cfg.GuessPublicURL(); err != nil {
		return err
	}
	cfg.Checkpoint = w.Checkpoint
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
	if w.Health != "" {
		listener, err := listenOn(ctx, w.Health)
		if err != nil {
			return err
		}
		group.Go(func() error { return p.Monitor(ctx, listener) })
		log.Info("health and metrics are served", "address", listener.Addr())
	}
	p.Work(ctx, group)
	log.Info("the worker is ready")
	return unlessStopped(stopped, group.Wait())
}
