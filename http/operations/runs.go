package operations

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// RunAdmin is what goes on behind what callers asked for: the runs of all
// sagas. What the state of a run forbids is refused with domain.Conflict,
// reason "invalid_state".
type RunAdmin interface {
	RunsListed(context.Context, projections.Listing) (projections.Listed[operations.Run], error)
	RunNumbered(ctx context.Context, id uuid.UUID) (operations.Run, error)
	Pause(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error
	Continue(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error
	Release(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error
	RetryRun(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error
	// RebuildRuns makes the work rows what the log says, and counts those that it has
	// written.
	RebuildRuns(ctx context.Context, cause domain.Metadata, reason string) (int64, error)
}

const (
	runsPath = operationsPrefix + "sagas/"
	runPath  = runsPath + "{uuid:uuid}/"
)

var (
	runStatuses  = []string{"ready", "running", "waiting", "parked", "paused", "done", "undone"}
	effectStates = []string{"intended", "unknown", "absent", "confirmed", "deferred", "skipped", "undoing", "undone"}
)

func (s *runs) sagaRoutes() []route.Route {
	return []route.Route{
		listing.Pages[runEntry](runsPath, "Runs of sagas, and tasks that are in work, fail or are parked", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Text("status", new(string)).Among(runStatuses...).Doc("Only runs in this status."),
					field.Text("kind", new(string)).Doc(
						"Only runs of this saga, or tasks of this queue: provision, refund, engine, renewals …",
					),
					field.UUID("order", new(uuid.UUID)).Doc("Only runs of this order."),
					field.Text("step", new(string)).Doc("Only runs that stand at this step."),
				}
			},
			Search: "key and about", Ordering: []string{"key", "next_run_at"}, UUIDs: true,
		}, s.listRuns).As("saga_list"),
		route.Get(runPath, "A run, what was tried and what was done outside", record.Found[runDetail]).As("saga_read").
			Of("Saga").Finding(s.findRun),
		s.runAction("pause", "Keep a run from going on", RunAdmin.Pause),
		s.runAction("resume", "End a pause", RunAdmin.Continue),
		s.runAction("release", "Take a run away from the worker that holds it", RunAdmin.Release).
			Saying("One that waits for its time goes on at once."),
		s.runAction("retry", "Let a parked run go on at the step where it stopped", retryRun).
			Saying("The setup of an order is retried with the order."),
		route.Post(runsPath+"rebuild/", "Make the work rows of all runs what the log says", func(
			ctx context.Context, c route.Call, v *verdict,
		) (*rebuiltRuns, error) {
			n, err := s.admin.RebuildRuns(ctx, c.Cause(), v.Reason)
			return &rebuiltRuns{n}, err
		}).As("saga_rebuild").With(http.StatusOK).
			Saying("For instance after a loss of rows. Workers may go on meanwhile; rows that are right stay as they are.").
			Resuming(func(context.Context, route.Call, string) (route.Answer, error) { return (&rebuiltRuns{}).Fields(), nil }),
	}
}

// runAction declares what operators do with a run.
func (s *runs) runAction(verb, summary string, do func(RunAdmin, context.Context, domain.Metadata, uuid.UUID, string) error) route.Route {
	show := func(ctx context.Context, c route.Call) (*runDetail, error) {
		return record.Shown(c, func() (*runDetail, error) { return s.run(ctx, c.UUID("uuid")) })
	}
	return route.Post(runPath+verb+"/", summary, func(ctx context.Context, c route.Call, v *verdict) (*runDetail, error) {
		r := c.Subject.(*runDetail) //nolint:forcetypeassert // found by findRun
		cause := c.CauseOf(domain.Versions{r.Stream(): int(r.Version)})
		if err := do(s.admin, ctx, cause, r.ID, v.Reason); err != nil {
			return nil, err
		}
		return show(ctx, c)
	}).As("saga_"+verb).Of("Saga").With(http.StatusAccepted).Finding(s.findRun).
		Failing(http.StatusConflict, "The run's state forbids it (invalid_state), or others were faster.").
		Resuming(func(ctx context.Context, c route.Call, _ string) (route.Answer, error) {
			r, err := show(ctx, c)
			if err != nil {
				return nil, err
			}
			return r.Fields(), nil
		})
}

// pressing is what the form of a run's page does.
func (s *runs) pressing(do func(RunAdmin, context.Context, domain.Metadata, uuid.UUID, string) error) func(
	context.Context, route.Call, *runDetail, url.Values,
) error {
	return web.Pressed(func(ctx context.Context, c route.Call, r *runDetail, v *verdict) error {
		return do(s.admin, ctx, c.CauseOf(domain.Versions{r.Stream(): int(r.Version)}), r.ID, v.Reason)
	})
}

// retryRun lets a parked run go on. The setup of an order goes on with the
// order, which has to know of it.
//
//nolint:revive // as the methods beside it
func retryRun(m RunAdmin, ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	r, err := m.RunNumbered(ctx, id)
	if err != nil {
		return err
	}
	if r.Kind == provisionKind && r.Direction == "do" {
		return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The setup of an order is retried with the order."}
	}
	return m.RetryRun(ctx, cause, id, reason)
}

func (s *runs) listRuns(ctx context.Context, _ route.Call, l projections.Listing) (projections.Listed[runEntry], error) {
	runs, err := s.admin.RunsListed(ctx, l)
	return record.Map(runs, err, func(r operations.Run) runEntry { return runEntry{r} })
}

// rebuiltRuns says how many work rows were written.
type rebuiltRuns struct{ rebuilt int64 }

// Fields are the answer.
func (r *rebuiltRuns) Fields() field.Set {
	return field.Set{field.Int("rebuilt", &r.rebuilt).ReadOnly().Doc("How many work rows were written.")}
}

func (s *runs) run(ctx context.Context, id uuid.UUID) (*runDetail, error) {
	r, err := s.admin.RunNumbered(ctx, id)
	return newRunDetail(r), err
}

func (s *runs) findRun(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.run(ctx, c.UUID("uuid")))
}

// A runEntry is a run in a list.
type runEntry struct{ operations.Run }

// Fields are the run in a list.
func (r *runEntry) Fields() field.Set {
	step, attempt := r.At(), int64(r.Attempt)
	return field.Set{
		field.UUID("id", &r.ID).ReadOnly(),
		field.Text("kind", &r.Kind).ReadOnly(),
		field.Text("key", &r.Key).ReadOnly(),
		field.NullUUID("order", &r.Order).ReadOnly(),
		field.Text("direction", &r.Direction).Among("do", "undo").ReadOnly(),
		field.Text("status", &r.Status).Among(runStatuses...).ReadOnly(),
		field.Text("step", &step).ReadOnly(),
		field.Int("attempt", &attempt).ReadOnly(),
		field.Time("next_run_at", &r.RunAt).ReadOnly(),
		field.Time("created_at", &r.CreatedAt).ReadOnly(),
		field.Time("updated_at", &r.UpdatedAt).ReadOnly(),
	}
}

// A runDetail is a run with what was tried and what was done outside.
type runDetail struct {
	runEntry
	steps    []stepEntry
	attempts []attemptEntry
	effects  []effectEntry
}

func newRunDetail(r operations.Run) *runDetail {
	d := &runDetail{runEntry: runEntry{r}, steps: stepsOfRun(r, endingsIn(r))}
	tries := map[int]int64{}
	for _, a := range r.Attempts {
		tries[a.Step]++
		step := ""
		if a.Step < len(r.Steps) {
			step = r.Steps[a.Step].Name
		}
		d.attempts = append(d.attempts, attemptEntry{a, step, tries[a.Step]})
	}
	for _, e := range r.Effects {
		d.effects = append(d.effects, effectEntry{e})
	}
	return d
}

// Fields are the run.
func (r *runDetail) Fields() field.Set {
	return append(r.runEntry.Fields(),
		field.Objects("steps", &r.steps).Doc("All of them, those that are still ahead too."),
		field.Objects("attempts", &r.attempts), field.Objects("effects", &r.effects).Doc("What was done outside, or may have been."))
}

func (r *runDetail) Tag() string {
	return record.Tag(operations.RunCategory, r.ID.String(), int(r.Version)) + "." + record.Fingerprint(r.Fields())
}

// An attemptEntry is one attempt at a step.
type attemptEntry struct {
	operations.Attempt
	step   string
	number int64 // at this step
}

// Fields are the attempt.
func (a *attemptEntry) Fields() field.Set {
	return field.Set{
		field.Text("step", &a.step).ReadOnly(),
		field.Int("attempt", &a.number).ReadOnly(),
		field.Time("started_at", &a.StartedAt).ReadOnly(),
		field.NullTime("finished_at", &a.FinishedAt).ReadOnly(),
		field.Text("outcome", &a.Outcome).ReadOnly().Doc(
			"completed, retry, wait, released and others; empty: it is being made, or its worker is lost.",
		),
		field.Text("error_class", &a.ErrorClass).ReadOnly().Doc("transient, unknown, permanent, wait; empty: none."),
		field.Text("error", &a.Error).ReadOnly(),
	}
}

// An effectEntry is a row of the ledger.
type effectEntry struct{ operations.Effect }

// Fields are the effect.
func (e *effectEntry) Fields() field.Set {
	return field.Set{
		field.Text("key", &e.Key).ReadOnly(),
		field.Text("step", &e.Step).ReadOnly(),
		field.Text("state", &e.State).Among(effectStates...).ReadOnly(),
		field.Text("external_id", &e.ExternalID).ReadOnly(),
		field.Time("updated_at", &e.UpdatedAt).ReadOnly(),
	}
}
