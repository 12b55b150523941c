package main

import (
	"context"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"
)

type workerCommand struct{}

// Run carries out what others accept, until it is told to stop. Any number of
// workers may run beside any number of serves.
func (workerCommand) Run(ctx context.Context, s Settings, c console) error {
	config, err := configure(s, false)
	if err != nil {
		return err
	}
	if err := config.guessPublicURL(); err != nil {
		return err
	}
	log := newLog(c.err, config.logLevel)
	slog.SetDefault(log)
	config.announce(log)
	p, err := open(ctx, config, log, working)
	if err != nil {
		return err
	}
	defer p.close()
	stopped := ctx
	group, ctx := errgroup.WithContext(ctx)
	p.work(ctx, group)
	log.Info("the worker is ready")
	return unlessStopped(stopped, group.Wait())
}

// guessPublicURL is for those who do not listen themselves: the links in mails
// lead to the process that does.
func (c *config) guessPublicURL() error {
	if c.publicURL != "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(c.listen); err != nil || port == "0" {
		return misused("HOSTPANEL_PUBLIC_URL is needed: a worker cannot know where the panel is reached")
	}
	c.publicURL = "http://" + c.listen
	return nil
}
