package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// gone reports whether the refusal means that the method cannot be charged any more.
func gone(a *sdk.Error) bool {
	missing := a.Code == sdk.ErrorCodeResourceMissing && (a.Param == "payment_method" || a.Param == "customer")
	return missing || a.Code == sdk.ErrorCodePaymentMethodUnexpectedState
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

// refusedAsAsked reports whether Stripe has refused what was asked for, and not the caller,
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
