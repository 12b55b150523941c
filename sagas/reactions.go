package sagas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
)

// Reactions to the log are Watermill handlers. They do database work only, because
// the reader's transaction stays open. An event may be delivered twice, so a
// reaction derives its ids from the event (docs/sagas.md, "Reactions").

// ReactionsReader is the name of the reader that drives the reactions.
const ReactionsReader = "sagas.reactions"

// reactToEvents reacts to events until ctx ends. A database that is away at the
// start, or later, delays the reactions and does not end them.
func (s *Runner) reactToEvents(ctx context.Context) {
	for {
		err := s.reactWhile(ctx)
		if ctx.Err() != nil {
			return
		}
		s.Alarm(ctx, "no event is reacted to; it is tried again", "error", err)
		Pausing(ctx, Jittered(s.times.Poll), nil)
	}
}

// reactWhile reacts to events until ctx ends, or until the log cannot be read.
func (s *Runner) reactWhile(ctx context.Context) error {
	logger := watermill.NewSlogLoggerWithLevelMapping(s.log, map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug})
	r, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.times.Grace}, logger)
	if err != nil {
		return fmt.Errorf("prepare reactions: %w", err)
	}
	subscriber, err := s.store.Subscriber(ReactionsReader, eventstore.Reading{Poll: s.times.Poll})
	if err != nil {
		return fmt.Errorf("prepare reactions: %w", err)
	}
	defer func() { _ = subscriber.Close() }()
	poison, err := middleware.PoisonQueueWithFilter(poisoned{s}, ReactionsReader, poisonous)
	if err != nil {
		return fmt.Errorf("prepare reactions: %w", err)
	}
	r.AddMiddleware(poison, middleware.Retry{MaxRetries: 3, InitialInterval: 50 * time.Millisecond, Logger: logger}.Middleware, middleware.Recoverer)
	r.AddConsumerHandler(ReactionsReader, eventstore.Topic, subscriber, s.react)
	return r.Run(ctx)
}

// poisonous tells whether a repeat is useless. A conflict, an unavailable database
// and a stopping program are temporary.
func poisonous(err error) bool {
	return domain.CodeOf(err) != domain.Conflict && !DatabaseAway(err) && !errors.Is(err, context.Canceled)
}

// react handles one event of the log.
func (s *Runner) react(m *message.Message) error {
	r, err := s.store.FromMessage(m.Context(), m)
	if err != nil {
		return err
	}
	return s.React(m.Context(), r)
}

// React calls every reaction with the event, even if others fail. The event is
// their cause.
func (s *Runner) React(ctx context.Context, r eventstore.RecordedEvent) (err error) {
	ctx = r.Follow(ctx)
	for _, react := range s.reactions {
		err = errors.Join(err, react(ctx, r))
	}
	return err
}

// poisoned stores events that a reaction cannot handle, so that later events are
// handled. It is a Watermill publisher onto a table.
type poisoned struct{ s *Runner }

func (p poisoned) Publish(_ string, messages ...*message.Message) error {
	for _, m := range messages {
		r, err := eventstore.EnvelopeOf(m) // its content may be what cannot be read
		if err != nil {
			return err // the reader waits: without its position no event can be set aside
		}
		reason, ctx := m.Metadata.Get(middleware.ReasonForPoisonedKey), r.Follow(m.Context())
		if err := p.s.Poison(ctx, r, reason); err != nil {
			return err
		}
		p.s.Alarm(ctx, "a reaction failed for good", "reader", ReactionsReader, "position", r.Position, "event", r.Name, "error", Scrub(errors.New(reason)))
	}
	return nil
}

// Poison sets an event aside and reports an incident. The event of an incident
// itself is set aside without a report, because that would fail as well.
func (s *Runner) Poison(ctx context.Context, r eventstore.RecordedEvent, reason string) error {
	aside := eventstore.TxStatement{
		Key: "poisoned/" + strconv.FormatInt(r.Position, 10),
		SQL: `insert into poisoned (reader, position, reason) values ($1, $2, $3)
			on conflict (reader, position) do update set reason = excluded.reason`,
		Args: []any{ReactionsReader, r.Position, reason[:min(len(reason), scrubbed)]}, WantRows: 1,
	}
	if r.Stream.Category == operations.IncidentCategory {
		_, err := s.Exec(ctx, "move an event out of the way", aside.SQL, aside.Args...)
		return err
	}
	return s.SetAside(ctx, ReactionTrouble(r), aside)
}

func (poisoned) Close() error { return nil }

// errFailedAgain refuses what still cannot be handled.
var errFailedAgain = &domain.Error{Code: domain.Conflict, Reason: "failed_again", Message: "It has failed again; the log tells why."}

// Requeue handles an event that was set aside once more, with the same id, and
// settles its incident. Completed work is not repeated.
func (s *Runner) Requeue(ctx context.Context, cause domain.Metadata, position int64, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	found, err := s.store.After(ctx, position-1, 1)
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
	_, err = s.store.ExecuteWith(ctx, ByOperator(cause, uuid.Nil), []eventstore.TxStatement{forget}, ReactionTrouble(found[0]).Settle(reason, s.now()))
	return err
}
