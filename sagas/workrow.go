package sagas

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"hostpanel/eventstore"
)

// workRow holds the columns of a run's work row, derived from the run alone.
type workRow struct {
	id        uuid.UUID
	key, def  string
	steps     []byte
	input     []byte
	order     *uuid.UUID
	about     string
	number    int
	party     *int64 // nil: the tenant of the event that started it
	direction Direction
	status    Status
	step      int
	queue     string
	cancel    bool
	version   int64
}

// Encode encodes a value as JSON. The types of this package cannot fail.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// advanceRow updates the work row to the run's next state, if the worker still has
// the lease. With keep the worker keeps the lease.
func (s *executor) advanceRow(c claimed, next Run, keep bool) eventstore.TxStatement {
	w := s.definitions.row(next)
	status, lease := w.status, (*time.Duration)(nil)
	if keep {
		status, lease = statusRunning, &s.times.Lease
	}
	return eventstore.TxStatement{
		Key: "saga_run/" + w.id.String(),
		SQL: `update saga_run set step = arg.step, status = arg.status, queue = arg.queue, direction = arg.direction,
			cancel_requested = arg.cancel,
				input = arg.input, stream_version = arg.version, attempt = arg.attempt, step_deadline = business_now() + arg.budget,
				lease_until = real_now() + arg.lease,
				run_at = case when arg.lease is null then business_now() else run_at end, -- indexed: a run that goes on leaves it alone
				worker = case when arg.lease is null then null else worker end
			from arg where saga_run.id = arg.id and lease_token = arg.token and saga_run.status = 'running' and saga_run.step = arg.at`,
		Columns: "id uuid, token bigint, at int, step int, status text, queue text, direction text, cancel boolean, input jsonb, " +
			"version bigint, attempt int, budget interval, lease interval",
		Args: []any{
			w.id, c.token, c.Step, w.step, string(status), w.queue, string(w.direction), w.cancel, string(w.input),
			w.version, attempts(keep), s.definitions.budget(next), lease,
		},
		WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// attempts is the number of attempts that a run starts its step with.
func attempts(keep bool) int {
	if keep {
		return 1
	}
	return 0
}

// overruleRow updates the work row for an operator's command. It ends the lease of a
// worker.
func (s *Operators) overruleRow(next Run) eventstore.TxStatement {
	w := s.definitions.row(next)
	return eventstore.TxStatement{
		Key: "saga_run/" + w.id.String(),
		SQL: `update saga_run set step = $3, status = $4, queue = $5, direction = $6, cancel_requested = $7, input = $8::jsonb,
				stream_version = $2, attempt = 0, run_at = business_now(), step_deadline = business_now() + $9::interval,
				lease_until = null, worker = null, lease_token = lease_token + 1
			where id = $1 and stream_version = $2 - 1`,
		Args: []any{
			w.id, w.version, w.step, string(w.status), w.queue, string(w.direction), w.cancel, string(w.input), s.definitions.budget(next),
		},
		WantRows: 1,
	}
}
