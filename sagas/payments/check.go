package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Polling is the one way from "something happened" to events. An order's watch
// row comes due, the provider's books are fetched, and the order decides what
// they mean. A webhook, the return page, an operator and the clock only decide
// when a check is due (docs/sagas.md, "Watch").

// A check fetches the state of one order from its provider, under a lease.
type check struct {
	order    uuid.UUID
	provider string
	reason   string
	wakes    int64
	cause    *string // of the hint that came first; nil: its time has come
	fails    int
	failing  time.Duration
	token    int64
	until    time.Time // when the provider must have answered

	history []eventstore.RecordedEvent // of the order
	named   []string                   // the sessions that webhooks have named for it
}

// poll carries out the checks that are due, a bounded number at once. With every webhook
// lost it still brings each order to its end, so a check is repeated for ever.
func (s *Service) poll() {
	sagas.AddTasks(s.runner, sagas.Queue[check]{
		Name: watchQueue, Failed: "an order was not checked", AtOnce: checksAtOnce, KeyType: "uuid",
		Policy: sagas.TaskPolicy{Lease: s.times.CheckLease, Base: s.times.DownBase, Cap: s.times.DownCap},
		Table: sagas.Table{
			Name: "payment_watch", Key: "order_id",
			Columns: "order_id, provider, reason, wakes, cause", Claimed: ", checks = checks + 1",
		},
		Load: s.load, Do: s.checkOrder,
	}, func(c *check) []any { return []any{&c.order, &c.provider, &c.reason, &c.wakes, &c.cause} })
}

// load reads what the checks of orders need.
func (s *Service) load(ctx context.Context, group []*sagas.Task[check]) error {
	orders, streams := make([]uuid.UUID, len(group)), make([]domain.Stream, len(group))
	for i, task := range group {
		orders[i], streams[i] = task.Row.order, order.Stream(task.Row.order)
	}
	histories, err := s.store.ReadEach(ctx, streams...)
	if err != nil {
		return err
	}
	named, err := s.namedSessions(ctx, orders...)
	for i, task := range group {
		c := &task.Row
		c.fails, c.failing, c.token, c.until = task.Attempts, task.Failing, task.Token(), task.Until
		c.history, c.named = histories[i], named[webhooksOf{c.order, c.provider}]
	}
	return err
}

// checkOrder fetches what the provider knows of one order and lets the order
// decide. No transaction is open during the call.
func (s *Service) checkOrder(ctx context.Context, task *sagas.Task[check]) (end sagas.TaskEnd, err error) {
	c := task.Row
	if len(c.history) == 0 {
		return setups{s}.checkSetup(ctx, c)
	}
	timeline := TimelineOf(c.history, s.runner.Now())
	timeline.late = s.times.timeUp(timeline)
	if ctx, err = c.follow(ctx, order.Stream(c.order), timeline.setBy); err != nil {
		return end, err
	}
	var commands []domain.Command
	var rows []eventstore.TxStatement
	switch timeline.order.Session {
	case "":
		if commands, err = s.withoutSession(ctx, c, timeline); err != nil {
			return end, s.noAnswer(ctx, c, err)
		}
	default:
		if d := s.backoff.remaining(c.provider); d > 0 {
			return sagas.TaskAfter(d), nil
		}
		truths, err := s.fetch(ctx, c, timeline)
		switch {
		case errors.Is(err, errNoTurn):
			return sagas.TaskAfter(0), nil
		case err != nil:
			return end, s.noAnswer(ctx, c, err)
		}
		if commands, rows, err = s.observe(ctx, c, timeline, truths); err != nil {
			return end, err
		}
		news, seen, err := s.reportedDisputes(ctx, c)
		if err != nil {
			return end, err
		}
		commands, rows = append(commands, news...), append(rows, seen...)
		s.alarmOverdueRefund(ctx, timeline)
	}
	end, err = s.closeCheck(ctx, c, timeline, rows, commands)
	if errors.Is(err, projections.ErrPlaceTaken) {
		return sagas.TaskAfter(0), nil // another order was faster: what is left now decides
	}
	return end, err
}

// follow returns the context of a check. It follows from the first hint, or
// from the time that an event of the order has set.
func (c check) follow(ctx context.Context, stream domain.Stream, setBy int) (context.Context, error) {
	o := domain.Origin{Cause: domain.DeadlineCause(stream, setBy), Correlation: c.order}
	if c.cause != nil {
		var err error
		if o.Cause, err = domain.ParseCause(*c.cause); err != nil {
			return ctx, err
		}
	}
	return o.With(ctx), nil
}

// closeCheck ends a check. Events, bookings, the start of a run and the time of
// the next check are one fenced append. A hint that came meanwhile causes
// another check.
func (s *Service) closeCheck(
	ctx context.Context, c check, timeline Timeline, rows []eventstore.TxStatement, commands []domain.Command,
) (sagas.TaskEnd, error) {
	foreseen := s.afterCommands(timeline, commands)
	return s.endCheck(ctx, c, s.times.NextCheck(foreseen, s.runner.Now()), nil, rows, commands)
}

// endCheck ends a check in one append, and makes the next one due; next nil: there is none.
func (s *Service) endCheck(
	ctx context.Context, c check, next *time.Duration, seen domain.Versions, rows []eventstore.TxStatement,
	commands []domain.Command,
) (sagas.TaskEnd, error) {
	rows = append(rows, eventstore.TxStatement{
		Key: "payment_watch/" + c.order.String(),
		SQL: `update payment_watch set ` + sagas.Unfailed + `, cause = case when wakes <> $3 then cause end,
				next_at = case when wakes = $3 then coalesce(business_now() + $4::interval, 'infinity') else business_now() end
			where order_id = $1 and lease_token = $2`,
		Args: []any{c.order, c.token, c.wakes, next}, WantRows: 1, ErrIfNot: sagas.ErrFenced,
	})
	cause := domain.Metadata{
		ID: uuid.NewSHA1(c.order, fmt.Appendf(nil, "check/%d", c.token)), Actor: "provider:" + c.provider,
		ExpectedVersions: seen,
	}
	_, err := s.store.ExecuteWith(ctx, cause, rows, commands...)
	switch {
	case errors.Is(err, sagas.ErrFenced):
		return sagas.TaskRecorded, err
	case errors.Is(err, errBooked):
		s.runner.Alarm(ctx, "a payment that belongs to another order was shown for this one", "order", c.order, "provider", c.provider)
		return sagas.TaskRecorded, s.noAnswer(ctx, c, domain.Fail(domain.Permanent, "payment_booked", err))
	case err != nil:
		return sagas.TaskRecorded, fmt.Errorf("close the check of order %s: %w", c.order, err)
	}
	s.checked.Add(1)
	s.runner.WakeHere(watchQueue) // a hint that came meanwhile found the row leased
	if next != nil {
		s.runner.WakeLater(watchQueue, *next)
	}
	return sagas.TaskRecorded, nil
}

// afterCommands is the order as the commands will leave it, for its schedule.
// What changes the order in between sends a hint.
func (s *Service) afterCommands(timeline Timeline, commands []domain.Command) Timeline {
	for _, c := range commands {
		events, err := order.Decider.Decide(timeline.order, c.(order.Command))
		if err != nil {
			return timeline // the append will be refused for the same reason
		}
		for _, e := range events {
			timeline = timeline.after(e)
		}
	}
	return timeline
}
