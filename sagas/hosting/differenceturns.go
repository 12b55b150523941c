package hosting

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// All tenants are compared in turn, by number, one at a time in all processes
// together. The place where the comparison stands is a row, so it goes on there
// after a crash.

// A compareTurn is the tenant that is compared next, under a lease.
type compareTurn struct {
	tenant  *int64 // nil: the round is over
	fails   int    // in a row, with this time
	tenants int64  // all that are compared
	lease   time.Time
}

// mostFails is how often a tenant is tried before its turn goes to the next.
const mostFails = 6

// compareInTurn compares tenants until ctx ends.
func (f *Differences) compareInTurn(ctx context.Context) {
	for woken := f.Runner.Woken("differences"); f.Times.Compare > 0 && ctx.Err() == nil; {
		wait := f.Times.ComparePoll
		err := sagas.Guarded(func() (err error) { wait, err = f.compareNext(ctx); return err })
		if err != nil && ctx.Err() == nil {
			f.Runner.Log().WarnContext(ctx, "a tenant was not compared with the engine", "error", sagas.Scrub(err))
		}
		clock.Pausing(ctx, sagas.Jittered(min(wait, f.Times.ComparePoll)), woken)
	}
}

// compareNext compares the tenant whose turn it is, and says how long to wait.
func (f *Differences) compareNext(ctx context.Context) (wait time.Duration, err error) {
	turn, err := f.nextTurn(ctx)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return f.Times.ComparePoll, nil
	case err != nil:
		return f.Times.ComparePoll, sagas.SQLError(err, "look for the tenant to compare")
	case turn.tenant == nil:
		return f.Times.ComparePoll, f.endRound(ctx, turn)
	}
	call, cancel := context.WithTimeout(ctx, f.Times.CompareLease)
	defer cancel()
	failure := f.CompareTenant(call, *turn.tenant)
	if failure != nil && domain.ClassOf(failure) != domain.Permanent && turn.fails < mostFails || ctx.Err() != nil {
		return f.Times.ComparePoll, errors.Join(failure, f.rest(ctx, turn))
	}
	pause := min(f.Times.Compare/time.Duration(max(turn.tenants, 1)), f.Times.ComparePoll)
	_, err = f.Runner.Exec(ctx, "go on to the next tenant", `
		update engine_comparison set tenant = $1, fails = 0, next_at = business_now() + $2::interval where next_at = $3`, *turn.tenant, pause, turn.lease)
	return pause, errors.Join(failure, err)
}

// nextTurn leases the next tenant; none is due: [pgx.ErrNoRows].
func (f *Differences) nextTurn(ctx context.Context) (turn compareTurn, err error) {
	const compared = `from resources r where r.kind = 'tenant' and r.present and r.engine_id is not null`
	err = f.Store.Pool().QueryRow(ctx, `
		update engine_comparison c set fails = fails + 1, next_at = business_now() + $1::interval where next_at <= business_now() and not in_recovery()
		returning next_at, fails, (select min(r.id) `+compared+` and r.id > c.tenant), (select count(*) `+compared+`)`,
		f.Times.CompareLease).Scan(&turn.lease, &turn.fails, &turn.tenant, &turn.tenants)
	return turn, err
}

// endRound lets the next round begin an interval after this one began.
func (f *Differences) endRound(ctx context.Context, turn compareTurn) error {
	_, err := f.Runner.Exec(ctx, "end a round of comparisons", `
		update engine_comparison set tenant = 0, fails = 0, began_at = greatest(business_now(), began_at + $1::interval),
			next_at = greatest(business_now(), began_at + $1::interval)
		where next_at = $2`, f.Times.Compare, turn.lease)
	return err
}

// rest leaves the engine alone for a while, longer each time that it fails. The
// tenant keeps its turn.
func (f *Differences) rest(ctx context.Context, turn compareTurn) error {
	pause := min(f.Times.ComparePoll<<min(turn.fails-1, mostFails), f.Times.CompareLease)
	_, err := f.Runner.Exec(ctx, "rest before the next comparison", `update engine_comparison set next_at = business_now() + $1::interval where next_at = $2`,
		pause, turn.lease)
	return err
}
