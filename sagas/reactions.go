package sagas

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// Reactions to the log do database work only, because the reader's transaction stays
// open. An event may be delivered twice, so a reaction derives its ids from the event
// (docs/sagas.md, "Reactions").

// ReactionsReader is the name of the reader that drives the reactions.
const ReactionsReader = "sagas.reactions"

// A reaction is called for events of these names; nil: for all.
type reaction struct {
	names []string
	react func(context.Context, eventstore.RecordedEvent) error
}

// NamesOf are the stored names of events.
func NamesOf(events ...domain.Event) (names []string) {
	for _, e := range events {
		names = append(names, e.EventName())
	}
	return names
}

// Reactions are what follows from events, once or more for each.
type Reactions struct {
	store     *eventstore.Store
	poll      time.Duration
	now       func() time.Time
	log       *slog.Logger
	incidents *incidents

	list []reaction
}

// names are the events that any reaction is called for; nil: all.
func (s *Reactions) names() (names []string) {
	for _, r := range s.list {
		if r.names == nil {
			return nil
		}
		names = append(names, r.names...)
	}
	return names
}

// run reacts to events until ctx ends.
func (s *Reactions) run(ctx context.Context) {
	s.store.RunLanes(ctx, eventstore.Lanes{
		Reader: ReactionsReader, Names: s.names(), Poll: s.poll, Handle: s.handle, SetAside: s.poison,
	})
}

// poisonous tells whether a repeat is useless. A conflict, an unavailable database
// and a stopping program are temporary.
func poisonous(err error) bool {
	return domain.CodeOf(err) != domain.Conflict && !DatabaseAway(err) && !errors.Is(err, context.Canceled)
}

// reactionRetries is how often a reaction that has failed is tried again, with a pause
// that doubles.
const (
	reactionRetries = 3
	reactionPause   = 50 * time.Millisecond
)

// handle reacts to an event. One that fails each time is set aside, so that later events
// are handled; a temporary failure leaves it to the next delivery.
func (s *Reactions) handle(ctx context.Context, r eventstore.RecordedEvent) error {
	react := func() error { return s.React(ctx, r) }
	err := Guarded(react)
	for n := 0; err != nil && n < reactionRetries && ctx.Err() == nil; n++ {
		clock.Pausing(ctx, reactionPause<<n, nil)
		err = Guarded(react)
	}
	if err == nil || ctx.Err() != nil || !poisonous(err) {
		return err
	}
	return s.poison(ctx, r, err)
}

// poison sets an event aside that a reaction cannot handle.
func (s *Reactions) poison(ctx context.Context, r eventstore.RecordedEvent, cause error) error {
	ctx = r.Follow(ctx)
	if err := s.Poison(ctx, r, cause.Error()); err != nil {
		return err
	}
	alarm(
		ctx, s.log, "a reaction failed for good", "reader", ReactionsReader, "position", r.Position, "event", r.Name,
		"error", Scrub(cause),
	)
	return nil
}

// React calls every reaction to the event, even if others fail. The event is their
// cause.
func (s *Reactions) React(ctx context.Context, r eventstore.RecordedEvent) (err error) {
	ctx = r.Follow(ctx)
	for _, to := range s.list {
		if to.names == nil || slices.Contains(to.names, r.Name) {
			err = errors.Join(err, to.react(ctx, r))
		}
	}
	return err
}

// Poison sets an event aside and reports an incident. The event of an incident
// itself is set aside without a report, because that would fail as well.
func (s *Reactions) Poison(ctx context.Context, r eventstore.RecordedEvent, reason string) error {
	aside := eventstore.TxStatement{
		Key: "poisoned/" + strconv.FormatInt(r.Position, 10),
		SQL: `insert into poisoned (reader, position, reason) values ($1, $2, $3)
			on conflict (reader, position) do update set reason = excluded.reason`,
		Args: []any{ReactionsReader, r.Position, reason[:min(len(reason), scrubbed)]}, WantRows: 1,
	}
	if r.Stream.Category == operations.IncidentCategory {
		_, err := exec(ctx, s.store.Pool(), "move an event out of the way", aside.SQL, aside.Args...)
		return err
	}
	return s.incidents.SetAside(ctx, ReactionTrouble(r), aside)
}

// errFailedAgain refuses what still cannot be handled.
var errFailedAgain = &domain.Error{Code: domain.Conflict, Reason: "failed_again", Message: "It has failed again; the log tells why."}

// Requeue handles an event that was set aside once more, with the same id, and
// settles its incident. Completed work is not repeated.
func (s *Reactions) Requeue(ctx context.Context, cause domain.Metadata, position int64, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	found, err := s.store.Reader().After(ctx, position-1, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Position != position {
		return domain.Refuse(domain.NotFound, "No event at this position.")
	}
	if err := s.React(ctx, found[0]); err != nil {
		if DatabaseAway(err) {
			return err
		}
		s.log.WarnContext(ctx, "a reaction has failed again", "position", position, "error", Scrub(err))
		return errFailedAgain
	}
	forget := eventstore.TxStatement{
		Key: "poisoned/" + strconv.FormatInt(position, 10), SQL: `delete from poisoned where reader = $1 and position = $2`,
		Args: []any{ReactionsReader, position}, WantRows: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(
		ctx, ByOperator(cause, uuid.Nil), []eventstore.TxStatement{forget},
		ReactionTrouble(found[0]).Settle(reason, s.now()),
	)
	return err
}
