// Command river measures River, a job queue on Postgres, for bench: chains of
// jobs of which each completes, and inserts the next, in one transaction
// (docs/benchmarks.md, "Peers"). It prints its figures as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// chain is the number of jobs of a chain.
const chain = 5

// A step is a job that does nothing.
type step struct {
	Chain int `json:"chain"`
	Step  int `json:"step"`
}

func (step) Kind() string { return "step" }

// A worker completes a step and inserts the next one in the same transaction.
type worker struct {
	river.WorkerDefaults[step]
	pool *pgxpool.Pool
	done atomic.Int64  // steps
	ends chan struct{} // of chains
}

// Work does one step. What is returned after the commit changes nothing.
func (w *worker) Work(ctx context.Context, job *river.Job[step]) error {
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if job.Args.Step < chain {
			next := step{job.Args.Chain, job.Args.Step + 1}
			if _, err := river.ClientFromContext[pgx.Tx](ctx).InsertTx(ctx, tx, next, nil); err != nil {
				return err
			}
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
	if err == nil {
		w.done.Add(1)
		if job.Args.Step == chain {
			w.ends <- struct{}{}
		}
	}
	return err
}

// figures are what is measured.
type figures struct {
	Steps float64 `json:"steps_per_second"`
	P50   float64 `json:"p50_ms"` // of a chain that is alone
	P99   float64 `json:"p99_ms"`
}

type settings struct {
	database               string
	workers, chains, alone int
	cooldown               time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.database, "database", "", "the URL of an empty database")
	flag.IntVar(&s.workers, "workers", 16, "steps at once")
	flag.IntVar(&s.chains, "chains", 3000, "chains that are inserted before the workers start")
	flag.IntVar(&s.alone, "alone", 300, "chains one after the other")
	flag.DurationVar(&s.cooldown, "cooldown", river.FetchCooldownDefault, "pause between two fetches")
	flag.Parse()
	all, err := s.measure(context.Background())
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (s settings) measure(ctx context.Context) (all figures, err error) {
	config, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		return all, err
	}
	config.MaxConns = 48 // as many as the panel has
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return all, err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return all, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return all, err
	}
	w := &worker{pool: pool, ends: make(chan struct{}, s.chains)}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		FetchCooldown: s.cooldown, FetchPollInterval: max(s.cooldown, river.FetchPollIntervalDefault), Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: s.workers}},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return all, err
	}
	if err := s.insert(ctx, client); err != nil {
		return all, err
	}
	begin := time.Now()
	if err := client.Start(ctx); err != nil {
		return all, err
	}
	if err := await(w.ends, s.chains); err != nil {
		return all, err
	}
	all.Steps = float64(w.done.Load()) / time.Since(begin).Seconds()
	if all.P50, all.P99, err = s.oneByOne(ctx, client, w); err != nil {
		return all, err
	}
	return all, client.Stop(ctx)
}

// insert puts in the first step of every chain.
func (s settings) insert(ctx context.Context, client *river.Client[pgx.Tx]) error {
	all := make([]river.InsertManyParams, s.chains)
	for n := range all {
		all[n].Args = step{n, 1}
	}
	_, err := client.InsertMany(ctx, all)
	return err
}

// oneByOne is how long a chain takes that is alone, in milliseconds.
func (s settings) oneByOne(ctx context.Context, client *river.Client[pgx.Tx], w *worker) (p50, p99 float64, err error) {
	took := make([]float64, s.alone)
	for n := range took {
		begin := time.Now()
		if _, err := client.Insert(ctx, step{s.chains + n, 1}, nil); err != nil {
			return 0, 0, err
		}
		if err := await(w.ends, 1); err != nil {
			return 0, 0, err
		}
		took[n] = float64(time.Since(begin)) / float64(time.Millisecond)
	}
	if s.alone == 0 {
		return 0, 0, nil
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], nil
}

// await waits for the ends of so many chains.
func await(ends chan struct{}, chains int) error {
	late := time.After(10 * time.Minute)
	for range chains {
		select {
		case <-ends:
		case <-late:
			return errors.New("the chains did not end within ten minutes")
		}
	}
	return nil
}
