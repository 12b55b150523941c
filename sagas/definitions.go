package sagas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// definition is a registered saga. Inputs are pointers to its input type here.
type definition struct {
	name, definition string
	list             []string
	steps            map[string]step
	decode           func(json.RawMessage) (any, error)
	serial           func(any) (domain.Stream, int)
	party            func(any) int64
	begun, undone    func(any) []domain.Command
	parked, stuck    func(in any, step, code string) []domain.Command
	takeBack         func(ctx context.Context, cause domain.Metadata, r Run, reason string) error
}

// step is the step with a name. A definition that is nil has none.
func (d *definition) step(name string) (step, bool) {
	if d == nil {
		return step{}, false
	}
	found, known := d.steps[name]
	return found, known
}

// definitions are the sagas that this program has registered.
type definitions struct {
	sagas map[string]*definition
	undo  Policy // of effects that are undone
}

// names are those of all registered sagas.
func (d *definitions) names() []string {
	return slices.Sorted(maps.Keys(d.sagas))
}

// says tells steps of a definition in the customer's words, one a line.
func (d *definitions) says(definition string, names ...string) (lines string) {
	for _, name := range names {
		lines += d.sagas[definition].steps[name].says + "\n"
	}
	return lines
}

// stepOf is the step that a run stands at.
func (d *definitions) stepOf(r Run) (of *definition, at step, known bool) {
	of = d.sagas[r.Definition]
	at, known = of.step(r.At().Name)
	return of, at, known
}

// stepInDirection returns a step with the policy for the direction of its run.
func (d *definitions) stepInDirection(r Run, step step) step {
	if r.Direction == DirectionUndo && step.effect != nil {
		quarantine := step.policy.Quarantine
		step.policy = d.undo
		step.policy.Quarantine = quarantine
	}
	return step
}

// budget is the longest duration of the run's present step; nil: unlimited.
func (d *definitions) budget(r Run) *time.Duration {
	if r.Over() {
		return nil
	}
	_, step, ok := d.stepOf(r)
	step = d.stepInDirection(r, step)
	if !ok || step.policy.Budget == 0 {
		return nil
	}
	return &step.policy.Budget
}

// row derives the work row of a run (rule V8).
func (d *definitions) row(r Run) workRow {
	w := workRow{
		id: r.ID(), key: r.Key, def: r.Definition, steps: Encode(r.Steps), input: r.Input, direction: r.Direction,
		status: r.Status, step: min(r.Step, len(r.Steps)-1), queue: r.At().Queue, cancel: r.Cancel, version: r.Version,
	}
	if r.Order != uuid.Nil {
		w.order = &r.Order
	}
	of := d.sagas[r.Definition]
	if of == nil || of.serial == nil && of.party == nil {
		return w
	}
	in, err := of.decode(r.Input)
	if err == nil && of.serial != nil {
		stream, number := of.serial(in)
		w.about, w.number = stream.String(), number
	}
	if err == nil && of.party != nil {
		w.party = domain.OrNull(of.party(in))
	}
	return w
}

// startRows are the work row of a new run, and the row of its queue, which may be new as
// well: so many of its runs are worked on at once.
func (d *definitions) startRows(r Run, limit int) []eventstore.TxStatement {
	w := d.row(r)
	var party any = eventstore.TheTenant
	if w.party != nil {
		party = *w.party
	}
	return []eventstore.TxStatement{{
		Key: queueRow(w.queue), SQL: `insert into saga_queue (queue, max_in_flight) select queue, max from arg on conflict do nothing`,
		Columns: "queue text, max int", Args: []any{w.queue, limit}, WantRows: eventstore.AnyRows,
	}, {
		Key: "saga_run/" + w.id.String(),
		SQL: `insert into saga_run (id, key, definition, steps, input, order_id, queue, step_deadline, stream_version,
			about, number, party, cause, correlation)
			select id, key, definition, steps, input, order_id, queue, business_now() + budget, version, about, number,
				party, cause, correlation from arg
			on conflict do nothing`,
		Columns: "id uuid, key text, definition text, steps jsonb, input jsonb, order_id uuid, queue text, budget " +
			"interval, version bigint, " +
			"about text, number int, party bigint, cause text, correlation uuid",
		Args: []any{
			w.id, w.key, w.def, string(w.steps), string(w.input), w.order, w.queue, d.budget(r), w.version, w.about, w.number,
			party, eventstore.TheCause, eventstore.TheCorrelation,
		},
		WantRows: 1,
	}}
}

// refuseUnknownSteps checks that every live run of our definitions can be
// finished (rule G-12). Other definitions belong to newer or older programs
// (G-11).
func (d *definitions) refuseUnknownSteps(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	rows, err := pool.Query(ctx, `
		select definition, p ->> 'name', count(*) from `+LiveRuns+`, jsonb_array_elements(steps) p
		group by 1, 2 order by 1, 2`)
	if err != nil {
		return SQLError(err, "look for live runs")
	}
	defer rows.Close()
	var missing []string
	others := map[string]bool{}
	for rows.Next() {
		var definition, name string
		var runs int64
		if err := rows.Scan(&definition, &name, &runs); err != nil {
			return fmt.Errorf("look for live runs: %w", err)
		}
		known, ours := d.sagas[definition]
		if !ours && !others[definition] {
			others[definition] = true
			alarm(ctx, log, "live runs wait for another version of the program", "definition", definition, "runs", runs)
		}
		if _, has := known.step(name); ours && !has {
			missing = append(missing, fmt.Sprintf("unknown step %q of %s in %d live runs", name, definition, runs))
		}
	}
	if err := rows.Err(); err != nil {
		return SQLError(err, "look for live runs")
	}
	if len(missing) > 0 {
		return errors.New("sagas: " + strings.Join(missing, "; "))
	}
	return nil
}
