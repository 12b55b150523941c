package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"
)

// River is a job queue on Postgres. Its measurement is a program of its own, so that this
// one does not depend on it (bench/peers/river).

// riverBar is how many times as many steps as River the runner has to do.
const riverBar = 8

// riverFigures are what River does with chains of five jobs that do nothing.
type riverFigures struct {
	Steps float64 `json:"steps_per_second"`
	P50   float64 `json:"p50_ms"` // of a chain that is alone
	P99   float64 `json:"p99_ms"`
}

// riverSteps reports what River does with so many workers. The figures that it returns
// are zero if the program is not there.
func (r *run) riverSteps(ctx context.Context, workers, chains int) (riverFigures, error) {
	if r.River == "" {
		if workers == 16 {
			r.report(Result{Section: "sagas", Name: "River is left out", Note: "not run: make peers, then --river FILE"})
		}
		return riverFigures{}, nil
	}
	// River is set up to wait 100 ms between two fetches. A millisecond, the least that it
	// allows, gives it its best figures.
	if workers == 16 && !r.Smoke {
		asSetUp, err := r.river(ctx, workers, chains/10, 10, 100*time.Millisecond)
		if err != nil {
			return riverFigures{}, err
		}
		asSetUp.report(r, workers, "as it is set up")
	}
	best, err := r.river(ctx, workers, chains, chains/10, time.Millisecond)
	if err == nil {
		best.report(r, workers, "fetching each ms")
	}
	return best, err
}

func (f riverFigures) report(r *run, workers int, how string) {
	r.report(Result{Section: "sagas", Name: fmt.Sprintf("River: steps, %d workers, %s", workers, how), Value: f.Steps, Unit: "steps/s"})
	r.report(Result{Section: "sagas", Name: "River: a chain of five, idle, p50", Value: f.P50, Unit: "ms"})
	r.report(Result{Section: "sagas", Name: "River: a chain of five, idle, p99", Value: f.P99, Unit: "ms"})
}

// river runs the program on a database of its own.
func (r *run) river(ctx context.Context, workers, chains, alone int, cooldown time.Duration) (f riverFigures, err error) {
	database, err := r.empty(ctx, "bench_river")
	if err != nil {
		return f, err
	}
	out, err := exec.CommandContext(ctx, r.River, "-database", database, "-workers", strconv.Itoa(workers),
		"-chains", strconv.Itoa(chains), "-alone", strconv.Itoa(alone), "-cooldown", cooldown.String()).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return f, fmt.Errorf("measure River: %w", err)
	}
	return f, json.Unmarshal(out, &f)
}
