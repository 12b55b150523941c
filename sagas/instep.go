package sagas

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// What runs for a tenant rests with it (docs/tenants.md, "Suspension"). Whoever
// changes a tenant's state halts or releases its records in the same append.
// What came to the tenant meanwhile, or is more than an append may hold, is
// seen to here.

// follows tells whose records a fact may have left out of step; 0: nobody's.
func follows(r eventstore.Recorded) int64 {
	switch e := r.Event.(type) {
	case hosting.Requested:
		if kind, _ := hosting.KindNamed(e.Kind); kind.Halts {
			return e.Tenant
		}
	case hosting.Changed:
		if _, state := e.Spec["status"]; state && r.Stream.Category == "tenant" {
			return r.Tenant
		}
	}
	return 0
}

// keepInStep lets the records of a tenant rest as it does. It goes by how
// things are now, so it may be asked any number of times.
func (s *Sagas) keepInStep(ctx context.Context, r eventstore.Recorded, id int64) error {
	scope := s.tables.For(projections.System)
	found, err := scope.Among(ctx, "tenant", []int64{id})
	if err != nil || len(found) == 0 {
		return err
	}
	var tenant hosting.Tenant
	if err := found[0].Load(&tenant); err != nil {
		return err
	}
	for {
		records, err := scope.OutOfStep(ctx, id, tenant.Rests(), hosting.MostFollowing)
		if err != nil || len(records) == 0 {
			return err
		}
		cause := domain.Cause{ID: uuid.New(), Actor: "system:reactions", Correlation: r.Cause.Correlation, Causation: r.ID}
		receipt, err := s.store.Execute(ctx, cause, hosting.Following(tenant.Rests(), records)...)
		if err != nil || receipt.Position == 0 {
			return err
		}
	}
}
