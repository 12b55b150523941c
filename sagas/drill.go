package sagas

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// registerDrill registers a saga of steps that do nothing. It measures the
// mechanism alone, and shows on a live system that runs get through.
func (s *Runner) registerDrill() {
	s.drill = Register(s, Saga[struct{}]{
		Name: "drill", Definition: "drill/1",
		Steps: []Step[struct{}]{{
			Name: "drill", Says: "do nothing, durably", Queue: LocalQueue, Policy: s.times.LocalPolicy(),
			Local: &Local[struct{}]{Do: func(context.Context, *struct{}) (Work, error) { return Work{}, nil }},
		}},
	})
}

// Drill starts a run under the key "drill:<name>". A second one of that name
// is the first one.
func (s *Runner) Drill(ctx context.Context, name string) error {
	start := s.Starting(0, s.drill.Start(name, struct{}{}, uuid.Nil, "drill", "drill", "drill", "drill", "drill"))
	key := "drill:" + name
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{ID: RunID(key), Actor: "system:drill", Saga: key}, start.Rows, start.Command)
	if err == nil {
		start.Begun()
	}
	return err
}
