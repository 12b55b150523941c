// Package audit serves looks back at the log: events, states as of a moment, and
// causes (docs/audit.md).
package audit

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// An Area is the look back at the log, with what it needs of the rest of the program.
type Area struct {
	Web          *web.Renderer
	Callers      *caller.Callers
	Lookback     Lookback
	Transparency Transparency
	LogAccess    LogAccess
	Packs        Packs
}

// Lookback reads the log on behalf of callers. What belongs to another tenant, or
// to none, is refused with domain.NotFound unless the caller is a superuser.
type Lookback interface {
	// StreamEvents are the events of a stream behind a version, oldest first.
	StreamEvents(ctx context.Context, who projections.Caller, stream domain.Stream, after, limit int) (audit.Events, error)
	// State is the record of a stream as of a moment.
	State(ctx context.Context, who projections.Caller, stream domain.Stream, at audit.Moment) (audit.State, error)
	// Diff compares a stream at two moments.
	Diff(ctx context.Context, who projections.Caller, stream domain.Stream, from, to audit.Moment) ([]audit.Change, error)
	// Search returns the events that a filter lets through, the newest first.
	Search(ctx context.Context, who projections.Caller, f audit.Filter) (audit.Found, error)
	// Why tells what led to the event at a position, and what came of it.
	Why(ctx context.Context, who projections.Caller, position int64) (audit.Why, error)
	// Looks lists who has looked at streams, the latest first.
	Looks(ctx context.Context, who projections.Caller, l projections.Listing) (projections.Listed[audit.Look], error)
	// Verified tells whether the log is as it was written.
	Verified(ctx context.Context, who projections.Caller) (audit.Verdict, error)
}

const (
	prefix     = "/audit/api/v1/"
	streamPath = prefix + "streams/{stream:[a-z_]+-[0-9A-Za-z_.-]+}/"
)

// Routes are what superusers and administrators of tenants see of the log
// (docs/api.md, "Audit").
func (s *Area) Routes() route.Area {
	return route.Area{
		Name: "Audit", Prefix: prefix, Access: s.Callers.TenantAdmin(),
		About: "The log of all events: what happened, by whom and why. Superusers see all of it, administrators of " +
			"a tenant what belongs to their tenant.",
		Routes: slices.Concat(s.streamRoutes(), s.stateRoutes(), s.searchRoutes(), s.lookRoutes(), s.packRoutes(), s.proofRoutes()),
	}
}

// streamOf is the stream that the path names.
func streamOf(c route.Call) domain.Stream { return domain.StreamNamed(c.Var("stream")) }

// readerOf is on whose behalf the call reads.
func readerOf(c route.Call) projections.Caller { return caller.Of(c).Reader() }
