package payments

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// errNoTurn means that the calls of other checks have taken up the time of this one.
var errNoTurn = errors.New("too many calls at once")

// takeTurn waits until a call of a check may begin.
func (s *Service) takeTurn(ctx context.Context) (end func(), err error) {
	select {
	case s.fetches <- struct{}{}:
		return func() { <-s.fetches }, nil
	case <-ctx.Done():
		return nil, errNoTurn
	}
}

// fetch reads the provider's books: the order's session, and others that claim
// to pay for the order.
func (s *Service) fetch(ctx context.Context, c check, timeline Timeline) (truths []order.Fetched, err error) {
	if c.until.IsZero() { // it is not one of the schedule
		named, err := s.namedSessions(ctx, c.order)
		if err != nil {
			return nil, err
		}
		c.until, c.named = clock.Now().Add(s.times.CheckCall), named[webhooksOf{c.order, c.provider}]
	}
	err = s.inTurn(ctx, c, func(ctx context.Context, p order.Provider) (err error) {
		truths, err = fetchAll(ctx, p, c, timeline)
		return err
	})
	return truths, err
}

// inTurn lets a check make its calls to its provider.
func (s *Service) inTurn(ctx context.Context, c check, call func(context.Context, order.Provider) error) error {
	p, err := s.providers.named(c.provider)
	if err != nil {
		return err
	}
	if c.fails > 0 {
		s.backoff.wait(ctx, c.provider, s.times.DownPace)
	}
	ctx, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	end, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel = context.WithTimeout(ctx, s.times.CheckCall)
	defer cancel()
	return call(ctx, p)
}

// fetchAll reads the order's session, which is expired first if its time is up, and others.
func fetchAll(ctx context.Context, p order.Provider, c check, timeline Timeline) ([]order.Fetched, error) {
	if timeline.late {
		if err := p.ExpireSession(ctx, timeline.order.Session); err != nil {
			return nil, err
		}
	}
	truth, err := p.Fetch(ctx, timeline.order.Session)
	if err != nil {
		return nil, err
	}
	truths := []order.Fetched{truth}
	for _, session := range otherSessions(c, timeline) {
		truth, err := p.Fetch(ctx, session)
		switch {
		case err == nil:
			truths = append(truths, truth)
		case domain.ClassOf(err) != domain.Permanent: // the provider does not know it: it was only claimed
			return nil, err
		}
	}
	return truths, nil
}

// mostNamed is how many sessions that webhooks have named are looked at in one check.
const mostNamed = 5

// otherSessions are sessions that have also paid for this order, and those that
// webhooks have named for it.
func otherSessions(c check, timeline Timeline) (sessions []string) {
	add := func(session string) (added bool) {
		if added = session != timeline.order.Session && !slices.Contains(sessions, session); added {
			sessions = append(sessions, session)
		}
		return added
	}
	for _, p := range timeline.order.Payments {
		if p.State == order.StatePaid {
			add(p.Session)
		}
	}
	left := mostNamed
	for _, session := range c.named {
		if left > 0 && add(session) {
			left--
		}
	}
	return sessions
}

// webhooksOf are the webhooks of one provider about one order.
type webhooksOf struct {
	order    uuid.UUID
	provider string
}

// namedSessions are the sessions that webhooks have named for orders.
func (s *Service) namedSessions(ctx context.Context, orders ...uuid.UUID) (map[webhooksOf][]string, error) {
	rows, _ := s.pool.Query(ctx, `
		select distinct order_id, provider, object_ref from webhook_inbox
		where order_id = any($1) and state = 'done' and object_ref is not null`, orders)
	named := map[webhooksOf][]string{}
	var of webhooksOf
	var session string
	_, err := pgx.ForEachRow(rows, []any{&of.order, &of.provider, &session}, func() error {
		named[of] = append(named[of], session)
		return nil
	})
	return named, sagas.SQLError(err, "look for sessions that webhooks have named")
}

// observe makes the commands that tell the order what was fetched, and the rows
// that book each payment once.
func (s *Service) observe(
	ctx context.Context, c check, timeline Timeline, truths []order.Fetched,
) (commands []domain.Command, rows []eventstore.TxStatement, err error) {
	for _, truth := range truths {
		o := order.Observe{
			ID: c.order, Fetched: truth, At: s.runner.Now(),
			TimeUp: timeline.late && truth.Session == timeline.order.Session,
		}
		if s.refundLate {
			o.ReopenWithin = -1
		}
		if timeline.order.Status == order.StatusCancelled {
			if o.PlanStillOffered, o.NamesFree, err = s.reopenable(ctx, timeline); err != nil {
				return nil, nil, err
			}
			if o.Placement, o.NeedsPlace, err = s.place(ctx, timeline.placed.Plan, timeline.placed.OS); err != nil {
				return nil, nil, err
			}
		}
		commands = append(commands, o)
		rows = append(rows, bookings(truth, c.order)...)
	}
	return commands, rows, nil
}

// isDomainFree tells whether an order could have its domain again: it is free, and no
// other has one above or below it.
func isDomainFree(ctx context.Context, scope projections.Scope, name string, order uuid.UUID) (bool, error) {
	if name == "" {
		return true, nil
	}
	taken, err := scope.Hosting().NameTakenByOthers(ctx, "site", "domain", name, order)
	if err != nil || taken {
		return false, err
	}
	claimed, err := scope.Hosting().ClaimedByOthers(ctx, "site", name, 0, order)
	return !claimed, err
}

// reopenable tells whether a cancelled order could be placed again: its plan is
// offered at the same price, and its name is free. What pays an invoice needs neither: the
// money goes back if the invoice is not open any more.
func (s *Service) reopenable(ctx context.Context, timeline Timeline) (offered, free bool, err error) {
	if timeline.placed.Invoice != uuid.Nil {
		return true, true, nil
	}
	scope := s.tables.For(projections.System)
	plan, err := scope.Orders().Plan(ctx, timeline.placed.Plan.ID)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return false, false, err
	}
	offered = err == nil && plan.IsActive && plan.Currency == timeline.placed.Currency &&
		plan.Price.Equal(timeline.placed.Price) && plan.SetupFee.Equal(timeline.placed.SetupFee)
	free, err = isDomainFree(ctx, scope, timeline.placed.Domain, timeline.placed.Order)
	return offered, free, err
}
