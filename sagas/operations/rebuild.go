package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A Rebuild builds read tables anew from the log (docs/read-tables.md, "Rebuilding").
type Rebuild func(ctx context.Context, names []string, o projections.Options) (projections.Result, error)

const (
	rebuildQueue  = "rebuild"
	rebuildFailed = "rebuild_failed"
	rebuildTries  = 4           // to begin a rebuild, or to find the one that runs
	rebuildPause  = time.Second // while another process rebuilds the table
)

// A RebuildInput says whose rebuild it is.
type RebuildInput struct {
	Operation uuid.UUID `json:"operation"`
}

// registerRebuilds makes the saga known that rebuilds a read table for an operator. One
// runs at a time, so that the machine is left to others.
func (s *Service) registerRebuilds() {
	s.runner.AddQueue(rebuildQueue, 1)
	s.rebuilds = sagas.Register(s.runner, sagas.Saga[RebuildInput]{
		Name: "rebuild", Definition: "rebuild/1",
		Begun: func(in RebuildInput) []domain.Command {
			return []domain.Command{hosting.StartOperation{ID: in.Operation}}
		},
		Parked: func(in RebuildInput, _, code string) []domain.Command { return in.failed(code) },
		Undone: func(in RebuildInput) []domain.Command { return in.failed("cancelled") },
		Steps: []sagas.Step[RebuildInput]{{
			Name: "rebuild.table", Says: "build the read table anew", Queue: rebuildQueue, Policy: s.runner.Times().LocalPolicy(),
			Local: &sagas.Local[RebuildInput]{Do: s.rebuildTable},
		}},
	})
	s.runner.OnAppend(func(_ context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
		return sagas.StartEach(s.runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
			e, queued := r.Event.(hosting.OperationQueued)
			if !queued || e.Kind != hosting.ProjectionRebuild || e.Projection == "" {
				return run, false, nil
			}
			id, err := uuid.Parse(r.Stream.ID)
			return s.rebuilds.Start(id.String(), RebuildInput{id}, uuid.Nil), err == nil, err
		})
	})
}

func (in RebuildInput) failed(code string) []domain.Command {
	return []domain.Command{hosting.FailOperation{ID: in.Operation, Code: code}}
}

// QueueRebuild begins an operation that rebuilds a read table with a check. One that has
// begun already and is not over is returned instead.
func (s *Service) QueueRebuild(ctx context.Context, cause domain.Metadata, user int64, name string) (projections.Operation, error) {
	if err := projections.CheckName(name); err != nil {
		return projections.Operation{}, err
	}
	for range rebuildTries {
		open, is, err := s.tables.For(projections.System).Operations().OpenRebuild(ctx, name)
		if err != nil || is {
			return open, err
		}
		id := uuid.New()
		_, err = s.store.Execute(ctx, cause, hosting.QueueOperation{ID: id, Kind: hosting.ProjectionRebuild, User: user, Projection: name})
		if isRunning(err) {
			continue // another request has begun one
		}
		s.runner.Wake(rebuildQueue)
		return projections.Operation{
			ID: id, Kind: hosting.ProjectionRebuild, Projection: name, Status: string(hosting.OperationQueuedStatus),
		}, err
	}
	return projections.Operation{}, domain.Refuse(domain.Conflict, "Conflict, please retry.")
}

func isRunning(err error) bool {
	refusal, is := errors.AsType[*domain.Error](err)
	return is && refusal.Reason == "in_progress"
}

// rebuildTable rebuilds the table of an operation. What a worker has built that was killed
// stays: the next one goes on with it, or finds that the new table is in use.
func (s *Service) rebuildTable(ctx context.Context, in *RebuildInput) (sagas.Work, error) {
	o, _, err := eventstore.Fold(ctx, s.store, hosting.Operations, hosting.OperationStream(in.Operation))
	if err != nil || o.Over() {
		return sagas.Work{}, err
	}
	at, err := s.swapped(ctx, o)
	if err == nil && at == 0 {
		var result projections.Result
		result, err = s.rebuild(ctx, []string{o.Projection}, projections.Options{Check: true, Compared: func(
			ctx context.Context, found projections.Result,
		) error {
			return s.tellCompared(ctx, in.Operation, o.Projection, found)
		}})
		at = result.Position
	}
	switch {
	case err == nil:
		return sagas.Work{
			Commands: []domain.Command{
				hosting.SucceedOperation{ID: in.Operation, Result: field.Values{"position": strconv.AppendInt(nil, at, 10)}},
			},
		}, nil
	case isRunning(err): // by the command, or by a connection of a killed worker
		return sagas.Work{}, sagas.TooEarly("in_progress", rebuildPause)
	case ctx.Err() != nil, sagas.DatabaseAway(err):
		return sagas.Work{}, err
	}
	s.runner.Log().ErrorContext(ctx, "a read table was not rebuilt", "projection", o.Projection, "error", sagas.Scrub(err))
	return sagas.Work{Commands: in.failed(rebuildFailed)}, nil
}

// swapped is the position at which the new table has taken its place; 0: it has not yet.
// What was compared is swapped at a later position, because the comparison is an event.
func (s *Service) swapped(ctx context.Context, o hosting.Operation) (int64, error) {
	if o.Compared == 0 {
		return 0, nil
	}
	states, err := s.tables.For(projections.System).Operations().States(ctx)
	i := slices.IndexFunc(states, func(t projections.State) bool { return t.Name == o.Projection && t.Swapped > o.Compared })
	if err != nil || i < 0 {
		return 0, err
	}
	return states[i].Swapped, nil
}

// tellCompared records what the check has found before the swap, after which no check could
// find it any more. The keys of rows are no personal data.
func (s *Service) tellCompared(ctx context.Context, id uuid.UUID, name string, found projections.Result) error {
	differences, err := json.Marshal(found.Differences)
	if err != nil {
		return fmt.Errorf("tell what differs in %s: %w", name, err)
	}
	_, err = s.store.Execute(ctx, domain.Metadata{Actor: "system:rebuild"}, hosting.ProgressOperation{
		ID: id, Compared: found.Position, Result: field.Values{
			"projection": field.AppendText(nil, name), "position": strconv.AppendInt(nil, found.Position, 10),
			"different": strconv.AppendInt(nil, found.Different, 10), "differences": differences,
		},
	})
	return err
}
