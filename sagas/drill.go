package sagas

import (
	"context"

	"hostpanel/domain"
)

// A drill is a saga of steps that do nothing. It measures the mechanism alone,
// and shows on a live system that runs get through.
var drill = []string{"drill", "drill", "drill", "drill", "drill"}

const drillDef = "drill/1"

func (s *Sagas) drillStep() step {
	return step{
		name: "drill", says: "do nothing, durably", queue: localQueue, policy: s.policies.local,
		local: &local{do: func(context.Context, Job) (Work, error) { return Work{}, nil }},
	}
}

// Drill starts a run under the key "drill:<name>". A second one of that name
// is the first one.
func (s *Sagas) Drill(ctx context.Context, name string) error {
	run := Start{Key: "drill:" + name, Def: drillDef, Steps: s.places(drill)}
	first := Decider.Evolve(Run{}, Started(run))
	_, err := s.store.ExecuteWith(ctx, domain.Cause{ID: first.ID(), Actor: "system:drill", Saga: run.Key}, s.startRows(first), run)
	if err == nil {
		s.wake(localQueue)
	}
	return err
}
