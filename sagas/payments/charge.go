package payments

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
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
func (s *Service) withoutSession(ctx context.Context, c check, timeline paymentTimeline) ([]domain.Command, error) {
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

// A ForgetInput names a payment method that its provider keeps no longer: a saved one, or
// what a setup has discarded.
type ForgetInput struct {
	Method uuid.UUID `json:"method"`
	Setup  uuid.UUID `json:"setup,omitzero"`
}

// key is that of the call which removes the method.
func (in ForgetInput) key() string {
	if in.Setup != uuid.Nil {
		return "method_setup/" + in.Setup.String() + "/forget"
	}
	return "payment_method/" + in.Method.String() + "/forget"
}

// methodRemoval removes payment methods at their providers.
type methodRemoval struct {
	runner     *sagas.Runner
	store      *eventstore.Store
	providers  providers
	times      Times
	definition sagas.Definition[ForgetInput]
}

// register registers the saga that removes payment methods at their providers.
func (s *methodRemoval) register() {
	s.definition = sagas.Register(s.runner, sagas.Saga[ForgetInput]{
		Name: "forget", Definition: "forget/1",
		Steps: []sagas.Step[ForgetInput]{{
			Name: "forget", Says: "remove the saved payment method at its provider",
			Policy: s.times.refundPolicy(s.runner.Times().Quarantine), Queue: forgetQueue,
			Effect: &sagas.Effect[ForgetInput]{
				Key:     ForgetInput.key,
				Prepare: s.call, Lasting: true,
			},
		}},
	})
}

// forgetQueue is where removals wait for their turn.
const forgetQueue = "payments:forget"

func (s *methodRemoval) call(ctx context.Context, in *ForgetInput) (sagas.Call, error) {
	m, err := s.forgotten(ctx, *in)
	if err != nil {
		return sagas.Call{}, err
	}
	p, err := s.providers.named(m.Provider)
	if err != nil {
		return sagas.Call{}, err
	}
	saver, saves := p.(order.Saver)
	if !saves {
		return sagas.Call{}, errKeepsNone
	}
	return sagas.Call{
		Request: in.request(m.Provider), Repeatable: true,
		Do: func(ctx context.Context) (sagas.Result, error) { return sagas.Result{}, saver.Forget(ctx, savedOf(m)) },
	}, nil
}

func (in ForgetInput) request(provider string) map[string]any {
	if in.Setup != uuid.Nil {
		return map[string]any{"setup": in.Setup, "provider": provider}
	}
	return map[string]any{"method": in.Method, "provider": provider}
}

// forgotten is the method that the provider is to forget.
func (s *methodRemoval) forgotten(ctx context.Context, in ForgetInput) (billing.PaymentMethod, error) {
	if in.Setup == uuid.Nil {
		m, _, err := eventstore.Fold(ctx, s.store, billing.PaymentMethods, billing.PaymentMethodStream(in.Method))
		return m, err
	}
	m, _, err := eventstore.Fold(ctx, s.store, billing.MethodSetups, billing.MethodSetupStream(in.Setup))
	return billing.PaymentMethod{Provider: m.Provider, Customer: m.Customer, Token: m.Token, Kind: m.Kind}, err
}

func savedOf(m billing.PaymentMethod) order.SavedMethod {
	return order.SavedMethod{Customer: m.Customer, Token: m.Token, Kind: m.Kind}
}

var errKeepsNone = domain.Fail(domain.Permanent, "not_supported", errors.New("the provider keeps no payment methods"))
