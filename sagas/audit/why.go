package audit

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// mostBelow bounds how much of what followed from an event is shown.
const mostBelow = 500

// below selects what followed from an event, directly and by what followed from it,
// in the order of the log. Events stand before what follows from them. The name of each is
// a column: below the policies of its rows, Postgres compares no other expression with the
// index.
const below = `
	with recursive tree as (
		select position, stream || '/' || version as at from events where position = $1
		union
		select e.position, e.stream || '/' || e.version from tree t
			join log_index i on i.cause = t.at and i.position > t.position join events e on e.position = i.position)
	select position from tree where position <> $1 order by position limit $2`

// Why tells what led to the event at a position, back to the root, and what came of
// it: the events that followed, and the calls to systems outside.
func (s *Service) Why(ctx context.Context, who projections.Caller, position int64) (audit.Why, error) {
	log := s.store.Reader().Afresh()
	history, err := log.AtPositions(ctx, []int64{position})
	if err == nil && len(owned(who, history)) == 0 {
		err = errForeign
	}
	if err != nil {
		return audit.Why{}, err
	}
	chain, err := log.Chain(ctx, history[0])
	if err != nil {
		return audit.Why{}, err
	}
	why := audit.Why{Root: rootOf(chain[len(chain)-1].Metadata.Cause, who)}
	if why.Chain, err = s.links(ctx, who, chain); err != nil {
		return audit.Why{}, err
	}
	if why.Until, err = s.indexedUntil(ctx); err != nil {
		return audit.Why{}, err
	}
	if why, err = s.whatCame(ctx, who, position, why); err == nil {
		s.Looked(ctx, who, namesOf(slices.Concat(why.Chain, why.Effects)...)...)
	}
	return why, err
}

// links are the events of a chain in its order. Of one that the caller may not see,
// only the time is told.
func (s *Service) links(ctx context.Context, who projections.Caller, chain []eventstore.RecordedEvent) ([]audit.Event, error) {
	shown, err := s.show(ctx, who, chain)
	links := make([]audit.Event, len(chain))
	for i, e := range chain {
		links[i] = audit.Event{RecordedAt: e.RecordedAt}
		if who.SeesTenant(e.Tenant) && len(shown) > 0 {
			links[i], shown = shown[0], shown[1:]
		}
	}
	return links, err
}

// rootOf is where a chain begins.
func rootOf(c domain.Cause, who projections.Caller) audit.Root {
	root := audit.Root{Kind: string(c.Kind()), ID: c.Of()}
	if _, _, named := c.Event(); named && !who.SeesAll() {
		root.ID = ""
	}
	return root
}

// whatCame adds what followed from an event.
func (s *Service) whatCame(ctx context.Context, who projections.Caller, position int64, why audit.Why) (audit.Why, error) {
	rows, _ := s.pool.Query(ctx, below, position, mostBelow+1)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return why, sagas.SQLError(err, "look for what followed from event %d", position)
	}
	if why.IsCut = len(positions) > mostBelow; why.IsCut {
		positions = positions[:mostBelow]
	}
	history, err := s.store.Reader().Afresh().AtPositions(ctx, positions)
	if err != nil {
		return why, err
	}
	why.Effects, err = s.show(ctx, who, history)
	if err != nil || !who.SeesAll() { // a run belongs to no tenant
		return why, err
	}
	why.Calls, err = s.callsIn(ctx, history)
	return why, err
}

// callsIn are the calls of the runs to which events belong.
func (s *Service) callsIn(ctx context.Context, history []eventstore.RecordedEvent) (calls []audit.Call, err error) {
	for _, run := range runsIn(history) {
		found, err := s.runner.Operators.RunNumbered(ctx, run)
		if domain.CodeOf(err) == domain.NotFound { // swept
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range found.Effects {
			calls = append(
				calls,
				audit.Call{Run: run, Key: e.Key, Step: e.Step, State: e.State, ExternalID: e.ExternalID, UpdatedAt: e.UpdatedAt},
			)
		}
	}
	return calls, nil
}

// runsIn are the runs to which events belong, in the order in which they come.
func runsIn(history []eventstore.RecordedEvent) (runs []uuid.UUID) {
	known := map[uuid.UUID]bool{}
	for _, e := range history {
		id, err := uuid.Parse(e.Stream.ID)
		if err == nil && e.Stream.Category == operations.RunCategory && !known[id] {
			known[id] = true
			runs = append(runs, id)
		}
	}
	return runs
}
