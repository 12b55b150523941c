package payments

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// An order that charges a saved payment method has no customer who waits for its page. Its
// checks open the session and find it approved, so a run captures it, as any other
// (docs/sagas.md, "Charges").

// savedMethod is what the provider needs to charge a saved payment method; nil: id is zero.
func savedMethod(ctx context.Context, store *eventstore.Store, p order.Provider, id uuid.UUID) (*order.SavedMethod, error) {
	if id == uuid.Nil {
		return nil, nil
	}
	if _, saves := p.(order.Saver); !saves {
		return nil, errKeepsNone
	}
	m, _, err := eventstore.Fold(ctx, store, billing.PaymentMethods, billing.PaymentMethodStream(id))
	switch {
	case err != nil:
		return nil, err
	case !m.Usable():
		return nil, domain.Fail(domain.Permanent, order.MethodGone, errors.New("the payment method was removed"))
	}
	saved := savedOf(m)
	return &saved, nil
}

// watchCharge makes the first check of a charge due at once.
func (s *Service) watchCharge(ctx context.Context, e order.Placed) error {
	err := watchPending(ctx, s.runner, e.Order, e.Provider, e.At)
	s.runner.Wake(watchQueue)
	return err
}

// withoutSession decides what becomes of an order that has no session. One that charges a
// saved payment method gets its session here. An order that has waited too long is given
// up, and so is a charge that the provider refuses for good.
func (s *Service) withoutSession(ctx context.Context, c check, timeline Timeline) ([]domain.Command, error) {
	if timeline.order.Status != order.StatusPending {
		return nil, nil
	}
	if due := timeline.order.PlacedAt.Add(s.times.PendingTTL); !timeline.at.Before(due) {
		return []domain.Command{order.Expire{ID: c.order, At: s.runner.Now()}}, nil
	}
	if !timeline.order.Charges() {
		return nil, nil
	}
	_, err := s.Pages.OpenSession(ctx, c.order)
	if err != nil && domain.ClassOf(err) == domain.Permanent {
		return []domain.Command{order.Cancel{ID: c.order, By: order.ByAdmin, At: s.runner.Now()}}, nil
	}
	return nil, err
}

var errKeepsNone = domain.Fail(domain.Permanent, "not_supported", errors.New("the provider keeps no payment methods"))
