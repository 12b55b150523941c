package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// updateAndInsert is the least that a durable step can be: a row changed, and
// a row added.
const (
	stepTables = `create table runs (id int primary key, step int not null); insert into runs select n, 0
		from generate_series(1, 1000) n; create table steps (id bigint generated always as identity primary key,
			run int not null, at timestamptz not null default now())`
	updateAndInsert = "\\set id random(1, 1000)\nwith u as (update runs set step = step + 1 where id = :id) insert " +
		"into steps (run) values (:id);"
)

// A stepForm is a way in which the runner carries out runs of five steps that do nothing.
type stepForm struct {
	name  string
	start func(ctx context.Context, run string) error
	bars  map[int]float64 // by how many are at work, as a multiple of plain SQL
}

func (p *panel) stepForms() []stepForm {
	return []stepForm{
		{"one commit per step", p.sagas.Runner.Drill, map[int]float64{16: 0.5, 64: 0.7}},
		{"local steps together", p.sagas.Runner.JoinedDrill, map[int]float64{16: 0.6, 64: 1.2}},
	}
}

// A stepping compares steps with the least that they can be, in a database of its own.
type stepping struct {
	*run
	plain string // its URL
}

// steps measures the mechanism alone, against the least that a durable step can be and
// against River.
func (r *run) steps(ctx context.Context, p *panel) error {
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, stepTables); err != nil {
		return err
	}
	s := stepping{r, plain}
	b16, err := s.plainSteps(ctx, 16)
	if err != nil {
		return err
	}
	b1, err := r.pgbench(ctx, plain, updateAndInsert, 1)
	if err != nil {
		return err
	}
	r.report(Result{Section: "sagas", Name: "B1: the same, one client, mean", Value: 1000 / b1, Unit: "ms"})
	runs := 3000
	if r.Smoke {
		runs = 100
	}
	peer, err := r.riverSteps(ctx, 16, runs)
	if err != nil {
		return err
	}
	if err := s.manyRuns(ctx, p, 16, runs, b16, peer); err != nil {
		return err
	}
	for _, form := range p.stepForms() {
		if err := s.oneRun(ctx, p, form, runs/10, b1, peer); err != nil {
			return err
		}
	}
	if err := s.takeover(ctx, p, runs/10); err != nil || r.Smoke {
		return err
	}
	return s.moreWorkers(ctx, 64, runs)
}

// plainSteps is how many of the least steps so many clients carry out in a second.
func (s stepping) plainSteps(ctx context.Context, clients int) (float64, error) {
	speed, err := s.pgbench(ctx, s.plain, updateAndInsert, clients)
	s.report(
		Result{
			Section: "sagas", Name: fmt.Sprintf("B%[1]d: UPDATE and INSERT, %[1]d clients (pgbench)", clients),
			Value: speed, Unit: "/s",
		},
	)
	return speed, err
}

// moreWorkers measures the same with more steps at once than a process usually has.
func (s stepping) moreWorkers(ctx context.Context, workers, runs int) error {
	plain, err := s.plainSteps(ctx, workers)
	if err != nil {
		return err
	}
	p, err := s.panel(ctx, "bench_steps", func(o *assembly.Options) { o.Limits = map[string]int{sagas.LocalQueue: workers} })
	if err != nil {
		return err
	}
	defer p.close()
	peer, err := s.riverSteps(ctx, workers, runs)
	if err != nil {
		return err
	}
	return s.manyRuns(ctx, p, workers, runs, plain, peer)
}

// takeover leaves runs as a killed process does, under leases that are not
// renewed, and measures when the last of them is over.
func (s stepping) takeover(ctx context.Context, p *panel, runs int) error {
	for n := range runs {
		if err := p.sagas.Runner.Drill(ctx, fmt.Sprint("dead ", n)); err != nil {
			return err
		}
	}
	const lease = 5 * time.Second
	_, err := p.owner.Exec(ctx, `
		update saga_run set status = 'running', worker = 'killed', lease_token = lease_token + 1, lease_until = real_now() + $1::interval
		where key like 'drill:dead %'`, lease)
	if err != nil {
		return err
	}
	start, before := clock.Now(), p.sagas.Runner.Completed()
	defer p.work(ctx)()
	if err := p.drilled(ctx, before+int64(5*runs)); err != nil {
		return err
	}
	s.report(Result{
		Section: "sagas", Name: fmt.Sprintf("N-7 %d runs of a killed process taken over and done, lease 5 s", runs),
		Value: clock.Since(start).Seconds(), Unit: "s", Bar: (lease + 2*time.Second).Seconds(), AtMost: true,
	})
	return nil
}

// manyRuns lets so many workers at runs that wait for them.
func (s stepping) manyRuns(ctx context.Context, p *panel, workers, runs int, plain float64, peer riverFigures) error {
	for _, form := range p.stepForms() {
		speed, err := p.speed(ctx, form, runs)
		if err != nil {
			return err
		}
		line := Result{
			Section: "sagas", Name: fmt.Sprintf("N-1 empty steps, %d at once, %s", workers, form.name), Value: speed,
			Unit: "steps/s",
		}
		line.Ratio, line.Peer, line.Bar = speed/plain, fmt.Sprint("B", workers), form.bars[workers]
		s.report(line)
		if peer.Steps > 0 {
			line.Ratio, line.Peer, line.Bar = speed/peer.Steps, "River", riverBar
			s.report(line)
		}
	}
	return nil
}

// speed starts the runs first and then lets the workers at them. It returns steps per
// second.
func (p *panel) speed(ctx context.Context, form stepForm, runs int) (float64, error) {
	var next atomic.Int64
	before := p.sagas.Runner.Completed()
	_, err := together(ctx, 32, time.Hour, func(ctx context.Context, _, _ int) error {
		n := next.Add(1)
		if n > int64(runs) {
			return errEnough
		}
		return form.start(ctx, fmt.Sprint(form.name, " ", n))
	})
	if enough(err) != nil {
		return 0, err
	}
	start := clock.Now()
	defer p.work(ctx)()
	err = p.drilled(ctx, before+int64(5*runs))
	return float64(5*runs) / clock.Since(start).Seconds(), err
}

// oneRun goes through one run at a time.
func (s stepping) oneRun(ctx context.Context, p *panel, form stepForm, runs int, b1 float64, peer riverFigures) error {
	defer p.work(ctx)()
	before := p.sagas.Runner.Completed()
	l, err := together(ctx, 1, time.Hour, func(ctx context.Context, _, n int) error {
		if n == runs {
			return errEnough
		}
		if err := form.start(ctx, fmt.Sprint(form.name, " alone ", n)); err != nil {
			return err
		}
		return p.drilled(ctx, before+int64(5*(n+1)))
	})
	if enough(err) != nil {
		return err
	}
	p50, p99 := milliseconds(l.at(0.5)), milliseconds(l.at(0.99))
	name := "N-2 a run of five steps, idle, " + form.name
	s.report(
		Result{Section: "sagas", Name: name + ", p50", Value: p50, Unit: "ms", Ratio: p50 / (1000 / b1), Peer: "B1", Bar: 20, AtMost: true},
	)
	s.report(Result{Section: "sagas", Name: "N-2 p50 in all", Value: p50, Unit: "ms", Bar: 2.5, AtMost: true})
	s.report(Result{Section: "sagas", Name: "N-2 p99", Value: p99, Unit: "ms", Bar: 8, AtMost: true})
	if peer.P50 > 0 {
		s.report(Result{Section: "sagas", Name: "N-2 p50", Value: p50, Unit: "ms", Ratio: p50 / peer.P50, Peer: "River"})
		s.report(Result{Section: "sagas", Name: "N-2 p99", Value: p99, Unit: "ms", Ratio: p99 / peer.P99, Peer: "River"})
	}
	return nil
}

// drilled waits until so many steps are done in all.
func (p *panel) drilled(ctx context.Context, steps int64) error {
	for p.sagas.Runner.Completed() < steps {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Microsecond):
		}
	}
	return nil
}
