package sagas

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// registerDrills registers sagas of steps that do nothing: recorded one by one, and
// together. They measure the mechanism alone, and show on a live system that runs get
// through.
func (s *Runner) registerDrills() {
	s.drill, s.joinedDrill = s.newDrill("drill/1", false), s.newDrill("drill/2", true)
}

func (s *Runner) newDrill(name string, joins bool) Definition[struct{}] {
	return Register(s, Saga[struct{}]{
		Name: "drill", Definition: name,
		Steps: []Step[struct{}]{{
			Name: "drill", Says: "do nothing, durably", Queue: LocalQueue, Policy: s.times.LocalPolicy(), Joins: joins,
			Local: &Local[struct{}]{Do: func(context.Context, *struct{}) (Work, error) { return Work{}, nil }},
		}},
	})
}

// Drill starts a run of five steps under the key "drill:<name>". A second one of that
// name is the first one.
func (s *Runner) Drill(ctx context.Context, name string) error {
	return s.startDrill(ctx, s.drill, name)
}

// JoinedDrill is [Runner.Drill] with steps that are recorded together.
func (s *Runner) JoinedDrill(ctx context.Context, name string) error {
	return s.startDrill(ctx, s.joinedDrill, name)
}

func (s *Runner) startDrill(ctx context.Context, drill Definition[struct{}], name string) error {
	start := s.Starting(0, drill.Start(name, struct{}{}, uuid.Nil, "drill", "drill", "drill", "drill", "drill"))
	key := "drill:" + name
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{ID: RunID(key), Actor: "system:drill", Saga: key}, start.Rows, start.Command)
	if err == nil {
		start.Begun()
	}
	return err
}
