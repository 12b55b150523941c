package hosting

import (
	"context"
	"time"

	"hostpanel/sagas"
)

// All tenants are compared in turn, by number, one at a time in all processes
// together. The place where the comparison stands is a row, so it goes on there
// after a crash.

const comparing = "differences"

// mostFails is how often in a row a tenant is tried before it is parked, and its turn goes to
// the next.
const mostFails = 7

// compareInTurn compares the tenant whose turn it is. The place moves when that is done, so a
// tenant whose comparison fails keeps its turn, and the engine is left alone meanwhile. One that
// is parked is passed over. Tenant 0 is due when the round is over.
func (f *Differences) compareInTurn() {
	if f.Times.Compare == 0 {
		return
	}
	sagas.AddTasks(f.Runner, sagas.Queue[int64]{
		Name: comparing, Failed: "a tenant was not compared with the engine", KeyType: "bigint",
		Policy: sagas.TaskPolicy{
			Look: f.Times.ComparePoll, Lease: f.Times.CompareLease, Base: f.Times.ComparePoll, Cap: f.Times.CompareLease,
			Attempts: mostFails,
		},
		Due: func() (string, []any) {
			return `
				select coalesce((select min(r.id) from resources r
					where r.kind = 'tenant' and r.present and r.engine_id is not null and r.id > c.tenant and not exists (
						select from task t where t.queue = 'differences' and t.key = r.id::text and t.state = 'parked')), 0)::text as key,
					next_at as since
				from engine_comparison c where next_at <= business_now()`, nil
		},
		Do: f.compareNext,
	}, nil)
}

// compareNext compares a tenant, and gives the turn to the next.
func (f *Differences) compareNext(ctx context.Context, task *sagas.Task[int64]) (sagas.TaskEnd, error) {
	if task.Row == 0 {
		return sagas.TaskDone, f.endRound(ctx)
	}
	if err := f.CompareTenant(ctx, task.Row); err != nil {
		return sagas.TaskDone, err
	}
	var pause float64
	err := f.Store.Pool().QueryRow(ctx, `
		update engine_comparison set tenant = greatest(tenant, $1),
			next_at = business_now() + least($3::interval, $2::interval / (select greatest(count(*), 1)
				from resources r where r.kind = 'tenant' and r.present and r.engine_id is not null))
		returning extract(epoch from next_at - business_now())::float8`,
		task.Row, f.Times.Compare, f.Times.ComparePoll).Scan(&pause)
	time.AfterFunc(sagas.Seconds(pause), func() { f.Runner.WakeHere(comparing) })
	return sagas.TaskDone, sagas.SQLError(err, "go on to the next tenant")
}

// endRound lets the next round begin an interval after this one began. Tenants that are parked
// have their turn in it.
func (f *Differences) endRound(ctx context.Context) error {
	_, err := f.Runner.Exec(ctx, "end a round of comparisons", `
		with parked as (delete from task where queue = 'differences' and state = 'parked')
		update engine_comparison set tenant = 0, began_at = greatest(business_now(), began_at + $1::interval),
			next_at = greatest(business_now(), began_at + $1::interval)`, f.Times.Compare)
	return err
}
