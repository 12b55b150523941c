package operations

import (
	"context"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
)

// Reconciliation is held against what runs.
type Reconciliation interface {
	// Reconcile finds orders whose money and service do not fit together.
	Reconcile(context.Context) (operations.Reconciliation, error)
}

func (s *reports) reconciliationRoute() route.Route {
	return route.Get(operationsPrefix+"reconciliation/", "Orders whose money and service do not fit together", s.reconcile).
		As("reconciliation").Saying("At most 1000 of each sort, the oldest first. Nothing is changed; action names what repairs an order.")
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
		field.Text("action", &f.Action).ReadOnly().Doc("What repairs it: an action of the order, or retry the run, resume and release of its run."),
	}
}
