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
	if err := s.runner.KeepRecovery(ctx); err != nil {
		return err
	}
	timeline := TimelineOf(history, s.runner.Now())
	c := check{order: timeline.order.ID, provider: timeline.order.Provider}
	timeline.late = true
	truths, err := s.fetch(ctx, c, timeline)
	if err != nil {
		s.runner.Log().WarnContext(
			ctx, "an order was not cancelled", "order", timeline.order.ID, "provider", timeline.order.Provider, "error",
			sagas.Scrub(err),
		)
		return errors.Join(errProviderAway, err)
	}
	timeline.late = false
	commands, rows, err := s.observe(ctx, c, timeline, truths)
	if err != nil {
		return err
	}
	cancel.Observe = commands[0].(order.Observe) //nolint:forcetypeassert // of the order's own session
	commands[0] = cancel
	if events, err := order.Decider.Decide(timeline.order, cancel); err == nil && !slices.ContainsFunc(events, isCancelled) {
		cause.IdempotencyKey = nil // the payment is recorded first; the caller's key is kept with what follows from it
	}
	if _, err = s.store.ExecuteWith(ctx, cause, rows, commands...); err != nil {
		return err
	}
	return s.Hint(ctx, timeline.order.ID, "cancelled")
}

func isCancelled(e order.Event) bool { _, is := e.(order.Cancelled); return is }
