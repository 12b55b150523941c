package traffic

import (
	"context"

	"hostpanel/domain/compute"
	"hostpanel/projections"
)

// Record keeps a reading, as a process that has come that far.
func (d *Deps) Record(ctx context.Context, row projections.Resource, u compute.Usage) error {
	return d.record(ctx, row, u)
}

// Count decides what follows from the traffic of the month.
func (d *Deps) Count(ctx context.Context, row projections.Resource) error { return d.count(ctx, row) }
