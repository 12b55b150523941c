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
