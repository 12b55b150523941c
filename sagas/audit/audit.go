// Package audit looks back at the log: it shows events with actors and causes,
// states as of any moment, and what followed from what (docs/audit.md). It only
// reads, and reaches nothing outside.
package audit

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A Service looks back on behalf of callers. Superusers and the program itself see
// everything, others the streams of the tenant that they act for.
type Service struct {
	runner *sagas.Runner
	store  *eventstore.Store
	pool   *pgxpool.Pool
	tables *projections.Tables
	times  Times
	looks  looks
	packs  sagas.Definition[PackInput]

	lookers *pgxpool.Pool // where looks are recorded

	// PackBounds are the default ones unless they are replaced before the runner starts.
	PackBounds PackBounds
}

// New opens a service over a log and its read tables. With the runner runs the
// reader that fills the index.
func New(runner *sagas.Runner, store *eventstore.Store, tables *projections.Tables, times Times) *Service {
	s := &Service{
		runner: runner, store: store, pool: store.Pool(), lookers: store.Pool(), tables: tables, times: times,
		PackBounds: DefaultPackBounds,
	}
	runner.EachRound("looks at the log were not recorded", s.RecordLooks)
	runner.EachRound("looks at the log were not swept", s.SweepLooks)
	runner.EachRound("evidence packs were not swept", s.SweepPacks)
	s.registerPacks()
	s.follow()
	return s
}

// errForeign answers what does not exist for the caller.
var errForeign error = domain.Refuse(domain.NotFound, "Not found.")

// StreamEvents are the events of a stream behind a version, oldest first, at most
// limit. A stream that is foreign to the caller is answered like a missing one.
func (s *Service) StreamEvents(ctx context.Context, who projections.Caller, stream domain.Stream, after, limit int) (audit.Events, error) {
	length, err := s.reach(ctx, who, stream)
	if err != nil {
		return audit.Events{}, err
	}
	history, err := s.store.Reader().Afresh().ReadVersions(ctx, stream, after, after+limit)
	if err != nil {
		return audit.Events{}, err
	}
	s.Looked(ctx, who, stream.String())
	shown, err := s.show(ctx, who, history)
	return audit.Events{Count: int64(length), Events: shown}, err
}

// LatestEvents are the last events of a stream, at most so many, oldest first.
func (s *Service) LatestEvents(ctx context.Context, who projections.Caller, stream domain.Stream, most int) (audit.Events, error) {
	length, err := s.reach(ctx, who, stream)
	if err != nil {
		return audit.Events{}, err
	}
	return s.StreamEvents(ctx, who, stream, max(0, length-most), most)
}

// reach is the length of a stream that the caller may look at.
func (s *Service) reach(ctx context.Context, who projections.Caller, stream domain.Stream) (int, error) {
	length, tenant, err := s.store.Reader().Extent(ctx, stream)
	if err == nil && (length == 0 || !who.SeesTenant(tenant)) {
		err = errForeign
	}
	return length, err
}
