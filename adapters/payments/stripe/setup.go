package stripe

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// OpenSetup opens a page on which a method is added without a payment: a session in the mode
// "setup". Stripe makes a customer, and attaches the method once its setup intent has
// succeeded.
func (p *Provider) OpenSetup(ctx context.Context, c order.Checkout) (order.Session, error) {
	ours := told(c.Order, c.Installation)
	q := &sdk.CheckoutSessionCreateParams{
		Mode: sdk.String(sdk.CheckoutSessionModeSetup), Currency: sdk.String(strings.ToLower(c.Currency)),
		CustomerCreation:  sdk.String(sdk.CheckoutSessionCustomerCreationAlways),
		ClientReferenceID: sdk.String(c.Order.String()), Metadata: ours,
		SetupIntentData: &sdk.CheckoutSessionCreateSetupIntentDataParams{Metadata: ours},
		SuccessURL:      sdk.String(c.ReturnURL), CancelURL: sdk.String(c.CancelURL),
		Locale: sdk.String(locale(c.Language)), ExpiresAt: sdk.Int64(c.ExpiresAt.Unix()),
	}
	if c.Email != "" {
		q.CustomerEmail = sdk.String(c.Email)
	}
	q.SetIdempotencyKey(c.EffectKey)
	s, err := p.client.V1CheckoutSessions.Create(ctx, q)
	if err != nil {
		return order.Session{}, failure("open a setup", err)
	}
	if s.ID == "" || s.URL == "" {
		return order.Session{}, domain.Fail(domain.Unknown, "garbage", errors.New("stripe, open a setup: the answer has none"))
	}
	return order.Session{ID: s.ID, URL: s.URL, ExpiresAt: moment(s.ExpiresAt)}, nil
}

// added is the method that a page has added; nil: none yet. Its setup intent has it.
func (p *Provider) added(ctx context.Context, s *sdk.CheckoutSession) (*order.SavedMethod, error) {
	if s.Status != sdk.CheckoutSessionStatusComplete || s.SetupIntent == nil || s.SetupIntent.ID == "" {
		return nil, nil
	}
	q := &sdk.SetupIntentRetrieveParams{}
	q.AddExpand("payment_method")
	intent, err := p.client.V1SetupIntents.Retrieve(ctx, s.SetupIntent.ID, q)
	if err != nil {
		return nil, failure("fetch a setup", err)
	}
	if intent.Status != sdk.SetupIntentStatusSucceeded {
		return nil, nil
	}
	return savedOf(intent.PaymentMethod), nil
}
