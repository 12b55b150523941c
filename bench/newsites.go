package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"hostpanel/eventstore/clock"
)

// makeSites measures how many sites customers make, with the sandbox engine
// behind the panel: when they wait for it, and when they do not.
func (r *run) makeSites(ctx context.Context, p *panel, address string, held []pair) error {
	plain, err := r.empty(ctx, "bench_plain")
	if err != nil {
		return err
	}
	if err := execute(ctx, plain, plainTable); err != nil {
		return err
	}
	inserts, err := r.pgbench(ctx, plain, insertOne, makers)
	if err != nil {
		return err
	}
	r.report(Result{Section: "hosting", Name: "INSERT one by one, 16 clients (pgbench)", Value: inserts, Unit: "/s"})
	defer p.work(ctx)()
	if err := p.until(
		ctx, `select not exists (select from resources where kind = 'tenant' and id <= $1 and engine_id is null)`,
		len(held),
	); err != nil {
		return err
	}
	m := &newSites{panel: p, address: address, held: held}
	if _, err := m.measure(ctx, r.duration); err != nil {
		return err
	}
	// What was planned for an empty log is slow in a full one. Postgres counts
	// again by itself, but not at once.
	if _, err := p.owner.Exec(ctx, "analyze"); err != nil {
		return err
	}
	for _, how := range [][]string{{"waiting for the engine"}, {"respond-async", "Prefer: respond-async"}} {
		made, err := m.measure(ctx, r.duration, how[1:]...)
		if err != nil {
			return err
		}
		r.report(
			Result{
				Section: "hosting", Name: "sites made, " + how[0] + ", 16 clients", Value: made.perSecond, Unit: "/s",
				Ratio: made.perSecond / inserts, Peer: "INSERT",
			},
		)
		r.report(Result{Section: "hosting", Name: "the same, p50", Value: p50(made.load), Unit: "ms"})
		r.report(Result{Section: "hosting", Name: "the same, until the engine has them all", Value: made.carriedOut, Unit: "/s", Bar: 350})
	}
	return nil
}

// makers is how many clients make sites at once.
const makers = 16

// newSites are customers who make one site after another.
type newSites struct {
	*panel
	address string
	held    []pair
	n       atomic.Int64 // sites so far
}

// A made is what came of it.
type made struct {
	load
	carriedOut float64 // sites a second, until the engine had all
}

// measure lets customers make sites for a while, and waits for the engine.
func (m *newSites) measure(ctx context.Context, long time.Duration, headers ...string) (made, error) {
	callers, hangUp, err := callersOf(ctx, m.address, makers)
	if err != nil {
		return made{}, err
	}
	defer hangUp()
	began, before := clock.Now(), m.n.Load()
	l, err := together(ctx, makers, long, func(_ context.Context, client, turn int) error {
		who := m.held[(client*len(m.held)/makers+turn)%len(m.held)]
		sent := append([]string{"Authorization: Bearer " + who.Access}, headers...)
		_, err := callers[client].post(sitesPath, fmt.Sprintf(`{"domain":"new%d.bench.example"}`, m.n.Add(1)), sent...)
		return err
	})
	if err == nil { // writeSites gives its own higher numbers
		err = m.until(
			ctx,
			`select not exists (select from resources where kind = 'site' and id <= $1 and sync_status <> 'synced')`,
			firstSite,
		)
	}
	return made{l, float64(m.n.Load()-before) / clock.Since(began).Seconds()}, err
}

// until waits for a question to be answered with yes.
func (p *panel) until(ctx context.Context, question string, arguments ...any) error {
	for deadline := clock.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var yes bool
		if err := p.owner.QueryRow(ctx, question, arguments...).Scan(&yes); err != nil || yes {
			return err
		}
		if clock.Now().After(deadline) {
			return fmt.Errorf("still not so after five minutes: %s", question)
		}
	}
}
