package stripe

import (
	"encoding/json"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"hostpanel/adapters/payments"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// Header carries the signature of a webhook: "t=<unix>,v1=<hex>", where v1 is
// the HMAC-SHA256 of "<t>.<raw body>".
const Header = "Stripe-Signature"

// tolerance is how far a signature's time may be from ours, either way.
const tolerance = 300 * time.Second

var errEvent = domain.Refuse(domain.Invalid, "Invalid event.")

// handled are the types that mean something to us, and what each is about
// (rule S-3). Of these to subscribe to, the first alone would do.
var handled = map[sdk.EventType]string{
	sdk.EventTypeCheckoutSessionCompleted:             "checkout.session",
	sdk.EventTypeCheckoutSessionAsyncPaymentSucceeded: "checkout.session",
	sdk.EventTypeCheckoutSessionAsyncPaymentFailed:    "checkout.session",
	sdk.EventTypeCheckoutSessionExpired:               "checkout.session",
	sdk.EventTypeRefundCreated:                        "refund",
	sdk.EventTypeRefundUpdated:                        "refund",
	sdk.EventTypeRefundFailed:                         "refund",
	sdk.EventTypeChargeRefunded:                       "charge",
	sdk.EventTypeChargeDisputeCreated:                 "dispute",
	sdk.EventTypeChargeDisputeFundsWithdrawn:          "dispute",
	sdk.EventTypeChargeDisputeClosed:                  "dispute",
	sdk.EventTypePaymentIntentSucceeded:               ofIntent,
	sdk.EventTypePaymentIntentPaymentFailed:           ofIntent,
	sdk.EventTypePaymentIntentProcessing:              ofIntent,
	sdk.EventTypePaymentIntentRequiresAction:          ofIntent,
	sdk.EventTypePaymentIntentCanceled:                ofIntent,
}

// ofIntent is what news of a payment intent are about. They are handled if it is a charge:
// of a page's payment the page's own news tell.
const ofIntent = "payment_intent"

// Verify checks a webhook's signature under every active secret and reads the
// references in it; amounts and states are not read, because Stripe will be
// asked (rule S-2). News of the other mode, which are about other money than
// ours, are not to be handled (rule I-8).
func (p *Provider) Verify(raw []byte, header map[string][]string, now time.Time) (order.News, error) {
	if len(p.secrets) == 0 {
		return order.News{}, payments.NotConfigured
	}
	signature, at, ok := signed(header)
	if !ok || now.Sub(at).Abs() > tolerance {
		return order.News{}, payments.InvalidSignature
	}
	for i, secret := range p.secrets {
		if webhook.ValidatePayloadIgnoringTolerance(raw, signature, secret) != nil {
			continue
		}
		e, err := webhook.ConstructEventWithOptions(raw, signature, secret,
			webhook.ConstructEventOptions{IgnoreTolerance: true, IgnoreAPIVersionMismatch: true})
		if err != nil {
			return order.News{}, errEvent
		}
		return p.news(e, fmt.Sprintf("secret %d", i+1))
	}
	return order.News{}, payments.InvalidSignature
}

// signed is the one signature of a webhook, and its one time: the library
// would take the last of several.
func signed(header map[string][]string) (signature string, at time.Time, ok bool) {
	values := textproto.MIMEHeader(header).Values(Header)
	if len(values) != 1 {
		return "", at, false
	}
	times := 0
	for part := range strings.SplitSeq(values[0], ",") {
		name, value, _ := strings.Cut(part, "=")
		if strings.TrimSpace(name) != "t" {
			continue
		}
		unix, err := strconv.ParseUint(value, 10, 40)
		if err != nil {
			return "", at, false
		}
		at, times = time.Unix(int64(unix), 0), times+1
	}
	return values[0], at, times == 1
}

// news are the references in an event of any version of Stripe's API.
func (p *Provider) news(e sdk.Event, by string) (order.News, error) {
	if e.ID == "" || len(e.ID) > 255 || e.Type == "" || len(e.Type) > 255 {
		return order.News{}, errEvent
	}
	n := order.News{EventID: e.ID, Type: string(e.Type), VerifiedBy: by, Live: e.Livemode}
	about, known := handled[e.Type]
	if !known || e.Livemode != p.live {
		return n, nil
	}
	var o object
	if e.Data == nil || json.Unmarshal(e.Data.Raw, &o) != nil || o.Object != about || o.ID == "" {
		return order.News{}, errEvent
	}
	charge := o.Metadata[chargeMark] == ofSaved
	if about == ofIntent {
		if !charge {
			return n, nil
		}
		o.Payment = &sdk.PaymentIntent{ID: o.ID}
	}
	n.Handled, n.Order, n.Installation = true, orderOf(o.Reference, o.Metadata), o.Metadata[installation]
	if o.Payment != nil {
		n.Payment = o.Payment.ID
	}
	switch {
	case about == "checkout.session":
		n.ObjectRef = o.ID
	case charge:
		n.ObjectRef = n.Payment
	}
	return n, nil
}

// An object is what an event is about: a session, a refund, a charge or a dispute.
type object struct {
	ID        string             `json:"id"`
	Object    string             `json:"object"`
	Reference string             `json:"client_reference_id"`
	Metadata  map[string]string  `json:"metadata"`
	Payment   *sdk.PaymentIntent `json:"payment_intent"` // or its id alone
}
