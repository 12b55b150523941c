// Package faults lets tests and operators order trouble from the sandboxes:
// "the next two creations of a site answer with a timeout although they were
// carried out". Orders stand in a table, so that all processes share them, and
// what looks like chance follows from a seed (docs/adapters.md, "Faults").
package faults

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
)

// Migrations make the table of ordered faults.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// What goes wrong.
type What string

const (
	Slow          What = "slow"           // the call waits, then works
	TimeoutBefore What = "timeout_before" // no answer, not carried out
	TimeoutAfter  What = "timeout_after"  // no answer, carried out
	ResetBefore   What = "reset_before"   // connection cut, not carried out
	ResetAfter    What = "reset_after"    // connection cut, carried out
	ErrorBefore   What = "error_before"   // answer 500, not carried out
	ErrorAfter    What = "error_after"    // answer 500, carried out
	Busy          What = "busy"           // refused for now; Delay is what the other side asks to wait
	Refuse        What = "refuse"         // refused for good
	Auth          What = "auth"           // our credentials are refused
	DeniesDoing   What = "denies_doing"   // says "not now" though it carried the call out
	ClaimsDone    What = "claims_done"    // says done though it did nothing
	Late          What = "late"           // a creation works, look-ups see it only after Delay; a change is applied only then
	TimeoutLate   What = "timeout_late"   // no answer to a creation; look-ups see it only after Delay
	Forget        What = "forget"         // a creation works, the object is gone after Delay
)

// The calls of a sandbox that may fail.
const (
	Create = "create"
	Find   = "find"
	Change = "change"
	Remove = "remove"
	List   = "list" // usage too
)

// suits says which calls a fault makes sense for; look-ups change nothing.
var suits = map[What][]string{
	Slow: every, TimeoutBefore: every, ResetBefore: every, ErrorBefore: every, Busy: every, Refuse: every, Auth: every,
	TimeoutAfter: writes, ResetAfter: writes, ErrorAfter: writes, DeniesDoing: writes, ClaimsDone: writes,
	Late: {Create, Change}, TimeoutLate: {Create}, Forget: {Create},
}

var (
	every  = []string{"", Create, Find, Change, Remove, List}
	writes = []string{Create, Change, Remove}
)

// A Fault is one order: what goes wrong, in which calls, how often.
type Fault struct {
	ID     int64         // given by Order
	Call   string        // empty: any, where the fault suits all calls
	Kind   string        // of the object, such as "site"; empty: any
	Name   string        // of the object; empty: any
	What   What          // empty: nothing goes wrong
	Delay  time.Duration // see What; for timeouts how long the silence lasts
	Times  int           // how many calls it strikes; 0 means 1
	Chance int           // of 1000 matching calls it strikes this many; 0 means all
	Seed   int64         // decides which of them
}

// A Call is what a sandbox is asked to do.
type Call struct{ Call, Kind, Name string }

// Ordered are the faults that one sandbox has been given.
type Ordered struct {
	pool   *pgxpool.Pool
	target string
}

// For returns the faults ordered from a target, such as "engine".
func For(pool *pgxpool.Pool, target string) *Ordered { return &Ordered{pool, target} }

// Order asks for a fault and returns the number of the order. Orders are
// carried out oldest first, one at most per call.
func (o *Ordered) Order(ctx context.Context, f Fault) (int64, error) {
	if !slices.Contains(suits[f.What], f.Call) {
		return 0, domain.Refuse(domain.Invalid, "there is no fault %q for the call %q", f.What, f.Call)
	}
	if f.Times < 0 || f.Chance < 0 || f.Chance > 1000 || f.Delay < 0 {
		return 0, domain.Refuse(domain.Invalid, "times and delay may not be negative, chance is 0 to 1000")
	}
	err := o.pool.QueryRow(ctx, `
		insert into sandbox_faults.ordered (target, call, kind, name, fault, delay, times_left, chance, seed)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
		o.target, f.Call, f.Kind, f.Name, f.What, f.Delay, max(f.Times, 1), orAll(f.Chance), f.Seed).Scan(&f.ID)
	if err != nil {
		return 0, fmt.Errorf("order a fault from %s: %w", o.target, err)
	}
	return f.ID, nil
}

func orAll(chance int) int {
	if chance == 0 {
		return 1000
	}
	return chance
}

// Open lists the orders that have not been used up, oldest first; Times is
// what is left.
func (o *Ordered) Open(ctx context.Context) ([]Fault, error) {
	rows, err := o.pool.Query(ctx, `
		select id, call, kind, name, fault, delay, times_left, chance, seed
		from sandbox_faults.ordered where target = $1 and times_left > 0 order by id`, o.target)
	if err != nil {
		return nil, fmt.Errorf("list the faults of %s: %w", o.target, err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Fault])
}

// Clear takes all orders back.
func (o *Ordered) Clear(ctx context.Context) error {
	_, err := o.pool.Exec(ctx, `delete from sandbox_faults.ordered where target = $1`, o.target)
	if err != nil {
		return fmt.Errorf("clear the faults of %s: %w", o.target, err)
	}
	return nil
}

// next uses up one strike of the oldest order that strikes this call. A call
// counts as met by every order that it matches, so that seeds decide alike
// whatever else has been ordered.
func (o *Ordered) next(ctx context.Context, c Call) (Fault, error) {
	rows, err := o.pool.Query(ctx, `
		with matching as materialized (
			select id, (hashint8extended(met, seed) & 1023) * 1000 / 1024 < chance as strikes
			from sandbox_faults.ordered
			where target = $1 and times_left > 0 and call in ('', $2) and kind in ('', $3) and name in ('', $4)
			order by id for update),
		met as (
			update sandbox_faults.ordered o
			set met = met + 1, times_left = times_left - (m.strikes and m.id = (select min(id) from matching where strikes))::int
			from matching m where o.id = m.id
			returning o.id, o.fault, o.delay, m.strikes)
		select id, fault, delay from met where strikes order by id limit 1`, o.target, c.Call, c.Kind, c.Name)
	if err != nil {
		return Fault{}, err
	}
	f, err := pgx.CollectOneRow(rows, func(row pgx.CollectableRow) (f Fault, err error) {
		return f, row.Scan(&f.ID, &f.What, &f.Delay)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Fault{}, nil
	}
	return f, err
}

// Around carries a call out as the next ordered fault has it. do learns of
// the fault, because creations are late or forgotten by what they store.
func (o *Ordered) Around(ctx context.Context, c Call, do func(Fault) error) error {
	f, err := o.next(ctx, c)
	if err != nil {
		return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("%s of %s: %w", c.Call, c.Kind, err))
	}
	if f.What == Slow {
		if err := wait(ctx, f.Delay); err != nil {
			return err
		}
	}
	if f.happens() {
		err = do(f)
	}
	if f.What == TimeoutBefore || f.What == TimeoutAfter {
		_ = wait(ctx, f.Delay) // the answer is the same when the caller's patience ends first
	}
	return cmp.Or(f.answer(), err)
}

// happens tells whether the call is carried out.
func (f Fault) happens() bool {
	return !slices.Contains([]What{TimeoutBefore, ResetBefore, ErrorBefore, Busy, Refuse, Auth, ClaimsDone}, f.What)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return domain.Fail(domain.Unknown, "timeout", ctx.Err())
	case <-time.After(d):
		return nil
	}
}

// answers are what callers are told instead of the truth.
var answers = map[What]domain.Failure{
	TimeoutBefore: {Class: domain.Unknown, Code: "timeout", Err: errors.New("no answer in time")},
	TimeoutAfter:  {Class: domain.Unknown, Code: "timeout", Err: errors.New("no answer in time")},
	TimeoutLate:   {Class: domain.Unknown, Code: "timeout", Err: errors.New("no answer in time")},
	ResetBefore:   {Class: domain.Unknown, Code: "reset", Err: errors.New("the connection was cut")},
	ResetAfter:    {Class: domain.Unknown, Code: "reset", Err: errors.New("the connection was cut")},
	ErrorBefore:   {Class: domain.Unknown, Code: "error_500", Err: errors.New("answer 500 without a body")},
	ErrorAfter:    {Class: domain.Unknown, Code: "error_500", Err: errors.New("answer 500 without a body")},
	Busy:          {Class: domain.Transient, Code: "busy", Err: errors.New("busy, try again later")},
	DeniesDoing:   {Class: domain.Transient, Code: "busy", Err: errors.New("busy, try again later")},
	Refuse:        {Class: domain.Permanent, Code: "refused", Err: errors.New("refused for good")},
	Auth:          {Class: domain.Permanent, Code: "auth_refused", Err: errors.New("our credentials are refused")},
}

func (f Fault) answer() error {
	answer, lies := answers[f.What]
	if !lies {
		return nil
	}
	if answer.Class == domain.Transient {
		answer.RetryAfter = f.Delay
	}
	return &answer
}

// Lateness is how much later than usual a change is applied.
func (f Fault) Lateness() time.Duration {
	if f.What == Late {
		return f.Delay
	}
	return 0
}

// Fate tells a creation when look-ups begin to see the object and when it is
// gone; nil: at once, and never.
func (f Fault) Fate() (seen, gone *time.Duration) {
	if f.What == Late || f.What == TimeoutLate {
		seen = &f.Delay
	}
	if f.What == Forget {
		gone = &f.Delay
	}
	return seen, gone
}
