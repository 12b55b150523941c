package sagas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/google/uuid"
)

// Reactions to the log are Watermill handlers. They do database work only: the
// reader's transaction is open around them. An event may come twice, so what a
// reaction does is named after the event (docs/sagas.md, "Reactions").

// reader is the name under which the log remembers how far reactions have come.
const reader = "sagas.reactions"

// router builds the lane of reactions and returns what runs it until its
// context ends.
func (s *Sagas) router(ctx context.Context) (run func(context.Context), err error) {
	logger := watermill.NewSlogLoggerWithLevelMapping(s.log, map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug})
	r, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.times.Grace}, logger)
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	subscriber, err := s.store.Subscriber(reader, eventstore.Reading{Poll: s.times.Poll})
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	poison, err := middleware.PoisonQueueWithFilter(poisoned{s}, reader, poisonous)
	if err != nil {
		return nil, fmt.Errorf("prepare reactions: %w", err)
	}
	r.AddMiddleware(poison, middleware.Retry{MaxRetries: 3, InitialInterval: 50 * time.Millisecond, Logger: logger}.Middleware, middleware.Recoverer)
	r.AddConsumerHandler(reader, eventstore.Topic, subscriber, s.react)
	return func(stop context.Context) {
		if err := r.Run(stop); err != nil && stop.Err() == nil {
			s.alarm(ctx, "reactions have stopped", "error", err)
		}
		_ = subscriber.Close()
	}, nil
}

// poisonous tells whether trying again is of no use: neither a lost race nor a
// database that is away is the event's own fault.
func poisonous(err error) bool {
	return domain.CodeOf(err) != domain.Conflict && !databaseAway(err)
}

// react handles one event of the log.
func (s *Sagas) react(m *message.Message) error {
	r, err := s.store.Recorded(m.Context(), m)
	if err != nil {
		return err
	}
	return s.reactTo(m.Context(), r)
}

func (s *Sagas) reactTo(ctx context.Context, r eventstore.Recorded) error {
	if tenant := follows(r); tenant != 0 {
		if err := s.keepInStep(ctx, r, tenant); err != nil {
			return err
		}
	}
	if err := errors.Join(s.tellNews(ctx, r), s.announce(ctx, r)); err != nil {
		return err
	}
	switch e := r.Event.(type) {
	case hosting.Requested:
		return s.keepWithSite(ctx, r, e)
	case hosting.Changed:
		return s.tellEngineOfPackage(ctx, r, e)
	case hosting.Confirmed:
		return s.certifyNewName(ctx, r)
	case hosting.Removed:
		return s.forgetEndpoints(ctx, r)
	case order.Placed:
		return s.watchPending(ctx, e.Order, e.Provider, e.At)
	case order.Activated:
		return errors.Join(s.tellCustomer(ctx, r), s.keepService(ctx, r))
	case order.DisputeOpened:
		return s.keepService(ctx, r)
	case order.DisputeClosed:
		return errors.Join(s.keepService(ctx, r), s.turnBack(ctx, r, "charged back"), s.credit(ctx, r))
	case order.CancelRequested:
		return s.turnBack(ctx, r, e.Reason)
	case order.RefundCompleted:
		return errors.Join(s.turnBack(ctx, r, "refunded"), s.credit(ctx, r))
	case order.PartiallyRefunded, billing.InvoiceIssued:
		return s.credit(ctx, r)
	case order.ProvisioningParked:
		return s.tellOperators(ctx, r, notice.OrderParked)
	case order.PaymentMismatchFound:
		return s.tellOperators(ctx, r, notice.PaymentMismatch)
	case account.TokenReused:
		return s.tellReuse(ctx, r)
	case operations.IncidentReported:
		return s.tellIncident(ctx, r, e)
	}
	return nil
}

// tellCustomer notifies the user whom the order was set up for, in the order's
// language.
func (s *Sagas) tellCustomer(ctx context.Context, r eventstore.Recorded) error {
	id := uuid.MustParse(r.Stream.ID)
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	user, err := s.buyer(ctx, id)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, user, notice.OrderActive(o.ResourceType, o.OrderNumber, o.PlanName, o.Language), aboutOrder(o))
}

// tellOperators notifies every superuser of an order, each in their own
// language.
func (s *Sagas) tellOperators(ctx context.Context, r eventstore.Recorded, what func(number, language string) notice.Text) error {
	o, err := s.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	users, err := s.tables.For(projections.System).Superusers(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if err := s.tell(ctx, r, u.ID, what(o.OrderNumber, u.Language), aboutOrder(o)); err != nil {
			return err
		}
	}
	return nil
}

func aboutOrder(o projections.Order) map[string]string {
	return map[string]string{"order_id": o.ID.String()}
}

// tellReuse warns a user that somebody else may have had a token of theirs.
func (s *Sagas) tellReuse(ctx context.Context, r eventstore.Recorded) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil || id == 0 {
		return err // nobody is known under 0
	}
	user, err := s.tables.For(projections.System).User(ctx, id)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, id, notice.TokenReused(user.Language), nil)
}

// tell tells a user of an event, in the panel, by mail or both, as they want to
// hear of it. The id of the notification follows from the event and the user,
// so nobody is told twice (rule W-7).
func (s *Sagas) tell(ctx context.Context, r eventstore.Recorded, user int64, text notice.Text, about map[string]string) error {
	if user == 0 {
		return nil
	}
	wishes, err := s.wishes(ctx, user)
	if err != nil {
		return err
	}
	id := uuid.NewSHA1(r.ID, fmt.Appendf(nil, "notification/%d", user))
	raise := notice.Raise{
		ID: id, User: user, At: r.RecordedAt, Metadata: about, Text: text, InApp: wishes.InApp, Mail: wishes.Mails(text.Type) && s.isFresh(r),
	}
	if raise.Mail {
		if raise.Tenant, err = s.sender(ctx, r, user, text); err != nil {
			return err
		}
	}
	cause := domain.Cause{
		ID: uuid.NewSHA1(id, []byte("raise")), Actor: "system:reactions", Correlation: r.Cause.Correlation, Causation: r.ID, Saga: r.Cause.Saga,
	}
	if _, err = s.store.Execute(ctx, cause, raise); err == nil && raise.Mail {
		s.wake(newsQueue)
	}
	return err
}

// freshness is for how long something is news that one gets by mail. Whoever
// reads the log anew mails nothing of old.
const freshness = 3 * day

func (s *Sagas) isFresh(r eventstore.Recorded) bool { return s.now().Sub(r.RecordedAt) < freshness }

// sender is the tenant in whose name a user is told: that which the event is
// about, or else the user's own; 0: the panel's, as operators are.
func (s *Sagas) sender(ctx context.Context, r eventstore.Recorded, user int64, text notice.Text) (int64, error) {
	switch {
	case text.ToOperators():
		return 0, nil
	case r.Tenant != 0:
		return r.Tenant, nil
	}
	u, err := s.tables.For(projections.System).User(ctx, user)
	return home(u), unlessMissing(err)
}

// poisoned takes the events that no reaction can handle, so that those behind
// them get their turn. It is a Watermill publisher onto a table.
type poisoned struct{ s *Sagas }

func (p poisoned) Publish(_ string, messages ...*message.Message) error {
	for _, m := range messages {
		r, err := p.s.store.Recorded(m.Context(), m)
		if err != nil {
			return err // the reader waits: an event that cannot be read is nobody's to skip
		}
		reason := m.Metadata.Get(middleware.ReasonForPoisonedKey)
		if err := p.s.poison(m.Context(), r, reason); err != nil {
			return err
		}
		p.s.alarm(m.Context(), "a reaction failed for good", "reader", reader, "position", r.Position, "event", r.Name)
	}
	return nil
}

// poison moves an event out of the way and reports that. That an incident
// could not be told is no incident of its own: it would not be told either.
func (s *Sagas) poison(ctx context.Context, r eventstore.Recorded, reason string) error {
	aside := eventstore.Row{
		Key: "poisoned/" + strconv.FormatInt(r.Position, 10),
		SQL: `insert into poisoned (reader, position, reason) values ($1, $2, $3)
			on conflict (reader, position) do update set reason = excluded.reason`,
		Args: []any{reader, r.Position, reason[:min(len(reason), scrubbed)]}, Touches: 1,
	}
	if r.Stream.Category == operations.IncidentCategory {
		_, err := s.exec(ctx, "move an event out of the way", aside.SQL, aside.Args...)
		return err
	}
	return s.setAside(ctx, reactionTrouble(r), aside)
}

func (poisoned) Close() error { return nil }

// Requeue handles an event that was moved out of the way again, under the same
// id; whatever was done the first time is not done twice.
func (s *Sagas) Requeue(ctx context.Context, position int64) error {
	found, err := s.store.After(ctx, position-1, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Position != position {
		return domain.Refuse(domain.NotFound, "No event at this position.")
	}
	if err := s.reactTo(ctx, found[0]); err != nil {
		return fmt.Errorf("handle event %d again: %w", position, err)
	}
	forget := eventstore.Row{
		Key: "poisoned/" + strconv.FormatInt(position, 10), SQL: `delete from poisoned where reader = $1 and position = $2`,
		Args: []any{reader, position}, Touches: eventstore.AnyRows,
	}
	_, err = s.store.ExecuteWith(ctx, domain.Cause{Actor: reporter}, []eventstore.Row{forget}, reactionTrouble(found[0]).Settle("handled again", s.now()))
	return err
}
