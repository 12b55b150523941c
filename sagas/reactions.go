package sagas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
)

// Reactions to the log are Watermill handlers. They do database work only: the
// reader's transaction is open around them. An event may come twice, so what a
// reaction does is named after the event (docs/sagas.md, "Reactions").

// ReactionsReader is the name under which the log remembers how far reactions have come.
const ReactionsReader = "sagas.reactions"

// router builds the lane of reactions and returns what runs it until its
// context ends.
func (s *Runner) router(ctx context.Context) (run func(context.Context), err error) {
	logger := watermill.NewSlogLoggerWithLevelMapping(s.log, map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug})
	r, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.times.Grace}, logger)
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	subscriber, err := s.store.Subscriber(ReactionsReader, eventstore.Reading{Poll: s.times.Poll})
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	poison, err := middleware.PoisonQueueWithFilter(poisoned{s}, ReactionsReader, poisonous)
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	r.AddMiddleware(poison, middleware.Retry{MaxRetries: 3, InitialInterval: 50 * time.Millisecond, Logger: logger}.Middleware, middleware.Recoverer)
	r.AddConsumerHandler(ReactionsReader, eventstore.Topic, subscriber, s.react)
	return func(stop context.Context) {
		if err := r.Run(stop); err != nil && stop.Err() == nil {
			s.Alarm(ctx, "reactions have stopped", "error", err)
		}
		_ = subscriber.Close()
	}, nil
}

// poisonous tells whether trying again is of no use. A lost race, a database that
// is away and a program that stops are not the event's own fault.
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

// React lets every reaction have the event, whatever becomes of the others.
// What they do follows from the event.
func (s *Runner) React(ctx context.Context, r eventstore.RecordedEvent) (err error) {
	ctx = r.Follow(ctx)
	for _, react := range s.reactions {
		err = errors.Join(err, react(ctx, r))
	}
	return err
}

// poisoned takes the events that no reaction can handle, so that those behind
// them get their turn. It is a Watermill publisher onto a table.
type poisoned struct{ s *Runner }

func (p poisoned) Publish(_ string, messages ...*message.Message) error {
	for _, m := range messages {
		r, err := p.s.store.FromMessage(m.Context(), m)
		if err != nil {
			return err // the reader waits: an event that cannot be read is nobody's to skip
		}
		reason, ctx := m.Metadata.Get(middleware.ReasonForPoisonedKey), r.Follow(m.Context())
		if err := p.s.Poison(ctx, r, reason); err != nil {
			return err
		}
		p.s.Alarm(ctx, "a reaction failed for good", "reader", ReactionsReader, "position", r.Position, "event", r.Name, "error", Scrub(errors.New(reason)))
	}
	return nil
}

// Poison moves an event out of the way and reports that. That an incident
// could not be told is no incident of its own: it would not be told either.
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

// Requeue handles an event that was moved out of the way again, under the same
// id; whatever was done the first time is not done twice.
func (s *Runner) Requeue(ctx context.Context, position int64) error {
	found, err := s.store.After(ctx, position-1, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Position != position {
		return domain.Refuse(domain.NotFound, "No event at this position.")
	}
	if err := s.React(ctx, found[0]); err != nil {
		return fmt.Errorf("handle event %d again: %w", position, err)
	}
	forget := eventstore.TxStatement{
		Key: "poisoned/" + strconv.FormatInt(position, 10), SQL: `delete from poisoned where reader = $1 and position = $2`,
		Args: []any{ReactionsReader, position}, WantRows: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(ctx, domain.Metadata{Actor: IncidentReporter}, []eventstore.TxStatement{forget}, ReactionTrouble(found[0]).Settle("handled again", s.now()))
	return err
}
