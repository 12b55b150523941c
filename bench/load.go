package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/clock"
)

// A load is what clients did together.
type load struct {
	perSecond float64
	latencies []time.Duration // sorted
	processor time.Duration   // that all of it took: clients, program and Postgres
}

func (l load) at(quantile float64) time.Duration {
	if len(l.latencies) == 0 {
		return 0
	}
	return l.latencies[int(quantile*float64(len(l.latencies)-1))]
}

// together lets clients repeat work for a while. Work that was begun in time
// counts when it ends.
func together(ctx context.Context, clients int, long time.Duration, work func(ctx context.Context, client, n int) error) (load, error) {
	var mu sync.Mutex
	var all load
	var failed error
	start, before := clock.Now(), processorTime()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			var mine []time.Duration
			var err error
			for n := 0; clock.Since(start) < long && err == nil; n++ {
				began := clock.Now()
				err = work(ctx, client, n)
				mine = append(mine, clock.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all.latencies = append(all.latencies, mine...)
			failed = errors.Join(failed, err)
		})
	}
	wg.Wait()
	all.perSecond = float64(len(all.latencies)) / clock.Since(start).Seconds()
	all.processor = processorTime() - before
	slices.Sort(all.latencies)
	return all, failed
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbench runs a script of SQL with so many clients and returns transactions
// per second.
func (r *run) pgbench(ctx context.Context, database, script string, clients int) (float64, error) {
	binary, err := r.findPgbench()
	if err != nil {
		return 0, err
	}
	file, err := os.CreateTemp("", "hostpanel-bench-*.sql")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := file.WriteString(script); err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, err
	}
	return r.median(func() (float64, error) {
		amount := "--time=" + strconv.Itoa(int(r.duration.Seconds()))
		if r.Smoke {
			amount = "--transactions=10" // each client
		}
		out, err := exec.CommandContext(ctx, binary, "--no-vacuum", "--protocol=prepared", "--client="+strconv.Itoa(clients),
			"--jobs="+strconv.Itoa(min(2, clients)), amount, "--file="+file.Name(), database).CombinedOutput()
		found := tps.FindSubmatch(out)
		if err != nil || found == nil {
			return 0, errors.Join(fmt.Errorf("pgbench: %s", out), err)
		}
		return strconv.ParseFloat(string(found[1]), 64)
	})
}

func (r *run) findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return "", errors.New("pgbench is not installed; on Debian it comes with the package postgresql")
	}
	return found[len(found)-1], nil
}

// empty makes a database without tables.
func (r *run) empty(ctx context.Context, name string) (string, error) {
	conn, err := pgx.Connect(ctx, r.cluster.URL())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	quoted := pgx.Identifier{name}.Sanitize()
	if _, err := conn.Exec(ctx, "drop database if exists "+quoted+" with (force)"); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "create database "+quoted); err != nil {
		return "", err
	}
	u, err := url.Parse(r.cluster.URL())
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// execute runs a statement in a database.
func execute(ctx context.Context, database string, sql string) error {
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.Exec(ctx, sql)
	return err
}
