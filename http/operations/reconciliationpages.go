package operations

import (
	"context"
	"net/http"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// What does not fit together, as operators see it in a browser: money and services, and
// the records and the engine (docs/operations.md, "In the browser").

func (s *reports) pageRoutes() []route.Route {
	return []route.Route{
		web.View(web.ReconciliationPath, "Orders and records that do not fit what there is", s.showReconciliation).
			As("reconciliation_page"),
		web.View(web.ReadTablesPath, "How far the read tables and the readers of the log are", s.readTablesDesk().Look).
			As("read_tables_page"),
		s.web.Press(web.ReadTablesPath, "Build a read table anew", s.readTablesDesk()).As("read_tables_form"),
		web.View(web.SettingsPath, "The settings that the panel runs with", s.showSettings).As("settings_page"),
	}
}

// A misfitSort is one sort of them.
type misfitSort struct {
	Name, Title, About string
	Rows               []web.Card
}

func (s *reports) showReconciliation(ctx context.Context, c route.Call) (*route.Document, error) {
	found, err := s.payments.Reconcile(ctx)
	if err != nil {
		return nil, err
	}
	differences, err := s.callers.Scope(c).Operations().Incidents(ctx, projections.Listing{
		Filters: []projections.Filter{
			{Field: "kind", Op: "in", Value: operations.Differences}, {Field: "is_settled", Op: "=", Value: false},
		},
		Order: []projections.Ordering{{Field: "reported_at"}},
	})
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, http.StatusOK, "reconciliation", "reconciliation_title", map[string]any{
		"Sorts": misfits(w, &found), "Differences": web.CardsOf(c, web.IncidentList, differences.Rows), "Count": differences.Count,
		"At": w.Moment("", &found.At, ""), "Wide": true,
	})
}

// misfits are the sorts of which there is one.
func misfits(w web.Words, found *operations.Reconciliation) (all []misfitSort) {
	for _, sort := range found.Categories() {
		if len(sort.Findings) == 0 {
			continue
		}
		shown := misfitSort{Name: sort.Name, Title: w["sort_"+sort.Name], About: w["sort_"+sort.Name+"_about"]}
		for i := range sort.Findings {
			f := &sort.Findings[i]
			since := w.Moment("", &f.Since, "")
			since.Text = w["misfit_since"] + " " + since.Text
			shown.Rows = append(shown.Rows, web.Card{
				Path: notice.OrderPage(f.Order), Title: f.OrderNumber,
				Badges: []web.Badge{{Class: f.Status, Text: wordOf(w, "order_", f.Status)}},
				Lines:  []string{w["misfit_repair"] + " " + wordOf(w, "repair_", f.Action)}, Note: []web.Aspect{since},
			})
		}
		all = append(all, shown)
	}
	return all
}
