package sagas

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// Leases with fencing tokens decide which worker has a run (docs/sagas.md,
// "Leases"). Only the database's clock counts.

// errStopping ends calls that are still running when the program has waited
// long enough for them.
var errStopping = errors.New("the program is stopping")

// A hold is a run that this process has the lease of.
type hold struct {
	token  int64
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	until  time.Time
	writes int // begun and ended by the worker itself; odd: one is going on
}

// left is how much of the lease remains, by the monotonic or the wall clock,
// whichever ends first: a suspended machine stops only one of them.
func (h *hold) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(clock.Until(h.until), h.until.Round(0).Sub(clock.Now().Round(0)))
}

// ends is the end of the lease, by our clock.
func (h *hold) ends() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until
}

func (h *hold) renewed(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until.After(h.until) {
		h.until = until
	}
}

// write runs a transaction on the run's row. Meanwhile the row is locked by
// ourselves, which a renewal must not take for a lost lease.
func (h *hold) write(do func() error) error {
	h.mark()
	defer h.mark()
	return do()
}

func (h *hold) mark() {
	h.mu.Lock()
	h.writes++
	h.mu.Unlock()
}

// written tells how often the worker has written to the row.
func (h *hold) written() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes
}

// leases are the runs that this process works on.
type leases struct {
	mu    sync.Mutex
	holds map[uuid.UUID]*hold
}

// take registers a claimed run and gives the context in which it is worked on.
func (l *leases) take(ctx context.Context, c claimed) (context.Context, *hold) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &hold{token: c.token, cancel: cancel, until: c.until}
	l.mu.Lock()
	l.holds[c.id] = h
	l.mu.Unlock()
	return ctx, h
}

// drop forgets a run, unless it has been claimed again meanwhile.
func (l *leases) drop(id uuid.UUID, h *hold) {
	h.cancel(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds[id] == h {
		delete(l.holds, id)
	}
}

func (l *leases) all() (ids []uuid.UUID, holds []*hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, h := range l.holds {
		ids, holds = append(ids, id), append(holds, h)
	}
	return ids, holds
}

// renewLeases keeps our runs ours until ctx ends. What is not ours any more is
// stopped at once.
func (s *executor) renewLeases(ctx context.Context) {
	for ctx.Err() == nil {
		clock.Pausing(ctx, s.times.Lease/3, nil)
		if s.fault.at(RenewingLeases, Run{}) != nil { // tests stop a process this way
			continue
		}
		ids, holds := s.leases.all()
		if len(ids) == 0 {
			continue
		}
		if err := s.renewAll(ctx, ids, holds); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "leases were not renewed", "error", err)
		}
	}
}

func (s *executor) renewAll(ctx context.Context, ids []uuid.UUID, holds []*hold) error {
	ctx, cancel := context.WithTimeout(ctx, s.times.Write)
	defer cancel()
	tokens, writes := make([]int64, len(holds)), make([]int, len(holds))
	for i, h := range holds {
		tokens[i], writes[i] = h.token, h.written()
	}
	until := clock.Now().Add(s.times.Lease)
	ours, err := renew(ctx, s.pool, ids, tokens, s.times.Lease)
	if err != nil {
		return fmt.Errorf("renew %d leases: %w", len(ids), err)
	}
	still := map[uuid.UUID]bool{}
	for _, id := range ours {
		still[id] = true
	}
	for i, h := range holds {
		switch {
		case still[ids[i]]:
			h.renewed(until)
		case h.written() == writes[i] && writes[i]%2 == 0:
			h.cancel(ErrFenced)
		} // otherwise the worker was writing to the row itself, and will find out on its own
	}
	return nil
}

// ensureLease makes sure that a call of the given length fits into the lease.
func (s *executor) ensureLease(ctx context.Context, c claimed, call time.Duration) error {
	if c.hold.left() >= call {
		return nil
	}
	if err := s.renewAll(ctx, []uuid.UUID{c.id}, []*hold{c.hold}); err != nil {
		return err
	}
	if c.hold.left() < call {
		return ErrFenced
	}
	return nil
}

// fenceRow is the fence for writes of a worker that do not move its run.
func fenceRow(c claimed) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "saga_run/" + c.id.String(),
		SQL: `update saga_run set worker = worker from arg where saga_run.id = arg.id and lease_token = arg.token
			and status = 'running'`,
		Columns: "id uuid, token bigint", Args: []any{c.id, c.token}, WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// ErrFenced means that the worker has lost its lease on the run. Its writes are
// dropped.
var ErrFenced = errors.New("the lease is lost")

// renew extends leases and returns the runs that are still leased. It skips locked
// rows, so that it cannot deadlock.
func renew(ctx context.Context, pool *pgxpool.Pool, ids []uuid.UUID, tokens []int64, lease time.Duration) ([]uuid.UUID, error) {
	rows, _ := pool.Query(ctx, `
		update saga_run set lease_until = real_now() + $3::interval where id in (
			select r.id from saga_run r join unnest($1::uuid[], $2::bigint[]) h(id, token) on r.id = h.id and r.lease_token = h.token
			where r.status = 'running' for update of r skip locked)
		returning id`, ids, tokens, lease)
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}
