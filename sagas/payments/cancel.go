package payments

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// CancelUnpaid cancels an order that waits for its payment. It first ends the
// provider's session, so that the order cannot be paid any more, and then asks
// the provider whether it has been paid (rule T10). If so, that is recorded
// and the order is not cancelled.
func (s *Service) CancelUnpaid(ctx context.Context, cause domain.Metadata, cancel order.Cancel) error {
	history, err := s.store.Read(ctx, cancel.Stream())
	if err != nil {
		return err
	}
	g := timelineOf(history, s.runner.Now())
	c := check{order: g.order.ID, provider: g.order.Provider}
	g.late = true
	truths, err := s.fetch(ctx, c, g)
	if err != nil {
		s.runner.Log().WarnContext(ctx, "an order was not cancelled", "order", g.order.ID, "provider", g.order.Provider, "error", sagas.Scrub(err))
		return errors.Join(errProviderAway, err)
	}
	g.late = false
	commands, rows, err := s.observe(ctx, c, g, truths)
	if err != nil {
		return err
	}
	cancel.Observe = commands[0].(order.Observe) //nolint:forcetypeassert // of the order's own session
	commands[0] = cancel
	if events, err := order.Decider.Decide(g.order, cancel); err == nil && !slices.ContainsFunc(events, isCancelled) {
		cause.IdempotencyKey = nil // the payment is recorded first; the caller's key is kept with what follows from it
	}
	if _, err = s.store.ExecuteWith(ctx, cause, rows, commands...); err != nil {
		return err
	}
	s.runner.Wake(sagas.LocalQueue)
	return s.Hint(ctx, g.order.ID, "cancelled")
}

func isCancelled(e order.Event) bool { _, is := e.(order.Cancelled); return is }
