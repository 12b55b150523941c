package operations

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Runs as operators see them in a browser (docs/operations.md, "In the browser").

const (
	runPagePath = web.RunsPath + "{uuid:uuid}/"
)

func (s *runs) pageRoutes() []route.Route {
	return append([]route.Route{
		web.View(web.RunsPath, "The runs of all sagas", s.showRuns).As("runs_page"),
	}, web.ActRoutes(
		s.runDesk(), runPagePath, "run", "Saga", "A run with its steps, and what was tried and done", "Do something with a run",
	)...)
}

// runKinds are the sagas that operators choose from. Others are found by their keys.
var runKinds = []string{
	"provision", "deprovision", "refund", "capture", "mail", "webhook", "engine", "install", "sync", "grace", "renewal", "rebuild",
	"renewals", "documents", "fiscal-years", "inbox", "watch", "differences", "usage", "resets", "index", "verify",
}

func runPage(r *operations.Run) string { return web.RunsPath + r.ID.String() + "/" }

// A runRow is a run in the list.
type runRow struct {
	Path, Key, Kind, Status, StatusText, Step, Order, Attempts string
	At                                                         web.Aspect // when it was last changed
}

func rowOfRun(w web.Words, r *operations.Run) runRow {
	row := runRow{
		Path: runPage(r), Key: r.Key, Kind: wordOf(w, "run_", r.Kind), Status: r.Status, StatusText: wordOf(w, "run_is_", r.Status),
		Step: wordOf(w, "part_", r.At()), At: w.Moment("", &r.UpdatedAt, ""),
	}
	if r.IsTask() {
		row.Step = ""
	}
	if r.Order != nil {
		row.Order = notice.OrderPage(*r.Order)
	}
	if r.Attempt > 0 {
		row.Attempts = strconv.Itoa(r.Attempt)
	}
	return row
}

// wordOf is a name in the reader's words, or the name itself where there are none.
func wordOf(w web.Words, begin, name string) string { return cmp.Or(w[begin+name], name) }

func (s *runs) showRuns(ctx context.Context, c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	listing, bar := web.Asked(
		c, w, web.Choice{Name: "status", Text: "run_is_", Values: runStatuses},
		web.Choice{Name: "kind", Text: "run_", Values: runKinds},
	)
	listing.Search = bar.Searched(c, w["runs_search"])
	found, err := s.admin.RunsListed(ctx, listing)
	if err != nil {
		return nil, err
	}
	rows := make([]runRow, len(found.Rows))
	for i := range found.Rows {
		rows[i] = rowOfRun(w, &found.Rows[i])
	}
	return s.web.Sheet(c, http.StatusOK, "runs", "runs_title", web.Paged(c, bar, found.Count, map[string]any{"Runs": rows}))
}

// runDesk is the page of a run with its forms.
func (s *runs) runDesk() web.ActPage[*runDetail] {
	return web.ActPage[*runDetail]{
		Web: s.web, Acts: s.acts(), Show: s.showRun,
		Find: func(ctx context.Context, c route.Call) (*runDetail, error) { return s.run(ctx, c.UUID("uuid")) },
	}
}

// acts are what may be done with a run. The setup of an order is retried, changed and
// skipped on the page of the order, which has to know of it.
func (s *runs) acts() []web.Act[*runDetail] {
	all := []web.Act[*runDetail]{
		{Name: "retry_run", IsOpen: func(r *runDetail) bool { return r.Status == "parked" && !isSetup(&r.Run) }, Do: s.pressing(retryRun)},
		{Name: "pause", IsOpen: isRun("ready", "running", "waiting"), Do: s.pressing(RunAdmin.Pause)},
		{Name: "resume", IsOpen: isRun("paused"), Do: s.pressing(RunAdmin.Continue)},
		{Name: "release", IsOpen: isRun("running", "waiting"), Do: s.pressing(RunAdmin.Release)},
	}
	for i := range all {
		all[i].Inputs = reasonInput[*runDetail]
	}
	return all
}

// isSetup tells whether a run sets an order up.
func isSetup(r *operations.Run) bool { return r.Kind == provisionKind && r.Direction == "do" }

func isRun(statuses ...string) func(*runDetail) bool {
	return func(r *runDetail) bool { return !r.IsTask() && slices.Contains(statuses, r.Status) }
}

// showRun is the page of a run.
func (s *runs) showRun(_ context.Context, c route.Call, r *runDetail, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, back.StatusOf(), "run", "run_title", map[string]any{
		"Run": rowOfRun(w, &r.Run), "IsSetup": isSetup(&r.Run) && r.Status == "parked", "Facts": runFacts(w, &r.Run),
		"Steps": stepRows(w, r.steps), "Attempts": attemptRows(w, r.attempts), "Effects": effectRows(w, r.effects),
		"Acts": acts, "Wide": true,
		"StepsTitle": w["run_steps"],
	})
}

func runFacts(w web.Words, r *operations.Run) []web.Aspect {
	var facts []web.Aspect
	if r.Order != nil {
		facts = append(facts, web.Aspect{Name: w["order_title"], Text: w["run_to_order"], Path: notice.OrderPage(*r.Order)})
	}
	facts = append(facts, web.Told(web.Aspect{Name: w["run_about"], Text: r.About})...)
	facts = append(facts, web.Aspect{Name: w["run_direction"], Text: w["run_"+r.Direction]},
		w.Moment(w["run_began"], &r.CreatedAt, ""), w.Moment(w["run_changed"], &r.UpdatedAt, ""))
	if !r.Over() {
		facts = append(facts, w.Moment(w["run_next"], &r.RunAt, ""))
	}
	return facts
}

// An attemptRow is an attempt on the page of a run.
type attemptRow struct {
	Step, Number, Outcome, Class, Error string
	Waits                               bool // it did not fail
	At                                  web.Aspect
}

// attemptRows are what was tried, the latest first.
func attemptRows(w web.Words, all []attemptEntry) []attemptRow {
	rows := make([]attemptRow, len(all))
	for i := range all {
		a := &all[i]
		rows[len(all)-1-i] = attemptRow{
			Step: wordOf(w, "part_", a.step), Number: strconv.FormatInt(a.number, 10),
			Outcome: wordOf(w, "outcome_", cmp.Or(a.Outcome, "open")),
			Class:   wordOf(w, "class_", a.ErrorClass), Error: a.Error, Waits: !a.HasFailed(), At: w.Moment("", &a.StartedAt, ""),
		}
	}
	return rows
}

// An effectRow is what was done outside, or may have been.
type effectRow struct {
	Step, Key, State, External string
	At                         web.Aspect
}

func effectRows(w web.Words, all []effectEntry) []effectRow {
	rows := make([]effectRow, len(all))
	for i := range all {
		e := &all[i]
		rows[i] = effectRow{
			Step: wordOf(w, "part_", e.Step), Key: e.Key, State: wordOf(w, "effect_", e.State), External: e.ExternalID,
			At: w.Moment("", &e.UpdatedAt, ""),
		}
	}
	return rows
}
