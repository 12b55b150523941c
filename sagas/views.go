package sagas

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A RunView is a run as operators see it.
type RunView struct {
	ID        uuid.UUID  `db:"id"`
	Key       string     `db:"key"`
	Def       string     `db:"def"`
	Steps     []Place    `db:"steps"`
	Order     *uuid.UUID `db:"order_id"`
	Direction string     `db:"direction"`
	Status    string     `db:"status"`
	Step      int        `db:"step"`
	Attempt   int        `db:"attempt"`
	RunAt     time.Time  `db:"run_at"`
	Worker    *string    `db:"worker"`

	Attempts []AttemptView `db:"-"`
	Effects  []EffectView  `db:"-"`
}

// An AttemptView is one attempt at one step.
type AttemptView struct {
	Step       int        `db:"step"`
	Token      int64      `db:"token"`
	StartedAt  time.Time  `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
	Outcome    string     `db:"outcome"`
	Class      string     `db:"error_class"`
	Error      string     `db:"error"`
	NextRunAt  *time.Time `db:"next_run_at"`
}

// An EffectView is a row of the ledger.
type EffectView struct {
	Key       string    `db:"key"`
	Step      string    `db:"step"`
	State     string    `db:"state"`
	External  string    `db:"external_id"`
	Sends     int       `db:"sends"`
	UpdatedAt time.Time `db:"updated_at"`
}

const runColumns = `select id, key, def, steps, order_id, direction, status, step, attempt, run_at, worker from saga_run`

// A RunFilter says which runs are looked for; what is zero does not count.
type RunFilter struct {
	Key    string
	Order  uuid.UUID
	Status Status // parked, paused, ready, running, waiting, done, undone
	About  string // stream of a hosting resource: "site-42"
	Limit  int    // 0: all
}

// RunsOf are the runs of an order, with their attempts and effects.
func (s *Sagas) RunsOf(ctx context.Context, order uuid.UUID) ([]RunView, error) {
	runs, err := s.Runs(ctx, RunFilter{Order: order})
	slices.SortFunc(runs, func(a, b RunView) int { return strings.Compare(b.Key, a.Key) })
	return runs, err
}

// Runs are the runs that a filter lets through, the latest first, with their
// attempts and effects.
func (s *Sagas) Runs(ctx context.Context, f RunFilter) ([]RunView, error) {
	rows, _ := s.pool.Query(ctx, runColumns+`
		where ($1 = '' or key = $1) and ($2::uuid is null or order_id = $2) and ($3 = '' or status = $3) and ($4 = '' or about = $4)
		order by run_at desc, key limit nullif($5, 0)`, f.Key, uuid.NullUUID{UUID: f.Order, Valid: f.Order != uuid.Nil}, string(f.Status), f.About, f.Limit)
	runs, err := pgx.CollectRows(rows, pgx.RowToStructByName[RunView])
	if err != nil {
		return nil, sqlError(err, "list runs")
	}
	for i := range runs {
		if err := s.detail(ctx, &runs[i]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func (s *Sagas) detail(ctx context.Context, r *RunView) (err error) {
	attempts, _ := s.pool.Query(ctx, `
		select step, token, started_at, finished_at, coalesce(outcome, '') as outcome, coalesce(error_class, '') as error_class,
			coalesce(error, '') as error, next_run_at from saga_attempt where saga_id = $1 order by started_at, token, step`, r.ID)
	var failed, broken error
	r.Attempts, failed = pgx.CollectRows(attempts, pgx.RowToStructByName[AttemptView])
	effects, _ := s.pool.Query(ctx, `
		select key, step, state, coalesce(external_id, '') as external_id, sends, updated_at from effect where saga_id = $1 order by updated_at, key`, r.ID)
	r.Effects, broken = pgx.CollectRows(effects, pgx.RowToStructByName[EffectView])
	return sqlError(errors.Join(failed, broken), "read run %s", r.Key)
}

// Step names the step at which the provisioning of an order stands, such as
// "tenant.engine"; empty: it has not begun.
func (s *Sagas) Step(ctx context.Context, order uuid.UUID) (name string, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(steps -> step ->> 'name', '') from saga_run where key = 'provision:' || $1`, order.String()).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return name, sqlError(err, "look for the step of order %s", order)
}
