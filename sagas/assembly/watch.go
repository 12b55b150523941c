package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// There is one way from "something happened" to facts: an order's watch row
// comes due, the provider is asked what it holds for true, and the order
// decides what that means. A webhook, the return page, an operator and the
// clock differ only in when they make that happen (docs/sagas.md, "Watch").

// A check is one look at an order, under a lease of its own.
type check struct {
	order    uuid.UUID
	provider string
	reason   string
	wakes    int64
	fails    int
	failing  time.Duration
	token    int64
}

// Hint makes an order be looked at now: the return page, an operator or a
// webhook had news. Anybody may send any number of hints.
func (s *Panel) Hint(ctx context.Context, id uuid.UUID, reason string) error {
	n, err := s.Exec(ctx, "hint at an order", `
		update payment_watch set next_at = least(next_at, business_now()), wakes = wakes + 1, reason = $2 where order_id = $1`, id, reason)
	if err == nil && n == 0 {
		var o projections.Order
		if o, err = s.order(ctx, id); err == nil {
			_, err = s.Exec(ctx, "hint at an order", `
				insert into payment_watch as w (order_id, provider, reason, next_at) values ($1, $2, $3, business_now())
				on conflict (order_id) do update set next_at = least(w.next_at, business_now()), wakes = w.wakes + 1, reason = excluded.reason`,
				id, o.PaymentMethod, reason)
		}
	}
	if err == nil {
		s.Wake(watchQueue)
	}
	return err
}

// watch looks at orders that are due, a bounded number at once, until ctx
// ends. A check that has begun goes on in the context work.
func (s *Panel) watch(ctx, work context.Context) {
	woken, slots := s.Woken(watchQueue), make(chan struct{}, watchers)
	var checks sync.WaitGroup
	defer checks.Wait()
	for ctx.Err() == nil {
		slots <- struct{}{}
		c, due, err := s.nextCheck(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log().WarnContext(ctx, "no orders were checked", "error", err)
		}
		if err != nil || !due {
			<-slots
			sagas.Pausing(ctx, sagas.Jittered(s.times.Poll), woken)
			continue
		}
		checks.Go(func() {
			defer func() { <-slots }()
			if err := sagas.Guarded(func() error { return s.check(work, c) }); err != nil && work.Err() == nil {
				s.Log().WarnContext(ctx, "an order was not checked", "order", c.order, "error", sagas.Scrub(err))
			}
		})
	}
}

func (s *Panel) nextCheck(ctx context.Context) (c check, due bool, err error) {
	var failing float64
	err = s.pool.QueryRow(ctx, `
		update payment_watch set lease_token = lease_token + 1, lease_until = real_now() + $1::interval, checks = checks + 1
		where order_id = (select order_id from payment_watch where next_at <= business_now() and (lease_until is null or lease_until < real_now())
			order by next_at limit 1 for update skip locked)
		returning order_id, provider, reason, wakes, fails, coalesce(extract(epoch from real_now() - failing_since), 0)::float8, lease_token`,
		s.times.CheckLease).Scan(&c.order, &c.provider, &c.reason, &c.wakes, &c.fails, &failing, &c.token)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, false, nil
	}
	c.failing = time.Duration(failing * float64(time.Second))
	return c, err == nil, sagas.SQLError(err, "lease a check")
}

// check asks for the truth about one order and lets the order decide. Nothing
// is open while the provider is asked.
func (s *Panel) check(ctx context.Context, c check) error {
	history, err := s.store.Read(ctx, order.Stream(c.order))
	if err != nil {
		return err
	}
	look := timelineOf(history, s.Now())
	look.late = s.times.timeUp(look)
	var commands []domain.Command
	var rows []eventstore.TxStatement
	switch {
	case look.order.Status == "":
	case look.order.Session == "":
		if due := look.order.PlacedAt.Add(s.times.PendingTTL); !look.at.Before(due) {
			commands = append(commands, order.Expire{ID: c.order, At: s.Now()})
		}
	default:
		if d := s.backoff.resting(c.provider); d > 0 {
			return s.putOff(ctx, c, d)
		}
		truths, err := s.fetch(ctx, c, look)
		if err != nil {
			return s.unanswered(ctx, c, err)
		}
		if commands, rows, err = s.observe(ctx, c, look, truths); err != nil {
			return err
		}
		news, seen, err := s.disputeNews(ctx, c)
		if err != nil {
			return err
		}
		commands, rows = append(commands, news...), append(rows, seen...)
		s.overdue(ctx, look)
	}
	return s.closeCheck(ctx, c, look, rows, commands)
}

// fetch reads what the provider holds for true: about the order's session, and
// about others that claim to pay for the order.
func (s *Panel) fetch(ctx context.Context, c check, g paymentTimeline) ([]order.Fetched, error) {
	p, err := s.provider(c.provider)
	if err != nil {
		return nil, err
	}
	if c.fails > 0 {
		s.backoff.wait(ctx, c.provider, s.times.DownPace)
	}
	ctx, cancel := context.WithTimeout(ctx, min(s.times.CheckCall, s.times.CheckLease*5/6))
	defer cancel()
	if g.late {
		if err := p.ExpireSession(ctx, g.order.Session); err != nil {
			return nil, err
		}
	}
	truth, err := p.Fetch(ctx, g.order.Session)
	if err != nil {
		return nil, err
	}
	truths := []order.Fetched{truth}
	others, err := s.otherSessions(ctx, c, g)
	for _, session := range others {
		truth, err := p.Fetch(ctx, session)
		switch {
		case err == nil:
			truths = append(truths, truth)
		case domain.ClassOf(err) != domain.Permanent: // the provider does not know it: it was only claimed
			return nil, err
		}
	}
	return truths, err
}

// otherSessions are those that have paid for this order too, and those that
// webhooks have named for it.
func (s *Panel) otherSessions(ctx context.Context, c check, g paymentTimeline) (sessions []string, err error) {
	for _, p := range g.order.Payments {
		if p.State == order.StatePaid && p.Session != g.order.Session && !slices.Contains(sessions, p.Session) {
			sessions = append(sessions, p.Session)
		}
	}
	rows, _ := s.pool.Query(ctx, `
		select distinct object_ref from webhook_inbox
		where order_id = $1 and provider = $2 and state = 'done' and object_ref <> $3 and object_ref <> all($4) limit 5`,
		c.order, c.provider, g.order.Session, append([]string{}, sessions...))
	named, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return append(sessions, named...), sagas.SQLError(err, "look for other sessions of order %s", c.order)
}

// observe says what the truth is to the order, and books every payment under
// its id, once.
func (s *Panel) observe(ctx context.Context, c check, g paymentTimeline, truths []order.Fetched) (commands []domain.Command, rows []eventstore.TxStatement, err error) {
	for _, truth := range truths {
		o := order.Observe{ID: c.order, Fetched: truth, At: s.Now(), TimeUp: g.late && truth.Session == g.order.Session}
		if g.order.Status == order.StatusCancelled {
			if o.PlanStillOffered, o.NamesFree, err = s.reopenable(ctx, g); err != nil {
				return nil, nil, err
			}
		}
		commands = append(commands, o)
		rows = append(rows, bookRows(truth, c.order)...)
	}
	return commands, rows, nil
}

// reopenable tells whether what a cancelled order bought could still be bought.
func (s *Panel) reopenable(ctx context.Context, g paymentTimeline) (offered, free bool, err error) {
	scope := s.tables.For(projections.System)
	plan, err := scope.Plan(ctx, g.placed.Plan.ID)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return false, false, err
	}
	offered = err == nil && plan.IsActive && plan.Currency == g.placed.Currency &&
		plan.Price.Equal(g.placed.Price) && plan.SetupFee.Equal(g.placed.SetupFee)
	taken := false
	if g.placed.Domain != "" {
		taken, err = scope.NameTakenByOthers(ctx, "site", "domain", g.placed.Domain, g.placed.Order)
	} else {
		err = nil
	}
	return offered, !taken, err
}

// closeCheck ends a check: facts, bookings, the start of a run and the next
// check are one append, fenced. A hint that came meanwhile causes one more.
func (s *Panel) closeCheck(ctx context.Context, c check, g paymentTimeline, rows []eventstore.TxStatement, commands []domain.Command) error {
	foreseen := s.afterCommands(g, commands)
	next := s.times.nextLook(foreseen, s.Now())
	rows = append(rows, eventstore.TxStatement{
		Key: "payment_watch/" + c.order.String(),
		SQL: `update payment_watch set lease_until = null, fails = 0, failing_since = null,
				next_at = case when wakes = $3 then coalesce(business_now() + $4::interval, 'infinity') else business_now() end
			where order_id = $1 and lease_token = $2`,
		Args: []any{c.order, c.token, c.wakes, next}, WantRows: 1, ErrIfNot: sagas.ErrFenced,
	})
	cause := domain.Metadata{
		ID: uuid.NewSHA1(c.order, fmt.Appendf(nil, "check/%d", c.token)), Actor: "provider:" + c.provider, Correlation: c.order,
	}
	_, err := s.store.ExecuteWith(ctx, cause, rows, commands...)
	switch {
	case errors.Is(err, sagas.ErrFenced):
		s.CountFenced()
		return nil
	case errors.Is(err, errBooked):
		s.Alarm(ctx, "a payment that belongs to another order was shown for this one", "order", c.order, "provider", c.provider)
		return s.unanswered(ctx, c, domain.Fail(domain.Permanent, "payment_booked", err))
	case err != nil:
		return fmt.Errorf("close the check of order %s: %w", c.order, err)
	}
	s.checked.Add(1)
	s.WakeHere(watchQueue) // a hint that came meanwhile found the row leased
	if foreseen.order.Status == order.StatusPaid && g.order.Status != order.StatusPaid {
		s.Wake(sagas.LocalQueue) // its run has started
	}
	if next != nil {
		s.WakeLater(watchQueue, *next)
	}
	return nil
}

// afterCommands is the order as the commands will leave it, for its schedule. Who
// changes the order in between sends a hint.
func (s *Panel) afterCommands(g paymentTimeline, commands []domain.Command) paymentTimeline {
	for _, c := range commands {
		facts, err := order.Decider.Decide(g.order, c.(order.Command))
		if err != nil {
			return g // the append will be refused for the same reason
		}
		for _, e := range facts {
			g = g.after(e)
		}
	}
	return g
}
