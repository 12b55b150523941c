package assembly

import (
	"context"

	"hostpanel/sagas"
	"hostpanel/sagas/payments"
)

// Gauges are figures for metrics and alarms (docs/runs.md, "Figures").
type Gauges struct {
	sagas.RunGauges
	payments.Gauges
}

// Gauges reads the figures of the moment.
func (s *Panel) Gauges(ctx context.Context) (g Gauges, err error) {
	if g.RunGauges, err = s.Runner.Operators.RunGauges(ctx); err == nil {
		g.Gauges, err = s.Payments.Gauges(ctx)
	}
	return g, err
}
