package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas/assembly"
)

const sitesPath = "/hosting/api/rest/sites/"

// hosting measures what customers do with what runs for them: pages and single
// sites over real connections, against the same rows read with plain SQL, in a
// small and in a large table; how many sites are made; and what it costs to watch
// an engine carry out a change.
func (r *run) hosting(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_hosting", func(o *assembly.Options) { o.Engine = engine.New(o.Store.Pool()) })
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	size := userCounts{readers: 50, users: 50, tenantsOfReader: 1}
	sites := []int64{1_000, 1_000_000}
	if r.Smoke {
		size.readers, size.users = 16, 16
		sites = []int64{320, 640}
	}
	made, err := p.makeUsers(ctx, size)
	if err != nil {
		return err
	}
	address, err := listen(ctx, p.program(false).Server().Handler())
	if err != nil {
		return err
	}
	held, err := signIn(ctx, address, made)
	if err != nil {
		return err
	}
	if err := r.readSites(ctx, p, address, held, sites); err != nil {
		return err
	}
	if err := r.makeSites(ctx, p, address, held); err != nil {
		return err
	}
	return r.watching(ctx)
}

// readSites measures in tables of these sizes, one after the other.
func (r *run) readSites(ctx context.Context, p *panel, address string, held []pair, sizes []int64) error {
	config, err := pgxpool.ParseConfig(p.url)
	if err != nil {
		return err
	}
	config.MaxConns = 16
	peer, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer peer.Close()
	slowest := map[string]time.Duration{} // p99 in the small table
	for _, n := range sizes {
		began := clock.Now()
		v, err := p.writeSites(ctx, n)
		if err != nil {
			return fmt.Errorf("seed %d sites: %w", n, err)
		}
		r.report(
			Result{
				Section: "hosting", Name: fmt.Sprintf("%d sites of %d tenants written by SQL", n, v.tenants),
				Value: clock.Since(began).Seconds(), Unit: "s",
			},
		)
		for _, read := range []siteReading{
			{"one site", func(who, n int) string { return fmt.Sprintf("%s%d/", sitesPath, v.site(who, n)) }, func(who, n int) *pgx.Batch {
				return oneSite(v.site(who, n), who)
			}, 0.28, 3.5},
			{
				"list of 20 sites", func(int, int) string { return sitesPath },
				func(who, _ int) *pgx.Batch { return pageOfSites(who) }, 0.5, 2,
			},
		} {
			if err := r.readBoth(ctx, address, held, peer, fmt.Sprintf("%s of %d", read.name, n), read, slowest); err != nil {
				return err
			}
		}
	}
	return nil
}

// A siteReading is the n-th query, over HTTP and in SQL.
type siteReading struct {
	name string
	path func(who, n int) string
	sql  func(who, n int) *pgx.Batch

	speed, processor float64 // bars: at least, and at most, as a multiple of SQL
}

// readBoth lets HTTP and SQL take turns.
func (r *run) readBoth(
	ctx context.Context, address string, held []pair, peer *pgxpool.Pool, name string, read siteReading,
	slowest map[string]time.Duration,
) error {
	const clients = 16
	callers, hangUp, err := callersOf(ctx, address, clients)
	if err != nil {
		return err
	}
	defer hangUp()
	who := func(client, n int) int { return (client*len(held)/clients + n) % len(held) }
	var asked, queried []load
	for range r.rounds {
		l, err := together(ctx, clients, r.duration, func(_ context.Context, client, n int) error {
			_, err := callers[client].get(read.path(who(client, n), n), held[who(client, n)].Access)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		asked = append(asked, l)
		if l, err = together(ctx, clients, r.duration, func(ctx context.Context, client, n int) error {
			return peer.SendBatch(ctx, read.sql(who(client, n), n)).Close()
		}); err != nil {
			return fmt.Errorf("%s in SQL: %w", name, err)
		}
		queried = append(queried, l)
	}
	plain, speed := middle(queried, rate), middle(asked, rate)
	r.report(Result{Section: "hosting", Name: name + ", SQL, 16 clients", Value: plain, Unit: "/s"})
	r.report(
		Result{
			Section: "hosting", Name: name + ", HTTP, 16 clients", Value: speed, Unit: "/s", Ratio: speed / plain,
			Peer: "SQL", Bar: read.speed,
		},
	)
	if least := middle(queried, each); least > 0 {
		each := middle(asked, each)
		r.report(
			Result{
				Section: "hosting", Name: name + ", HTTP, processor time", Value: each, Unit: "ms",
				Ratio: each / least, Peer: "SQL", Bar: read.processor, AtMost: true,
			},
		)
	}
	slow := time.Duration(middle(asked, p99) * float64(time.Millisecond))
	line := Result{Section: "hosting", Name: name + ", HTTP, p99", Value: milliseconds(slow), Unit: "ms"}
	if small, measured := slowest[read.name]; measured {
		line.Ratio, line.Peer, line.Bar, line.AtMost = float64(slow)/float64(small), "small table", 1.5, true
	}
	slowest[read.name] = slow
	r.report(line)
	return nil
}

// each is the processor time of a call in milliseconds, its client's included.
func each(l load) float64 { return milliseconds(l.processor) / float64(max(1, len(l.latencies))) }

func p99(l load) float64 { return milliseconds(l.at(0.99)) }
