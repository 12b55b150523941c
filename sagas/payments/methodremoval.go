package payments

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

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
