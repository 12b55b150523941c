//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hostpanel/eventstore/clock"
)

// A server that ends again and again has a fault that a restart does not mend.
const (
	restartsMost   = 3
	restartsWithin = 10 * time.Minute
)

// lookEvery is how often a server is looked at that is not our child.
const lookEvery = 250 * time.Millisecond

// Watch restarts the server, at the same address, each time it ends without
// being told to. It returns at the end of ctx or after Stop, and with an error
// when a restart fails or three within ten minutes have not helped. It calls
// restarted before the server counts as running again: connections to the old
// one are of no use.
func (c *Cluster) Watch(ctx context.Context, log *slog.Logger, restarted func()) error {
	var restarts []time.Time
	for c.awaitEnd(ctx) {
		now := clock.Now()
		for len(restarts) > 0 && now.Sub(restarts[0]) > restartsWithin {
			restarts = restarts[1:]
		}
		if len(restarts) == restartsMost {
			return fmt.Errorf(
				"the Postgres server in %s has ended %d times within %s: read postgres.log there", c.home.dir,
				restartsMost+1, restartsWithin,
			)
		}
		restarts = append(restarts, now)
		log.ErrorContext(ctx, "the Postgres server has ended: it is restarted", "alarm", true, "data", c.home.dir)
		if err := c.restart(ctx, restarted); err != nil {
			return fmt.Errorf("restart Postgres in %s: %w", c.home.dir, err)
		}
		log.WarnContext(ctx, "the Postgres server runs again")
	}
	return nil
}

// Running tells whether the server runs. Between its end and its restart it
// does not.
func (c *Cluster) Running() bool {
	if !c.mu.TryLock() {
		return false // being restarted, or stopped
	}
	defer c.mu.Unlock()
	return !c.stopped && !c.server.gone()
}

// awaitEnd tells whether the server has ended by itself; false: nothing is left
// to watch.
func (c *Cluster) awaitEnd(ctx context.Context) bool {
	for {
		c.mu.Lock()
		stopped, s := c.stopped, c.server
		c.mu.Unlock()
		if stopped || ctx.Err() != nil {
			return false
		}
		if s.gone() {
			return true
		}
		select {
		case <-ctx.Done():
		case <-s.exited: // never, if it is not our child
		case <-time.After(lookEvery):
		}
	}
}

// restart takes the turn, so that of several processes one starts the server
// and the others find it.
func (c *Cluster) restart(ctx context.Context, restarted func()) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || !c.server.gone() {
		return nil
	}
	if c.options.Volatile {
		return errors.New("a throw-away cluster is not restarted")
	}
	turn, err := waitLock(ctx, c.home.turnLock())
	if err != nil {
		return err
	}
	defer unlock(&turn)
	s, err := c.found(ctx)
	switch {
	case err != nil:
		return err
	case s != nil:
		c.server = s
	default:
		if err := c.launch(ctx, c.server.address); err != nil {
			return err
		}
	}
	restarted()
	return nil
}
