package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What goes into the bin stays there for 30 days; then it is removed, with
// everything that belongs to it (docs/sagas.md, "The bin").

// binned lasts until the time in the bin is over, or until the resource has
// left the bin, which wakes the run. What an order has made is
// kept by the run that ends the service.
func (m *Maintenance) binned(ctx context.Context, g *hosting.Generation) (bool, sagas.Work, error) {
	r, err := m.recorded(ctx, g)
	if err != nil || !inBin(r) {
		return err == nil, sagas.Work{}, err
	}
	left := r.TrashedAt.Add(m.Times.BinLife).Sub(m.Runner.Now())
	if left <= 0 {
		return true, sagas.Work{}, nil
	}
	return false, sagas.Work{}, sagas.Await(g.Ref().Stream(), "in_the_bin", min(left, m.Times.BinLook))
}

func (m *Maintenance) recorded(ctx context.Context, g *hosting.Generation) (projections.Resource, error) {
	found, err := m.system().Hosting().Recorded(ctx, g.Ref())
	r := found[g.Ref()]
	if err == nil && r.Version < g.Version {
		err = sagas.TooEarly("not_visible", m.Runner.Times().Floor)
	}
	return r, err
}

func inBin(r projections.Resource) bool {
	return r.TrashedAt != nil && r.Status != hosting.Leaving && r.Status != hosting.Gone
}

// purge asks for the removal of what is still in the bin, and of all that
// belongs to it.
func (m *Maintenance) purge(ctx context.Context, g *hosting.Generation) (sagas.Work, error) {
	kind, _ := hosting.KindNamed(g.Kind)
	r, _, err := eventstore.Fold(ctx, m.Store, hosting.Decider, g.Ref().Stream())
	purge := hosting.Purge{Ref: g.Ref(), Since: g.Version}
	switch {
	case err != nil, !r.Trashed, r.Binned != g.Version, r.Status == hosting.Leaving, r.Status == hosting.Gone:
		return sagas.Work{}, err // it was brought back; if it is in the bin again, that is another run's
	case kind.Owner:
		err = m.Empty(ctx, g.ID, "grace:"+g.String())
		return sagas.Work{Commands: []domain.Command{purge}}, err
	}
	commands, err := removeParts(ctx, m.system(), kind, g.ID)
	return sagas.Work{Commands: append(commands, purge)}, err
}

// purged is how much of a tenant is removed in one append.
const purged = 200

// Empty asks for the removal of all that a tenant has but its machines, which
// its orders have, in the name of a run.
func (m *Maintenance) Empty(ctx context.Context, tenant int64, run string) error {
	for {
		left, err := m.system().Hosting().Belonging(ctx, tenant, purged)
		if err != nil || len(left) == 0 {
			return err
		}
		commands := make([]domain.Command, len(left))
		for i, r := range left {
			commands[i] = hosting.Remove{Ref: r.Ref()}
		}
		cause := domain.Metadata{Actor: "system:grace", Saga: run}
		if _, err := m.Store.Execute(ctx, cause, commands...); err != nil {
			return err
		}
	}
}

// removeParts returns the commands that go with the removal of a record: its
// parts are removed, and records that only refer to it stay without it.
func removeParts(ctx context.Context, scope projections.Scope, kind hosting.Kind, id int64) (commands []domain.Command, err error) {
	for _, other := range kind.Referrers() {
		found, err := scope.Hosting().PartsOf(ctx, other.Kind.Name, other.By, id)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if other.Kind.IsPartBy(other.By) {
				commands = append(commands, hosting.Remove{Ref: r.Ref()})
			} else {
				commands = append(commands, change(r, other.By, "null"))
			}
		}
	}
	return commands, nil
}
