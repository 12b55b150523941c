package sagas

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain/operations"
	"hostpanel/projections"
)

// RunView is a run as operators see it (docs/operations.md).
type RunView = operations.Run

// runColumns are those of a run in the table r. When a run changed last its stream knows.
const runColumns = `r.id, r.key, r.definition as def, ` + runKind +
	` as kind, r.steps, r.order_id as "order", r.about, r.direction, r.status, r.step,
	r.attempt, r.run_at, r.worker, r.stream_version as version, r.lease_token as token, r.created_at, ` + runChanged + ` as updated_at`

const (
	runKind    = `split_part(r.key, ':', 1)`
	runChanged = `coalesce((select e.recorded_at from events e where e.stream = 'saga-' || r.id
		and e.version = r.stream_version), r.created_at)`
)

// runTable says how runs are listed, and tasks beside them.
func (s *tasks) runTable() projections.TableList {
	return projections.TableList{
		From: s.runsAndTasks(), ID: "r.id", Search: "lower(r.key || ' ' || r.about)", Columns: runColumns + `, r.error as last_error`,
		Fields: map[string]string{
			"id": "r.id", "created_at": "r.created_at", "updated_at": runChanged, "next_run_at": "r.run_at", "key": "r.key",
			"status": "r.status", "kind": runKind, "order": "r.order_id", "step": "r.steps -> r.step ->> 'name'", "about": "r.about",
		},
	}
}

// A RunFilter says which runs are looked for; what is zero does not count.
type RunFilter struct {
	Key    string
	Order  uuid.UUID
	Status Status // parked, paused, ready, running, waiting, done, undone
	About  string // stream of a hosting resource: "site-42"
	Limit  int    // 0: all
}

// RunsOf are the runs of an order, with their attempts and effects.
func (s *Operators) RunsOf(ctx context.Context, order uuid.UUID) ([]RunView, error) {
	runs, err := s.Runs(ctx, RunFilter{Order: order})
	slices.SortFunc(runs, func(a, b RunView) int { return strings.Compare(b.Key, a.Key) })
	return runs, err
}

// Runs are the runs that a filter lets through, the latest first, with their
// attempts and effects. Without an order and a resource, tasks are among them.
func (s *Operators) Runs(ctx context.Context, f RunFilter) ([]RunView, error) {
	from := onlyRuns
	if f.Order == uuid.Nil && f.About == "" {
		from = s.tasks.runsAndTasks()
	}
	return s.runsWhere(ctx, from, `
		where ($1 = '' or key = $1) and ($2::uuid is null or order_id = $2) and ($3 = '' or status = $3) and ($4 = '' or about = $4)
		order by run_at desc, key limit nullif($5, 0)`, f.Key, uuid.NullUUID{UUID: f.Order, Valid: f.Order != uuid.Nil},
		string(f.Status), f.About, f.Limit)
}

// RunsListed are the runs that operators ask for, without what became of each
// try: by status, kind, order and step; searched by key and about; ordered also by key and next_run_at.
func (s *Operators) RunsListed(ctx context.Context, l projections.Listing) (projections.Listed[operations.Run], error) {
	return projections.ListTable[operations.Run](ctx, s.pool, s.tasks.runTable(), l)
}

// RunNumbered is one run or task, with its attempts and effects.
func (s *Operators) RunNumbered(ctx context.Context, id uuid.UUID) (operations.Run, error) {
	var runs []RunView
	var err error
	for _, from := range []string{onlyRuns, s.tasks.runsAndTasks()} {
		if runs, err = s.runsWhere(ctx, from, ` where id = $1`, id); err != nil || len(runs) > 0 {
			break
		}
	}
	if err == nil && len(runs) == 0 {
		err = ErrNoRun
	}
	if err != nil {
		return operations.Run{}, err
	}
	return runs[0], nil
}

// onlyRuns is a table of runs without tasks.
const onlyRuns = `(select *, '' as error from saga_run) r`

// runsWhere reads runs, and in one more round trip all that was tried and done
// for them.
func (s *Operators) runsWhere(ctx context.Context, from, narrowed string, args ...any) ([]operations.Run, error) {
	rows, _ := s.pool.Query(ctx, `select `+runColumns+`, r.error as last_error from `+from+narrowed, args...)
	runs, err := pgx.CollectRows(rows, pgx.RowToStructByName[operations.Run])
	if err != nil || len(runs) == 0 {
		return runs, SQLError(err, "read runs")
	}
	ids := make([]uuid.UUID, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	var attempts []operations.Attempt
	var effects []operations.Effect
	b := &pgx.Batch{}
	b.Queue(attemptsOf, ids).Query(Collecting(&attempts))
	b.Queue(effectsOf, ids).Query(Collecting(&effects))
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, SQLError(err, "read what was tried")
	}
	for i := range runs {
		handOut(&runs[i], attempts, effects)
	}
	return runs, nil
}

// handOut gives a run those attempts and effects that are its own. Of a task the last
// failure is known.
func handOut(r *operations.Run, attempts []operations.Attempt, effects []operations.Effect) {
	if r.LastError != "" {
		r.Attempts = append(r.Attempts, operations.Attempt{
			Run: r.ID, Token: r.Token, StartedAt: r.UpdatedAt, Outcome: "retry", ErrorClass: "unknown", Error: r.LastError,
		})
	}
	for _, a := range attempts {
		if a.Run == r.ID {
			r.Attempts = append(r.Attempts, a)
		}
	}
	for _, e := range effects {
		if e.Run == r.ID {
			r.Effects = append(r.Effects, e)
		}
	}
}

// Collecting reads rows into a list.
func Collecting[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		return err
	}
}

const (
	attemptsOf = `
		select saga_id as run, step, token, started_at, finished_at, coalesce(outcome, '') as outcome,
			coalesce(error_class, '') as error_class,
			coalesce(error, '') as error, next_run_at from saga_attempt where saga_id = any($1) order by started_at, token, step`
	effectsOf = `
		select saga_id as run, key, step, state, coalesce(external_id, '') as external_id, sends, updated_at
		from effect where saga_id = any($1) order by updated_at, key`
)
