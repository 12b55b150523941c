package payments

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
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

// poll carries out the checks that are due, a bounded number at once, until ctx
// ends. With every webhook lost it still brings each order to its end. What is being
// leased or checked then goes on in the context work.
func (s *Service) poll(ctx, work context.Context) {
	woken, room := s.runner.Woken(watchQueue), make(chan struct{}, checksAtOnce)
	var checks sync.WaitGroup
	defer checks.Wait()
	for ctx.Err() == nil {
		free := takeRoom(room)
		group, err := s.leaseChecks(work, free)
		if err != nil && ctx.Err() == nil {
			s.runner.Log().WarnContext(ctx, "no orders were checked", "error", err)
		}
		for range free - len(group) {
			<-room
		}
		if len(group) > 0 {
			checks.Go(func() { s.checkOrders(work, group, func() { <-room }) })
		}
		if len(group) < free { // no other is due
			clock.Pausing(ctx, sagas.Jittered(s.runner.Times().Poll), woken)
		}
	}
}

// takeRoom waits until half of the room is free, so that checks are leased many at a
// time, and takes all that is free.
func takeRoom(room chan struct{}) (taken int) {
	for ; taken < cap(room)/2; taken++ {
		room <- struct{}{}
	}
	for ; taken < cap(room); taken++ {
		select {
		case room <- struct{}{}:
		default:
			return taken
		}
	}
	return taken
}

// leaseChecks leases the checks that are due first, at most limit.
func (s *Service) leaseChecks(ctx context.Context, limit int) ([]check, error) {
	until := clock.Now().Add(s.times.CheckLease * 5 / 6)
	rows, _ := s.pool.Query(ctx, `
		update payment_watch set lease_token = lease_token + 1, lease_until = real_now() + $1::interval, checks = checks + 1
		where order_id = any (array(select order_id from payment_watch
			where next_at <= business_now() and (lease_until is null or lease_until < real_now()) and not in_recovery()
			order by next_at limit $2 for update skip locked))
		returning order_id, provider, reason, wakes, cause, fails, coalesce(extract(epoch from real_now() - failing_since), 0)::float8, lease_token`,
		s.times.CheckLease, limit)
	group, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (check, error) {
		c, failing := check{until: until}, 0.0
		err := row.Scan(&c.order, &c.provider, &c.reason, &c.wakes, &c.cause, &c.fails, &failing, &c.token)
		c.failing = sagas.Seconds(failing)
		return c, err
	})
	return group, sagas.SQLError(err, "lease checks")
}

// checkOrders carries out checks that were leased together. done is called after each.
func (s *Service) checkOrders(ctx context.Context, group []check, done func()) {
	together := s.load(ctx, group) == nil
	var all sync.WaitGroup
	for i := range group {
		all.Go(func() {
			defer done()
			err := sagas.Guarded(func() error {
				if !together { // what of one order cannot be read stops no other
					if err := s.load(ctx, group[i:i+1]); err != nil {
						return err
					}
				}
				return s.checkOrder(ctx, group[i])
			})
			if err != nil && ctx.Err() == nil {
				s.runner.Log().WarnContext(ctx, "an order was not checked", "order", group[i].order, "error", sagas.Scrub(err))
			}
		})
	}
	all.Wait()
}

// load reads what the checks of orders need.
func (s *Service) load(ctx context.Context, group []check) error {
	orders, streams := make([]uuid.UUID, len(group)), make([]domain.Stream, len(group))
	for i, c := range group {
		orders[i], streams[i] = c.order, order.Stream(c.order)
	}
	histories, err := s.store.ReadEach(ctx, streams...)
	if err != nil {
		return err
	}
	named, err := s.namedSessions(ctx, orders...)
	for i := range group {
		group[i].history, group[i].named = histories[i], named[webhooksOf{group[i].order, group[i].provider}]
	}
	return err
}

// checkOrder fetches what the provider knows of one order and lets the order
// decide. No transaction is open during the call.
func (s *Service) checkOrder(ctx context.Context, c check) (err error) {
	if len(c.history) == 0 {
		return setups{s}.checkSetup(ctx, c)
	}
	timeline := timelineOf(c.history, s.runner.Now())
	timeline.late = s.times.timeUp(timeline)
	if ctx, err = c.follow(ctx, order.Stream(c.order), timeline.setBy); err != nil {
		return err
	}
	var commands []domain.Command
	var rows []eventstore.TxStatement
	switch timeline.order.Session {
	case "":
		if commands, err = s.withoutSession(ctx, c, timeline); err != nil {
			return s.checkFailed(ctx, c, err)
		}
	default:
		if d := s.backoff.remaining(c.provider); d > 0 {
			return s.deferCheck(ctx, c, d)
		}
		truths, err := s.fetch(ctx, c, timeline)
		switch {
		case errors.Is(err, errNoTurn):
			return s.deferCheck(ctx, c, 0)
		case err != nil:
			return s.checkFailed(ctx, c, err)
		}
		if commands, rows, err = s.observe(ctx, c, timeline, truths); err != nil {
			return err
		}
		news, seen, err := s.reportedDisputes(ctx, c)
		if err != nil {
			return err
		}
		commands, rows = append(commands, news...), append(rows, seen...)
		s.alarmOverdueRefund(ctx, timeline)
	}
	return s.closeCheck(ctx, c, timeline, rows, commands)
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
func (s *Service) closeCheck(ctx context.Context, c check, timeline paymentTimeline, rows []eventstore.TxStatement, commands []domain.Command) error {
	foreseen := s.afterCommands(timeline, commands)
	return s.endCheck(ctx, c, s.times.nextCheck(foreseen, s.runner.Now()), nil, rows, commands)
}

// endCheck ends a check in one append, and makes the next one due; next nil: there is none.
func (s *Service) endCheck(ctx context.Context, c check, next *time.Duration, seen domain.Versions, rows []eventstore.TxStatement, commands []domain.Command) error {
	rows = append(rows, eventstore.TxStatement{
		Key: "payment_watch/" + c.order.String(),
		SQL: `update payment_watch set lease_until = null, fails = 0, failing_since = null, cause = case when wakes <> $3 then cause end,
				next_at = case when wakes = $3 then coalesce(business_now() + $4::interval, 'infinity') else business_now() end
			where order_id = $1 and lease_token = $2`,
		Args: []any{c.order, c.token, c.wakes, next}, WantRows: 1, ErrIfNot: sagas.ErrFenced,
	})
	cause := domain.Metadata{ID: uuid.NewSHA1(c.order, fmt.Appendf(nil, "check/%d", c.token)), Actor: "provider:" + c.provider, ExpectedVersions: seen}
	_, err := s.store.ExecuteWith(ctx, cause, rows, commands...)
	switch {
	case errors.Is(err, sagas.ErrFenced):
		s.runner.CountFenced()
		return nil
	case errors.Is(err, errBooked):
		s.runner.Alarm(ctx, "a payment that belongs to another order was shown for this one", "order", c.order, "provider", c.provider)
		return s.checkFailed(ctx, c, domain.Fail(domain.Permanent, "payment_booked", err))
	case err != nil:
		return fmt.Errorf("close the check of order %s: %w", c.order, err)
	}
	s.checked.Add(1)
	s.runner.WakeHere(watchQueue) // a hint that came meanwhile found the row leased
	if next != nil {
		s.runner.WakeLater(watchQueue, *next)
	}
	return nil
}

// afterCommands is the order as the commands will leave it, for its schedule.
// What changes the order in between sends a hint.
func (s *Service) afterCommands(timeline paymentTimeline, commands []domain.Command) paymentTimeline {
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
