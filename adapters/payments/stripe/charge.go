package stripe

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// A charge is a payment intent with a saved method, without a page. It is made first and
// confirmed later, so that a call without an answer can be looked up: money moves only when
// it is confirmed, and an intent is confirmed once.

// Metadata of a charge. The mark tells its news from those of a page's payment.
const (
	chargeMark   = "charge"
	ofSaved      = "saved_method"
	refusalMark  = "refused" // why it was not tried
	chargePrefix = "pi_"
)

// isCharge tells whether a session is a charge, by its id.
func isCharge(session string) bool { return strings.HasPrefix(session, chargePrefix) }

// openCharge makes an intent that moves no money. It names the one kind of method that it
// is for, so that no redirection can be asked for.
func (p *Provider) openCharge(ctx context.Context, c order.Checkout) (order.Session, error) {
	q := &sdk.PaymentIntentCreateParams{
		Amount: sdk.Int64(c.Minor), Currency: sdk.String(strings.ToLower(c.Currency)), Confirm: sdk.Bool(false),
		Customer: sdk.String(c.Saved.Customer), PaymentMethod: sdk.String(c.Saved.Token),
		PaymentMethodTypes: sdk.StringSlice([]string{cmp.Or(c.Saved.Kind, string(sdk.PaymentMethodTypeCard))}),
		Metadata:           told(c.Order, c.Installation), Description: sdk.String(c.Number),
	}
	q.Metadata[chargeMark] = ofSaved
	q.SetIdempotencyKey(c.EffectKey)
	intent, err := p.client.V1PaymentIntents.Create(ctx, q)
	if err != nil {
		return order.Session{}, unmade(err)
	}
	if !isCharge(intent.ID) {
		return order.Session{}, domain.Fail(domain.Unknown, "garbage", errors.New("stripe, make a charge: the answer has none"))
	}
	return order.Session{ID: intent.ID, ExpiresAt: c.ExpiresAt}, nil
}

// unmade is the failure of a charge that was not made. A method, or a customer, that Stripe
// does not find is one that is gone.
func unmade(err error) error {
	made := failure("make a charge", err)
	if refusedAsAsked(err, made) {
		return named(made, err)
	}
	return made
}

// named is a refusal whose code is that of the port where the port has one.
func named(refused, err error) error {
	if answer, ok := errors.AsType[*sdk.Error](err); ok && gone(answer) {
		return domain.Fail(domain.Permanent, order.MethodGone, refused)
	}
	return refused
}

// Capture confirms a charge while the customer is away. It sends no method: the intent has
// its own, and loses it by a refusal, so that one intent is never tried twice. Whatever
// Stripe refuses is looked up, so that Capture and Fetch say the same.
func (p *Provider) Capture(ctx context.Context, c order.CaptureCall) error {
	if c.Saved == nil || !isCharge(c.Session) {
		return domain.Fail(domain.Permanent, "not_supported", errors.New("stripe: what a page asks for is captured by Stripe"))
	}
	q := &sdk.PaymentIntentConfirmParams{OffSession: sdk.Bool(true)}
	q.SetIdempotencyKey(c.Key)
	intent, err := p.client.V1PaymentIntents.Confirm(ctx, c.Session, q)
	if err == nil {
		return verdictOf(intent)
	}
	confirm := failure("confirm a charge", err)
	if !refusedAsAsked(err, confirm) {
		return confirm
	}
	confirm = named(confirm, err)
	if intent, err = p.charge(ctx, c.Session); err != nil {
		return err
	}
	if s, _ := standingOf(intent); s.session == order.SessionApproved {
		return p.refuse(ctx, intent, confirm)
	}
	return verdictOf(intent)
}

// charge reads a charge with its method. An intent that is none of ours is as good as none.
func (p *Provider) charge(ctx context.Context, id string) (*sdk.PaymentIntent, error) {
	q := &sdk.PaymentIntentRetrieveParams{}
	q.AddExpand("payment_method")
	q.AddExpand("latest_charge.refunds")
	intent, err := p.client.V1PaymentIntents.Retrieve(ctx, id, q)
	if err != nil {
		return nil, failure("fetch a charge", err)
	}
	if _, known := standingOf(intent); intent.ID != id || !known {
		return nil, domain.Fail(
			domain.Unknown, "garbage",
			errors.New("stripe, fetch a charge: the answer is another, or in an unknown state"),
		)
	}
	if intent.Metadata[chargeMark] != ofSaved {
		return nil, domain.Fail(
			domain.Permanent, string(sdk.ErrorCodeResourceMissing),
			errors.New("stripe, fetch a charge: the payment is that of a page"),
		)
	}
	return intent, nil
}

// fetchCharge is what Stripe holds for true about a charge.
func (p *Provider) fetchCharge(ctx context.Context, id string) (order.Fetched, error) {
	intent, err := p.charge(ctx, id)
	if err != nil {
		return order.Fetched{}, err
	}
	s, _ := standingOf(intent)
	f := order.Fetched{
		Provider: p.Name(), Session: intent.ID, Order: orderOf("", intent.Metadata), State: s.session, ByCapture: true,
		Live: intent.Livemode,
	}
	if s.payment == "" {
		return f, nil
	}
	pay := paymentOf(intent, s.payment)
	pay.Code = s.code
	if pay.State == order.StatePaid {
		pay.Saved = savedOf(intent.PaymentMethod)
		if err := p.since(ctx, intent, &pay); err != nil {
			return f, err
		}
	}
	f.Payments = []order.Payment{pay}
	return f, nil
}

// expireCharge calls a charge off. One that can no longer be confirmed is left alone: being
// called off would erase why it was refused.
func (p *Provider) expireCharge(ctx context.Context, id string) error {
	intent, err := p.charge(ctx, id)
	if err != nil || !payable(intent) {
		return err
	}
	q := &sdk.PaymentIntentCancelParams{CancellationReason: sdk.String(sdk.PaymentIntentCancellationReasonAbandoned)}
	q.SetIdempotencyKey("expire/" + id + "/" + uuid.NewString()) // see ExpireSession
	if _, err = p.client.V1PaymentIntents.Cancel(ctx, id, q); err == nil {
		return nil
	}
	expire := failure("call a charge off", err)
	if domain.ClassOf(expire) != domain.Permanent {
		return expire
	}
	if intent, err = p.charge(ctx, id); err == nil && payable(intent) {
		return expire
	}
	return err
}

// payable tells whether a charge may yet become money by what is done now.
func payable(intent *sdk.PaymentIntent) bool {
	return intent.Status == sdk.PaymentIntentStatusRequiresConfirmation || intent.Status == sdk.PaymentIntentStatusRequiresAction
}
