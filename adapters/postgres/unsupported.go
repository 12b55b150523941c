//go:build !unix

package postgres

import (
	"context"
	"errors"
	"log/slog"
)

var errUnsupported = errors.New("the embedded Postgres needs a Unix system: set DATABASE_URL")

// A Cluster cannot run on this system.
type Cluster struct{}

// Start answers that this system cannot run a cluster.
func Start(context.Context, Options) (*Cluster, error) { return nil, errUnsupported }

// URL is empty.
func (c *Cluster) URL() string { return "" }

// Crash answers that there is no cluster.
func (c *Cluster) Crash(context.Context) error { return errUnsupported }

// Stop has nothing to do.
func (c *Cluster) Stop() error { return nil }

// Watch has nothing to watch.
func (c *Cluster) Watch(context.Context, *slog.Logger) error { return nil }

// Running is false.
func (c *Cluster) Running() bool { return false }
