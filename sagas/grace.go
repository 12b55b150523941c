package sagas

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// What goes into the bin stays there for 30 days; then it is removed, with
// everything that belongs to it (docs/sagas.md, "The bin").

const graceDef = "grace/1"

func (s *Sagas) graceSteps() []step {
	return []step{
		{
			name: "grace", says: "keep it in the bin for a while", queue: localQueue, policy: s.policies.bin,
			wait: &until{ready: s.binned},
		},
		{
			name: "purge", says: "remove it for good", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.purge},
		},
	}
}

// grace is the run of what has gone into the bin: "grace:site-42/5".
func (s *Sagas) grace(j Job) Start {
	return Start{Key: "grace:" + wishOf(j), Def: graceDef, Steps: s.places([]string{"grace", "purge"}), Job: j}
}

// binned lasts until the time in the bin is over, or until the resource has
// left the bin. Whoever brings it back wakes the run. What an order has made is
// kept likewise, see [Sagas.kept].
func (s *Sagas) binned(ctx context.Context, job Job) (bool, Work, error) {
	if job.Order != uuid.Nil {
		return s.kept(job)
	}
	r, err := s.recorded(ctx, job)
	if err != nil || !inBin(r) {
		return err == nil, Work{}, err
	}
	left := r.TrashedAt.Add(s.times.BinLife).Sub(s.now())
	if left <= 0 {
		return true, Work{}, nil
	}
	return false, Work{}, &awaiting{job.ref().Stream(), wait("in_the_bin", min(left, s.times.BinLook))}
}

func (s *Sagas) recorded(ctx context.Context, job Job) (projections.Resource, error) {
	found, err := s.tables.For(projections.System).Recorded(ctx, job.ref())
	r := found[job.ref()]
	if err == nil && r.Version < job.Version {
		err = wait("not_visible", s.times.Floor)
	}
	return r, err
}

func inBin(r projections.Resource) bool {
	return r.TrashedAt != nil && r.Status != hosting.Leaving && r.Status != hosting.Gone
}

// purge asks for the removal of what is still in the bin, and of all that
// belongs to it.
func (s *Sagas) purge(ctx context.Context, job Job) (Work, error) {
	r, _, err := eventstore.Fold(ctx, s.store, hosting.Decider, job.ref().Stream())
	purge := hosting.Purge{Ref: job.ref(), Since: job.Version}
	switch {
	case err != nil, !r.Trashed, r.Binned != job.Version, r.Status == hosting.Leaving, r.Status == hosting.Gone:
		return Work{}, err // it was brought back; if it is in the bin again, that is another run's
	case job.Kind == "tenant":
		err = s.empty(ctx, job.ID, "grace:"+wishOf(job))
		return Work{Commands: []domain.Command{purge}}, err
	}
	commands, err := s.partsGo(ctx, job)
	return Work{Commands: append(commands, purge)}, err
}

// purged is how much of a tenant is removed in one append.
const purged = 200

// empty asks for the removal of all that a tenant has but its machines, which
// its orders have, in the name of a run.
func (s *Sagas) empty(ctx context.Context, tenant int64, run string) error {
	for {
		left, err := s.tables.For(projections.System).Belonging(ctx, tenant, purged)
		if err != nil || len(left) == 0 {
			return err
		}
		commands := make([]domain.Command, len(left))
		for i, r := range left {
			commands[i] = hosting.Remove{Ref: refTo(r)}
		}
		cause := domain.Cause{Actor: "system:grace", Correlation: RunID(run), Saga: run}
		if _, err := s.store.Execute(ctx, cause, commands...); err != nil {
			return err
		}
	}
}

// partsGo are the removals of the parts of a site, and the changes of what only
// refers to it and outlives it.
func (s *Sagas) partsGo(ctx context.Context, job Job) (commands []domain.Command, err error) {
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
