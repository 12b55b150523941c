package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
		Metadata:           map[string]string{reference: c.Order.String(), chargeMark: ofSaved}, Description: sdk.String(c.Number),
	}
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

// gone tells whether Stripe's refusal means that the method cannot be charged any more.
func gone(a *sdk.Error) bool {
	missing := a.Code == sdk.ErrorCodeResourceMissing && (a.Param == "payment_method" || a.Param == "customer")
	return missing || a.Code == sdk.ErrorCodePaymentMethodUnexpectedState
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

// refusedAsAsked tells whether Stripe has refused what was asked for, and not the caller,
// the key, or the moment.
func refusedAsAsked(err, failed error) bool {
	answer, answered := errors.AsType[*sdk.Error](err)
	return answered && domain.ClassOf(failed) == domain.Permanent && answer.Type != sdk.ErrorTypeIdempotency &&
		answer.HTTPStatusCode != http.StatusUnauthorized && answer.HTTPStatusCode != http.StatusForbidden
}

// refuse writes into an intent that was not tried why Stripe would not try it: nothing else
// at Stripe tells.
func (p *Provider) refuse(ctx context.Context, intent *sdk.PaymentIntent, confirm error) error {
	q := &sdk.PaymentIntentUpdateParams{Metadata: map[string]string{refusalMark: codeOf(confirm)}}
	q.SetIdempotencyKey("refused/" + intent.ID + "/" + uuid.NewString())
	if _, err := p.client.V1PaymentIntents.Update(ctx, intent.ID, q); err != nil {
		return failure("note a refusal", err)
	}
	return confirm
}

// verdictOf is what a confirmed charge means for the call that asked for it.
func verdictOf(intent *sdk.PaymentIntent) error {
	s, known := standingOf(intent)
	switch {
	case !known || s.session == order.SessionApproved:
		return domain.Fail(domain.Unknown, "garbage", errors.New("stripe, confirm a charge: it is in an unexpected state"))
	case s.payment == order.StatePaid, s.payment == order.StatePending:
		return nil
	}
	return domain.Fail(domain.Permanent, cmp.Or(s.code, "canceled"), fmt.Errorf("stripe, confirm a charge: it is %s", intent.Status))
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

// A standing is how far a charge is. A charge that was called off has no payment.
type standing struct {
	session order.SessionState
	payment order.PaymentState
	code    string
}

// standingOf reads a charge. What waits for the customer has failed: no page leads to it.
func standingOf(intent *sdk.PaymentIntent) (s standing, known bool) {
	switch intent.Status {
	case sdk.PaymentIntentStatusRequiresConfirmation:
		if why := untried(intent); why != "" {
			return standing{order.SessionComplete, order.StateFailed, why}, true
		}
		return standing{session: order.SessionApproved, payment: order.StateCreated}, true
	case sdk.PaymentIntentStatusRequiresPaymentMethod:
		return standing{order.SessionComplete, order.StateFailed, declined(intent.LastPaymentError)}, true
	case sdk.PaymentIntentStatusRequiresAction:
		return standing{order.SessionComplete, order.StateFailed, order.NeedsCustomer}, true
	case sdk.PaymentIntentStatusProcessing, sdk.PaymentIntentStatusRequiresCapture:
		return standing{session: order.SessionComplete, payment: order.StatePending}, true
	case sdk.PaymentIntentStatusSucceeded:
		return standing{session: order.SessionComplete, payment: order.StatePaid}, true
	case sdk.PaymentIntentStatusCanceled:
		return standing{session: order.SessionExpired}, true
	}
	return standing{}, false
}

// untried is why a charge cannot be confirmed; "": it can. A method that comes as an id
// alone was not asked for.
func untried(intent *sdk.PaymentIntent) string {
	if why := intent.Metadata[refusalMark]; why != "" {
		return why
	}
	if m := intent.PaymentMethod; m == nil || m.Object != "" && !attached(m) {
		return order.MethodGone
	}
	return ""
}

// authentications are refusals that mean that only the customer can pay.
var authentications = map[string]bool{
	string(sdk.ErrorCodeAuthenticationRequired): true, string(sdk.ErrorCodePaymentIntentAuthenticationFailure): true,
	string(sdk.ErrorCodePaymentIntentActionRequired): true,
}

var codes = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// declined is why a try to charge has failed, in the words of [order.Payment].
func declined(last *sdk.Error) string {
	switch {
	case last == nil, gone(last):
		return order.MethodGone // a charge has a method from its beginning
	case authentications[string(last.Code)], authentications[string(last.DeclineCode)]:
		return order.NeedsCustomer
	}
	if code := cmp.Or(string(last.DeclineCode), string(last.Code)); codes.MatchString(code) {
		return code
	}
	return "declined"
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
