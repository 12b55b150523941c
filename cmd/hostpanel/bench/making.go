package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
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
	const clients = 16
	inserts, err := r.pgbench(ctx, plain, insertOne, clients)
	if err != nil {
		return err
	}
	r.report(Result{Section: "hosting", Name: "INSERT one by one, 16 clients (pgbench)", Value: inserts, Unit: "/s"})
	defer p.work(ctx)()
	if err := p.until(ctx, `select not exists (select from resources where kind = 'tenant' and id <= $1 and engine_id is null)`, len(held)); err != nil {
		return err
	}
	var n atomic.Int64
	for _, how := range []struct {
		name    string
		headers []string
	}{{"waiting for the engine", nil}, {"respond-async", []string{"Prefer: respond-async"}}} {
		callers, hangUp, err := callersOf(ctx, address, clients)
		if err != nil {
			return err
		}
		defer hangUp()
		began, before := time.Now(), n.Load()
		l, err := together(ctx, clients, r.duration, func(_ context.Context, client, turn int) error {
			who := held[(client*len(held)/clients+turn)%len(held)]
			_, err := callers[client].post(sitesPath, fmt.Sprintf(`{"domain":"new%d.bench.example"}`, n.Add(1)), append([]string{"Authorization: Bearer " + who.Access}, how.headers...)...)
			return err
		})
		if err != nil {
			return err
		}
		r.report(Result{Section: "hosting", Name: "sites made, " + how.name + ", 16 clients", Value: l.perSecond, Unit: "/s", Ratio: l.perSecond / inserts, Peer: "INSERT"})
		r.report(Result{Section: "hosting", Name: "the same, p50", Value: p50(l), Unit: "ms"})
		if err := p.until(ctx, `select not exists (select from resources where kind = 'site' and sync_status <> $1)`, "synced"); err != nil {
			return err
		}
		r.report(Result{Section: "hosting", Name: "the same, until the engine has them all", Value: float64(n.Load()-before) / time.Since(began).Seconds(), Unit: "/s"})
	}
	return nil
}

// until waits for a question to be answered with yes.
func (p *panel) until(ctx context.Context, question string, arguments ...any) error {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var yes bool
		if err := p.owner.QueryRow(ctx, question, arguments...).Scan(&yes); err != nil || yes {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still not so after five minutes: %s", question)
		}
	}
}
