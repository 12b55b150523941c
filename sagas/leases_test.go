package sagas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestAWorkerKeepsItsRunWhileItsQueueStays(t *testing.T) { // G-4
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Must(w.Runner.Drill(t.Context(), "one"))
	w.Eventually("the drill is over", func() bool { return w.RunOf("drill:one").Status == sagas.StatusDone })
	w.Equal("claims of the five steps", w.Count(`select lease_token from saga_run where key = 'drill:one'`), 1)
}

// An engine that answers only when the caller gives up.
type silentEngine struct {
	*sagastest.Engine
	asked, gaveUp chan error
	answers       *atomic.Bool
}

func (e silentEngine) Create(ctx context.Context, o hosting.EngineObject) (int64, error) {
	if e.answers.Swap(true) {
		return e.Engine.Create(ctx, o)
	}
	limit, _ := ctx.Deadline()
	if left := time.Until(limit); left > 2500*time.Millisecond {
		e.asked <- errors.New("the call may take " + left.String())
	}
	e.asked <- nil
	<-ctx.Done()
	e.gaveUp <- context.Cause(ctx)
	return 0, domain.Fail(domain.Unknown, "timeout", ctx.Err())
}

// A tenant asks for 500 sites, which wait for the engine. Others who come later get their
// turn at once, and a paid order its turn before them.
func TestATenantWithManyRunsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	var many []domain.Command
	for i := range int64(500) {
		many = append(many, h.Ask(1000+i, sagastest.Site(fmt.Sprintf("s%d.example.com", i))))
	}
	h.Carry(many...)
	w := h.World
	for other := range int64(3) {
		tenant, site := 9001+other, sagastest.Site(fmt.Sprintf("other%d.example.com", other))
		w.Carry(w.NewTenant(tenant))
		h := &sagastest.Household{World: w, Tenant: tenant}
		h.Carry(h.Ask(2000+other, site))
	}
	turns := map[string]int{}
	for turn := 1; len(turns) < 3 && turn <= 500; turn++ {
		key, err := w.Runner.WorkOne(t.Context(), "engine:one")
		w.Must(err)
		if id, other := strings.CutPrefix(key, "engine:site-200"); other && turns[id] == 0 {
			turns[id] = turn
		}
	}
	t.Logf("the sites of others had their first turns after so many runs: %v", turns)
	w.Equal("sites of others that had a turn", len(turns), 3)
	for _, turn := range turns {
		w.Equal("the tenant's turn came in time", turn <= 12, true)
	}
	w.Pauses("engine:one")
	w.Goes()
	order := "provision:" + w.Buy(sagastest.OrderForm{}).String()
	w.Eventually("the order waits for the engine too", func() bool {
		return w.Count(`select count(*) from saga_run where key = $1 and queue = 'engine:one'`, order) == 1
	})
	w.End()
	sagastest.GoesOn(w)
	key, err := w.Runner.WorkOne(t.Context(), "engine:one")
	w.Must(err)
	w.Equal("the run that comes next", key, order)
}

// Whatever is due when, a tenant's turn comes after at most one run of each other, and at most
// three runs of orders for each of those.
func TestTheTurnOfATenantComesWhoeverElseWaits(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	w := sagastest.NewWorld(t)
	for n, parties := range []int{1, 2, 5, 12, 90} { // of the last a claim looks at a part
		q := &turns{World: w, random: random, queue: fmt.Sprint("queue ", n), parties: parties, waited: map[int64]served{}}
		_, err := w.Pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ($1, 8)`, q.queue)
		w.Must(err)
		for range 60 {
			q.comes(random.IntN(12), random.IntN(6))
			q.claims(1 + random.IntN(8))
		}
		t.Logf("%d parties: at most %+v were served before one of them", parties, q.most)
		w.Equal("an order or a tenant was served", q.most != served{} || parties == 1, true)
	}
}

// turns is a queue whose runs belong to parties, by chance.
type turns struct {
	*sagastest.World
	random  *rand.Rand
	queue   string
	parties int
	waited  map[int64]served // since each party that has a run due was served last
	most    served
}

// served counts runs that were claimed.
type served struct{ parties, orders int }

// comes adds runs of one party, and some of others: due, to be due, and of orders.
func (q *turns) comes(many, others int) {
	q.T.Helper()
	one := q.random.IntN(q.parties)
	for i := range many + others {
		party, order, later := one, false, false
		if i >= many {
			party, order, later = q.random.IntN(q.parties), q.random.IntN(3) == 0, q.random.IntN(4) == 0
		}
		_, err := q.Pool.Exec(q.T.Context(), `
			insert into saga_run (id, key, definition, steps, input, queue, party, order_id, run_at, cause, correlation)
			select gen_random_uuid(), gen_random_uuid(), 'drill/1', '[]', '{}', $1, case when $3 then 0 else $2 end,
				case when $3 then gen_random_uuid() end, business_now() + case when $4 then 1 else -1 end * $5 * interval '1 hour',
				'test', gen_random_uuid()`,
			q.queue, party, order, later, 1+q.random.IntN(1000))
		q.Must(err)
	}
}

// claims leases runs, ends them, and looks at whom they belong to.
func (q *turns) claims(most int) {
	q.T.Helper()
	waiting := q.due()
	rows, err := q.Pool.Query(q.T.Context(), `
		select (run).party, (run).order_id is not null from claim_runs($1, $2, 'test', '1 minute', '{drill/1}', 5)`, q.queue, most)
	q.Must(err)
	var now served
	turn := map[int64]bool{}
	for rows.Next() {
		var party *int64
		var order *bool
		q.Must(rows.Scan(&party, &order))
		switch {
		case party == nil: // nothing was due
		case *order:
			now.orders++
		default:
			now.parties++
			turn[*party] = true
		}
	}
	q.Must(rows.Err())
	_, err = q.Pool.Exec(q.T.Context(), `update saga_run set status = 'done' where queue = $1 and status = 'running'`, q.queue)
	q.Must(err)
	for party := range int64(q.parties) {
		if turn[party] || !waiting[party] {
			delete(q.waited, party)
			continue
		}
		so := q.waited[party]
		so = served{so.parties + now.parties, so.orders + now.orders}
		q.waited[party], q.most = so, served{max(q.most.parties, so.parties), max(q.most.orders, so.orders)}
		if so.parties >= q.parties || so.orders > 3*q.parties {
			q.T.Fatalf("party %d of %d waits, and %+v were served", party, q.parties, so)
		}
	}
}

// due are the parties with a run that is due.
func (q *turns) due() map[int64]bool {
	q.T.Helper()
	rows, err := q.Pool.Query(q.T.Context(), `select distinct party from saga_run
		where queue = $1 and order_id is null and status = 'ready' and run_at <= business_now()`, q.queue)
	q.Must(err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	q.Must(err)
	due := map[int64]bool{}
	for _, party := range found {
		due[party] = true
	}
	return due
}

// A claim among 10,000 runs of 1,000 tenants reads no more than one among a few, also by plans
// that were made while there were none.
func TestAClaimReadsNoMoreThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	claim := func(queue string) func(pgx.Tx) error {
		return func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `select claim_runs($1, 4, 'test', '1 minute', '{drill/1}', 5)`, queue)
			return err
		}
	}
	fill := func(queue string, runs int, at string) {
		_, err := w.Pool.Exec(t.Context(), `
			with queue as (insert into saga_queue (queue, max_in_flight) values ($1, 4))
			insert into saga_run (id, key, definition, steps, input, queue, party, order_id, run_at, cause, correlation)
			select gen_random_uuid(), gen_random_uuid(), 'drill/1', '[]', '{}', $1, n % 1000,
				case when n % 100 = 0 then gen_random_uuid() end, business_now() + `+at+`, 'test', gen_random_uuid()
			from generate_series(1, $2::int) n`, queue, runs)
		w.Must(err)
	}
	fill("few", 40, `n * interval '-1 hour'`)
	for range 10 {
		w.Must(pgx.BeginFunc(t.Context(), w.Pool, claim("few")))
		_, err := w.Pool.Exec(t.Context(), `update saga_run set status = 'done' where status = 'running'`)
		w.Must(err)
	}
	fill("all due", 10_000, `n * interval '-1 hour'`)
	fill("few due", 10_000, `case when n % 500 = 0 then -1 else 1 end * n * interval '1 hour'`)
	_, err := w.Pool.Exec(t.Context(), `analyze saga_run`)
	w.Must(err)
	for _, queue := range []string{"all due", "few due"} {
		eventstoretest.ReadsAtMost(t, w.Pool, "saga_run", 100, claim(queue))
	}
}
