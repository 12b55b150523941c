//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// A Cluster is a running server with the panel's database in it.
type Cluster struct {
	options  Options
	home     home
	owner    owner
	password string
	locks    locks
	temp     *tempDir // of a volatile cluster without a directory

	mu      sync.Mutex
	server  *server
	stopped bool
}

// Start runs (or joins) the cluster in the data directory, whatever the last
// process there left behind, and returns it when it answers. It takes less
// than a second once the cluster exists, and about two to make it. It gives up
// at the end of ctx, and after five minutes at the latest.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c := &Cluster{options: o}
	if err := c.start(ctx); err != nil {
		c.giveUp()
		return nil, fmt.Errorf("start Postgres in %s: %w", c.home.dir, err)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if err := c.settle(ctx); err != nil {
		return err
	}
	defer c.locks.endTurn()
	if c.password, err = c.home.password(c.owner); err != nil {
		return err
	}
	if c.server, err = c.found(ctx); err != nil || c.server != nil {
		return err
	}
	if err := c.create(ctx); err != nil {
		return err
	}
	return c.launch(ctx, c.home.address())
}

// settle prepares the directory and takes the locks in it, the turn to start or
// stop the cluster among them.
func (c *Cluster) settle(ctx context.Context) (err error) {
	if c.options.Volatile && c.options.Dir == "" {
		reapTempDirs()
		if c.temp, err = newTempDir(); err != nil {
			return err
		}
		c.options.Dir = c.temp.path
	}
	if c.options.Existing {
		if err := mustExist(c.options.Dir); err != nil {
			return err
		}
	}
	if c.home, err = openHome(c.options.Dir); err != nil {
		return err
	}
	if c.temp != nil {
		c.home.binaries = sharedBinaries()
	}
	if c.owner, err = ownerOf(c.home); err != nil {
		return err
	}
	if err := c.owner.mustReach(c.home.dir); err != nil {
		return err
	}
	if c.options.Volatile {
		return nil
	}
	return c.locks.take(ctx, c.home, c.options.Serve)
}

// URL is the address of the panel's database for its owner, who may do
// everything in this cluster. It holds the password.
func (c *Cluster) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.url(c.server.address, database)
}

// Crash ends the server at once, as a cut of the power would, and starts it
// again at the same address. It returns when the server has recovered.
func (c *Cluster) Crash(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.server.stop(crash); err != nil {
		return fmt.Errorf("crash Postgres in %s: %w", c.home.dir, err)
	}
	if err := c.launch(ctx, c.server.address); err != nil {
		return fmt.Errorf("restart Postgres in %s: %w", c.home.dir, err)
	}
	return nil
}

// Stop ends this process's use of the cluster. The process that serves it ends
// the server, also one that another process started; any other process only
// when no other process uses it. A volatile cluster is deleted. A second Stop
// does nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	if err := c.end(); err != nil {
		return fmt.Errorf("stop Postgres in %s: %w", c.home.dir, err)
	}
	return nil
}

func (c *Cluster) end() error {
	if c.options.Volatile {
		err := c.server.stop(crash)
		c.discard()
		return err
	}
	defer c.locks.release(c.home)
	last, err := c.locks.lastUser(c.home)
	if err != nil || !last {
		return err
	}
	return c.server.stop(shutdown)
}

// giveUp leaves a start that failed as if it had not been tried.
func (c *Cluster) giveUp() {
	if c.server != nil && c.server.exited != nil {
		_ = c.server.stop(shutdown)
	}
	if c.options.Volatile {
		c.discard()
		return
	}
	c.locks.release(c.home)
}

func (c *Cluster) discard() {
	if c.home.dir != "" {
		for _, path := range c.home.everything() {
			_ = os.RemoveAll(path)
		}
	}
	if c.temp != nil {
		c.temp.remove()
	}
}
