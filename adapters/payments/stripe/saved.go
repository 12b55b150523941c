package stripe

import (
	"context"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// keep makes a page one on which the method is kept: Stripe makes a customer, shows that
// the method will be charged again, and attaches it once the payment has succeeded.
func keep(q *sdk.CheckoutSessionCreateParams) {
	q.CustomerCreation = sdk.String(sdk.CheckoutSessionCustomerCreationAlways)
	q.PaymentIntentData.SetupFutureUsage = sdk.String(sdk.PaymentIntentSetupFutureUsageOffSession)
}

// kept is the method that a page has saved; nil: none. It costs a call of its own, which a
// page without consent does not need: a restricted key need not be able to read methods. If
// Stripe refuses the call, the payment counts all the same.
func (p *Provider) kept(ctx context.Context, intent *sdk.PaymentIntent) (*order.SavedMethod, error) {
	if intent.SetupFutureUsage != sdk.PaymentIntentSetupFutureUsageOffSession || intent.PaymentMethod == nil {
		return nil, nil
	}
	m, err := p.client.V1PaymentMethods.Retrieve(ctx, intent.PaymentMethod.ID, nil)
	if err != nil {
		err = failure("read a payment method", err)
		if domain.ClassOf(err) == domain.Permanent {
			return nil, nil
		}
		return nil, err
	}
	return savedOf(m), nil
}

// savedOf is a method without anything about its owner; nil: it is not attached to a
// customer, so that it cannot be charged.
func savedOf(m *sdk.PaymentMethod) *order.SavedMethod {
	if !attached(m) {
		return nil
	}
	s := &order.SavedMethod{Customer: m.Customer.ID, Token: m.ID, Kind: string(m.Type)}
	switch {
	case m.Card != nil:
		s.Brand, s.Last4 = string(m.Card.Brand), m.Card.Last4
		s.ExpMonth, s.ExpYear = int(m.Card.ExpMonth), int(m.Card.ExpYear)
	case m.SEPADebit != nil:
		s.Last4 = m.SEPADebit.Last4
	case m.BACSDebit != nil:
		s.Last4 = m.BACSDebit.Last4
	case m.USBankAccount != nil:
		s.Last4 = m.USBankAccount.Last4
	}
	return s
}

func attached(m *sdk.PaymentMethod) bool {
	return m != nil && m.ID != "" && m.Customer != nil && m.Customer.ID != ""
}

// Forget detaches a method from its customer; it can never be charged again. One that is
// detached already, or that Stripe does not know, is a success.
func (p *Provider) Forget(ctx context.Context, s order.SavedMethod) error {
	q := &sdk.PaymentMethodDetachParams{}
	q.SetIdempotencyKey("detach/" + s.Token + "/" + uuid.NewString()) // see ExpireSession
	_, err := p.client.V1PaymentMethods.Detach(ctx, s.Token, q)
	if err == nil {
		return nil
	}
	detach := failure("detach a payment method", err)
	if !refusedAsAsked(err, detach) {
		return detach
	}
	m, err := p.client.V1PaymentMethods.Retrieve(ctx, s.Token, nil)
	if err != nil {
		look := failure("look at a payment method that is not detached", err)
		if codeOf(look) == string(sdk.ErrorCodeResourceMissing) {
			return nil
		}
		return look
	}
	if attached(m) {
		return detach
	}
	return nil
}
