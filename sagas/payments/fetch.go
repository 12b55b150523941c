package payments

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// fetch reads the provider's books: the order's session, and others that claim
// to pay for the order.
func (s *Service) fetch(ctx context.Context, c check, timeline paymentTimeline) ([]order.Fetched, error) {
	p, err := s.provider(c.provider)
	if err != nil {
		return nil, err
	}
	if c.fails > 0 {
		s.backoff.wait(ctx, c.provider, s.times.DownPace)
	}
	ctx, cancel := context.WithTimeout(ctx, min(s.times.CheckCall, s.times.CheckLease*5/6))
	defer cancel()
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
	others, err := s.otherSessions(ctx, c, timeline)
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

// otherSessions are sessions that have also paid for this order, and those that
// webhooks have named for it.
func (s *Service) otherSessions(ctx context.Context, c check, timeline paymentTimeline) (sessions []string, err error) {
	for _, p := range timeline.order.Payments {
		if p.State == order.StatePaid && p.Session != timeline.order.Session && !slices.Contains(sessions, p.Session) {
			sessions = append(sessions, p.Session)
		}
	}
	rows, _ := s.pool.Query(ctx, `
		select distinct object_ref from webhook_inbox
		where order_id = $1 and provider = $2 and state = 'done' and object_ref <> $3 and object_ref <> all($4) limit 5`,
		c.order, c.provider, timeline.order.Session, append([]string{}, sessions...))
	named, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return append(sessions, named...), sagas.SQLError(err, "look for other sessions of order %s", c.order)
}

// observe makes the commands that tell the order what was fetched, and the rows
// that book each payment once.
func (s *Service) observe(ctx context.Context, c check, timeline paymentTimeline, truths []order.Fetched) (commands []domain.Command, rows []eventstore.TxStatement, err error) {
	for _, truth := range truths {
		o := order.Observe{ID: c.order, Fetched: truth, At: s.runner.Now(), TimeUp: timeline.late && truth.Session == timeline.order.Session}
		if s.refundLate {
			o.ReopenWithin = -1
		}
		if timeline.order.Status == order.StatusCancelled {
			if o.PlanStillOffered, o.NamesFree, err = s.reopenable(ctx, timeline); err != nil {
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
	taken, err := scope.NameTakenByOthers(ctx, "site", "domain", name, order)
	if err != nil || taken {
		return false, err
	}
	claimed, err := scope.ClaimedByOthers(ctx, "site", name, 0, order)
	return !claimed, err
}

// reopenable tells whether a cancelled order could be placed again: its plan is
// offered at the same price, and its name is free.
func (s *Service) reopenable(ctx context.Context, timeline paymentTimeline) (offered, free bool, err error) {
	scope := s.tables.For(projections.System)
	plan, err := scope.Plan(ctx, timeline.placed.Plan.ID)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return false, false, err
	}
	offered = err == nil && plan.IsActive && plan.Currency == timeline.placed.Currency &&
		plan.Price.Equal(timeline.placed.Price) && plan.SetupFee.Equal(timeline.placed.SetupFee)
	free, err = isDomainFree(ctx, scope, timeline.placed.Domain, timeline.placed.Order)
	return offered, free, err
}
