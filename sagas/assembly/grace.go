package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// What goes into the bin stays there for 30 days; then it is removed, with
// everything that belongs to it (docs/sagas.md, "The bin").

// grace is the run of what has gone into the bin: "grace:site-42/5".
func (s *Panel) grace(v ResourceVersion) sagas.Start {
	return s.graces.Start(generationKey(v), v, uuid.Nil)
}

// binned lasts until the time in the bin is over, or until the resource has
// left the bin. Whoever brings it back wakes the run. What an order has made is
// kept likewise, see [Sagas.kept].
func (s *Panel) binned(ctx context.Context, job *ResourceVersion) (bool, sagas.Work, error) {
	r, err := s.recorded(ctx, job)
	if err != nil || !inBin(r) {
		return err == nil, sagas.Work{}, err
	}
	left := r.TrashedAt.Add(s.times.BinLife).Sub(s.Now())
	if left <= 0 {
		return true, sagas.Work{}, nil
	}
	return false, sagas.Work{}, sagas.Await(job.ref().Stream(), "in_the_bin", min(left, s.times.BinLook))
}

func (s *Panel) recorded(ctx context.Context, job *ResourceVersion) (projections.Resource, error) {
	found, err := s.tables.For(projections.System).Recorded(ctx, job.ref())
	r := found[job.ref()]
	if err == nil && r.Version < job.Version {
		err = sagas.TooEarly("not_visible", s.times.Floor)
	}
	return r, err
}

func inBin(r projections.Resource) bool {
	return r.TrashedAt != nil && r.Status != hosting.Leaving && r.Status != hosting.Gone
}

// purge asks for the removal of what is still in the bin, and of all that
// belongs to it.
func (s *Panel) purge(ctx context.Context, job *ResourceVersion) (sagas.Work, error) {
	kind, _ := hosting.KindNamed(job.Kind)
	r, _, err := eventstore.Fold(ctx, s.store, hosting.Decider, job.ref().Stream())
	purge := hosting.Purge{Ref: job.ref(), Since: job.Version}
	switch {
	case err != nil, !r.Trashed, r.Binned != job.Version, r.Status == hosting.Leaving, r.Status == hosting.Gone:
		return sagas.Work{}, err // it was brought back; if it is in the bin again, that is another run's
	case kind.Owner:
		err = s.empty(ctx, job.ID, "grace:"+generationKey(*job))
		return sagas.Work{Commands: []domain.Command{purge}}, err
	}
	commands, err := s.partsGo(ctx, job)
	return sagas.Work{Commands: append(commands, purge)}, err
}

// purged is how much of a tenant is removed in one append.
const purged = 200

// empty asks for the removal of all that a tenant has but its machines, which
// its orders have, in the name of a run.
func (s *Panel) empty(ctx context.Context, tenant int64, run string) error {
	for {
		left, err := s.tables.For(projections.System).Belonging(ctx, tenant, purged)
		if err != nil || len(left) == 0 {
			return err
		}
		commands := make([]domain.Command, len(left))
		for i, r := range left {
			commands[i] = hosting.Remove{Ref: refTo(r)}
		}
		cause := domain.Metadata{Actor: "system:grace", Saga: run}
		if _, err := s.store.Execute(ctx, cause, commands...); err != nil {
			return err
		}
	}
}

// partsGo are the removals of the parts of a site, and the changes of what only
// refers to it and outlives it.
func (s *Panel) partsGo(ctx context.Context, job *ResourceVersion) (commands []domain.Command, err error) {
	kind, _ := hosting.KindNamed(job.Kind)
	for _, other := range kind.Referrers() {
		found, err := s.tables.For(projections.System).PartsOf(ctx, other.Kind.Name, other.By, job.ID)
		if err != nil {
			return nil, err
		}
		parent, isPart := other.Kind.Parent()
		for _, r := range found {
			if isPart && parent.Field == other.By {
				commands = append(commands, hosting.Remove{Ref: refTo(r)})
			} else {
				commands = append(commands, hosting.Change{Ref: refTo(r), Spec: field.Values{other.By: []byte("null")}})
			}
		}
	}
	return commands, nil
}
