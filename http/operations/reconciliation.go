package operations

import (
	"context"
	"net/http"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
)

// Reconciliation is held against what runs.
type Reconciliation interface {
	// Reconcile finds orders whose money and service do not fit together.
	Reconcile(context.Context) (operations.Reconciliation, error)
}

func (s *reports) routes() []route.Route {
	return []route.Route{
		route.Get(operationsPrefix+"reconciliation/", "Orders whose money and service do not fit together", s.reconcile).
			As("reconciliation").Saying(
			"At most 1000 of each sort, the oldest first. Nothing is changed; action names what repairs an order.",
		),
		route.Get(overviewPath, "What happens today, and what needs a person", s.overview).As("overview").
			Saying("Days are those of UTC. Money is what has arrived and what has gone back on a day, whatever became of the order."),
		route.List(operationsPrefix+
			"settings/", "The settings that the panel runs with", s.listSettings).As("settings").Caching("no-store").
			Saying(
				"Those of the process that answers, in the order of the documentation. Of a secret it is told " +
					"whether it is set, and nothing else.",
			),
		route.Get(operationsPrefix+"read-tables/", "How far the read tables and the readers of the log are", s.readTables).
			As("read_tables").Caching("no-store").Saying("A live table changes with the log and is never behind."),
		route.List(operationsPrefix+"projections/", "The read tables and how far behind the log they are", s.projections).
			As("projections").Caching("no-store").
			Saying("While one is rebuilt, its position is that of the new table, and the old one serves."),
		route.Post(operationsPrefix+
			"projections/{name}/rebuild/", "Build a read table anew from the log",
			s.rebuild).As("projection_rebuild").With(http.StatusAccepted).
			Finding(findTable).Resuming(s.resumeRebuild).
			Saying(
				"The old table serves until the new one takes its place. Before that they are compared row by row. " +
					"The job at Location tells what differed. If the table is being rebuilt already, the answer is that job.",
			),
	}
}

func (s *reports) reconcile(ctx context.Context, _ route.Call) (*reconciliation, error) {
	r, err := s.payments.Reconcile(ctx)
	return &reconciliation{r}, err
}

// A reconciliation is the report.
type reconciliation struct{ operations.Reconciliation }

// Fields are the report.
func (r *reconciliation) Fields() field.Set {
	all := field.Set{field.Time("generated_at", &r.At).ReadOnly()}
	for _, sort := range r.Categories() {
		entries := make([]findingEntry, len(sort.Findings))
		for i, f := range sort.Findings {
			entries[i] = findingEntry{f}
		}
		all = append(all, field.Objects(sort.Name, &entries))
	}
	return all
}

// A findingEntry is one order in the report.
type findingEntry struct{ operations.Finding }

// Fields are the order in the report.
func (f *findingEntry) Fields() field.Set {
	return field.Set{
		field.UUID("order", &f.Order).ReadOnly(),
		field.Text("order_number", &f.OrderNumber).ReadOnly(),
		field.Text("status", &f.Status).ReadOnly(),
		field.Time("since", &f.Since).ReadOnly(),
		field.Text("action", &f.Action).ReadOnly().Doc(
			"What repairs it: an action of the order, or retry the run, resume and release of its run.",
		),
	}
}
