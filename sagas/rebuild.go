package sagas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
)

// RebuildRuns makes the work rows what the log says (rule V8), for instance after a
// loss of rows, and tells how many it has written. Workers may go on meanwhile:
// rows that are right keep their leases. Each effect of a rebuilt run is looked up
// before it is repeated.
func (s *Operators) RebuildRuns(ctx context.Context, cause domain.Metadata, reason string) (written int64, err error) {
	if reason == "" {
		return 0, domain.RefuseField("reason", "This field is required.")
	}
	if written, err = s.rebuildRows(ctx); err != nil {
		return written, err
	}
	rebuilt := operations.RunsRebuilt{Count: written, Reason: reason, At: s.now()}
	_, err = s.store.Execute(ctx, ByOperator(cause, uuid.Nil), operations.NoteReview{Event: rebuilt})
	s.wakes.all()
	return written, err
}

func (s *Operators) rebuildRows(ctx context.Context) (written int64, err error) {
	runs := map[uuid.UUID]Run{}
	log := s.store.Reader().Closed().Of(func(name string) bool { return strings.HasPrefix(name, Category+".") })
	err = log.Replay(ctx, 0, func(r eventstore.RecordedEvent) error {
		if e, ok := r.Event.(Event); ok && r.Stream.Category == Category {
			id := uuid.MustParse(r.Stream.ID)
			runs[id] = Decider.Evolve(runs[id], e)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the runs: %w", err)
	}
	ids := make([]uuid.UUID, 0, len(runs))
	for id := range runs {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		if right, err := s.isRight(ctx, s.pool, s.definitions.row(runs[id])); err != nil || right {
			if err != nil {
				return written, err
			}
			continue
		}
		wrote, err := s.rebuildRow(ctx, id) // it may only have moved on since it was read
		if err != nil {
			return written, err
		}
		if wrote {
			written++
		}
	}
	return written, nil
}

// isDerived compares a row with what follows from the log. Leases and attempts do
// not.
const isDerived = `
select key = $2 and definition = $3 and steps = $4::jsonb and input = $5::jsonb and order_id is not distinct from $6 and direction = $7
	and case when status in ('running', 'waiting') then 'ready' else status end = $8 and step = $9 and queue = $10
		and cancel_requested = $11
	and stream_version = $12 and about = $13 and number = $14
from saga_run where id = $1`

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (*Operators) isRight(ctx context.Context, db querier, w workRow) (right bool, err error) {
	err = db.QueryRow(ctx, isDerived, w.args()...).Scan(&right)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return right, SQLError(err, "compare the work row of %s", w.key)
}

func (w workRow) args() []any {
	return []any{
		w.id, w.key, w.def, string(w.steps), string(w.input), w.order, string(w.direction), string(w.status), w.step, w.queue,
		w.cancel, w.version,
		w.about, w.number,
	}
}

// rebuildRow writes one row anew, unless it is right by now. Its lock keeps the
// run's writers away meanwhile.
func (s *Operators) rebuildRow(ctx context.Context, id uuid.UUID) (wrote bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select from saga_run where id = $1 for update`, id); err != nil {
			return err
		}
		run, err := s.runs.withID(ctx, id)
		if err != nil {
			return err
		}
		w := s.definitions.row(run)
		right, err := s.isRight(ctx, tx, w)
		if err != nil || right {
			return err
		}
		wrote = true
		return s.replaceRow(ctx, tx, w, run)
	})
	return wrote, SQLError(err, "rebuild the work row of run %s", id)
}

func (s *Operators) replaceRow(ctx context.Context, tx pgx.Tx, w workRow, run Run) error {
	if _, err := tx.Exec(
		ctx, `insert into saga_queue (queue, max_in_flight) values ($1, $2) on conflict do nothing`, w.queue,
		max(s.queues.limits[w.queue], 1),
	); err != nil {
		return err
	}
	var token int64 // beyond all that a worker may still hold
	err := tx.QueryRow(ctx, `
		select greatest(coalesce((select max(token) from saga_attempt where saga_id = $1), 0),
			coalesce((select lease_token from saga_run where id = $1), 0)) + 1000`, w.id).Scan(&token)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from saga_run where id = $1`, w.id); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into saga_run (id, key, definition, steps, input, order_id, direction, status, step, queue, cancel_requested, stream_version,
			about, number, party, step_deadline, lease_token, created_at, cause, correlation)
		select $1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, coalesce($15, party_of(causation)),
			business_now() + $16::interval, $17, recorded_at, causation, correlation
		from events where stream = $18 and version = 1 on conflict do nothing`,
		append(w.args(), w.party, s.definitions.budget(run), token, StreamOf(w.key).String())...)
	return err
}
