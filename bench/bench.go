package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/postgres"
	"hostpanel/eventstore"
)

// A Result is one measured line.
type Result struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Ratio   float64 `json:"ratio,omitempty"` // to the peer
	Peer    string  `json:"peer,omitempty"`
	Bar     float64 `json:"bar,omitempty"` // what the ratio, or else the value, has to reach
	AtMost  bool    `json:"at_most,omitempty"`
	Note    string  `json:"note,omitempty"`
	Counts  *Counts `json:"counts,omitempty"`
	Least   *Least  `json:"least,omitempty"`
}

// Reached tells whether a line with a bar reaches it.
func (r Result) Reached() bool {
	if r.AtMost {
		return r.measured() <= r.Bar
	}
	return r.measured() >= r.Bar
}

// measured is what counts of a line: its ratio to a peer, if it has one.
func (r Result) measured() float64 {
	if r.Peer != "" {
		return r.Ratio
	}
	return r.Value
}

// A run is one measurement of everything, on a cluster of its own.
type run struct {
	Options
	cluster  *postgres.Cluster
	duration time.Duration // of each measurement
	rounds   int           // the median of them counts
	results  []Result
}

// measure measures and prints. It needs pgbench, which comes with PostgreSQL.
func measure(ctx context.Context, o Options) error {
	r := &run{Options: o, duration: 4 * time.Second, rounds: 3}
	if o.Smoke {
		r.duration, r.rounds = 100*time.Millisecond, 1
	}
	ctx, done := untilEnded(ctx, &r.Out)
	defer done()
	// On a real disk: everything that is measured waits for it, as in production.
	folder, err := os.MkdirTemp("", "hostpanel-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	cluster, err := postgres.Start(ctx, postgres.Options{Dir: folder, Settings: map[string]string{
		"max_connections": "400", "shared_buffers": "256MB", "max_wal_size": "4GB", "checkpoint_timeout": "30min",
	}})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Stop() }()
	r.cluster = cluster
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	defer slog.SetDefault(quiet)
	for _, s := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"log", r.log},
		{"commands", r.commands},
		{"replay", r.replay},
		{"transparency", r.transparency},
		{"rebuild", r.rebuild},
		{"states", r.states},
		{"sagas", r.sagas},
		{"webhooks", r.webhooks},
		{"access", r.access},
		{"hosting", r.hosting},
		{"notices", r.notices},
		{"orders", r.orders},
		{"renewals", r.renewals},
		{"streams", r.streams},
		{"cliffs", r.cliffs},
		{"counts", r.counts},
	} {
		if len(o.Only) > 0 && !slices.Contains(o.Only, s.name) {
			continue
		}
		if err := s.measure(ctx); err != nil {
			return fmt.Errorf("measure %s: %w", s.name, cmp.Or(context.Cause(ctx), err))
		}
	}
	if r.JSON {
		if err := r.record().write(r.Out); err != nil {
			return err
		}
	}
	return r.keep()
}

// keep saves the counts, and compares them with those of another run.
func (r *run) keep() error {
	counted := paths(r.results)
	if r.Save != "" {
		if err := save(r.Save, counted); err != nil {
			return err
		}
	}
	if r.Against == "" {
		return nil
	}
	before, err := kept(r.Against)
	if err != nil {
		return err
	}
	out := r.Out
	if r.JSON {
		out = io.Discard
	}
	return compare(out, r.Against, before, counted)
}

// report prints a line as soon as it is measured.
func (r *run) report(line Result) {
	if math.IsInf(line.Ratio, 0) || math.IsNaN(line.Ratio) {
		line.Ratio = 0 // a moment was too short for the peer; JSON has no word for it
	}
	first := len(r.results) == 0 || r.results[len(r.results)-1].Section != line.Section
	r.results = append(r.results, line)
	if r.JSON {
		return
	}
	if first {
		fmt.Fprintf(r.Out, "\n%s\n", line.Section)
	}
	fmt.Fprintf(r.Out, "  %-58s %12s %-9s", line.Name, figure(line.Value), line.Unit)
	if line.Peer != "" {
		fmt.Fprintf(r.Out, " %6.2f x %s", line.Ratio, line.Peer)
	}
	if line.Bar != 0 {
		sign, verdict := "at least", "reached"
		if line.AtMost {
			sign = "at most"
		}
		if !line.Reached() {
			verdict = "MISSED"
		}
		fmt.Fprintf(r.Out, "  (bar: %s %s; %s)", sign, figure(line.Bar), verdict)
	}
	if line.Note != "" {
		fmt.Fprintf(r.Out, "  %s", line.Note)
	}
	fmt.Fprintln(r.Out)
}

func figure(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// median measures several times and takes the middle.
func (r *run) median(measure func() (float64, error)) (float64, error) {
	var all []float64
	for range r.rounds {
		v, err := measure()
		if err != nil {
			return 0, err
		}
		all = append(all, v)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// database makes a database with the log's schema and the given migrations.
func (r *run) database(ctx context.Context, name string, more ...eventstore.Migration) (url string, owner *pgxpool.Pool, err error) {
	url, err = r.empty(ctx, name)
	if err != nil {
		return "", nil, err
	}
	if owner, err = eventstore.ConnectOwner(ctx, url); err != nil {
		return "", nil, err
	}
	return url, owner, eventstore.Migrate(ctx, owner, more...)
}
