package order

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
)

// A Method is a payment method: a payment provider as orders and customers
// know it.
type Method struct {
	Name       string           // in orders, in the API and in the path of its webhooks
	Test       bool             // no real money; the provider may be switched off altogether
	Currencies map[string]int32 // that it takes, with the decimal places that it allows
	Least      int64            // the smallest total in minor units; 0 allows free orders
	Label      Label            // what customers read
}

// A Label is the name of a payment method in each language of the panel.
type Label struct{ EN, ES string }

// Charge converts a total into the minor units that are charged. It is not ok
// where the provider cannot charge exactly this total.
func (m Method) Charge(total decimal.Decimal, currency string) (minor int64, ok bool) {
	decimals, taken := m.Currencies[currency]
	if !taken || !total.Shift(decimals).IsInteger() {
		return 0, false
	}
	minor, ok = money.Minor(total, currency)
	return minor, ok && minor >= m.Least
}

// A Provider is one payment provider. Its errors are of type *domain.Failure,
// whose class decides about the next attempt (docs/sagas.md, "Errors"). An
// error without a class counts as unknown.
type Provider interface {
	// Name is the provider's name in orders and rows.
	Name() string
	// Host is where the provider's payment pages are, as in a URL. A session
	// elsewhere is refused.
	Host() string
	// OpenSession opens a page where the customer pays. The same effect key
	// answers with the same session.
	OpenSession(context.Context, Checkout) (Session, error)
	// Fetch reads the state of a session from the provider's books.
	Fetch(ctx context.Context, session string) (Fetched, error)
	// ExpireSession makes sure that a session cannot be paid any more. One
	// that is over already is a success.
	ExpireSession(ctx context.Context, session string) error
	// Verify checks the signature of a webhook and reads the references in
	// it. A bad signature is a domain.Error with code Invalid. One that cannot
	// be checked, now or for want of a secret, has code Unavailable.
	Verify(raw []byte, header map[string][]string, now time.Time) (News, error)
	// Live tells whether the money is real. News of the other mode is stored and
	// ignored (rule I-8).
	Live() bool
	// Refund gives back a part or all of a payment. The same key answers with
	// the same refund; Fetch finds it by its reference.
	Refund(context.Context, RefundCall) (Refund, error)
}

// A Capturer is a provider where approval and payment are two steps: the panel
// captures what the customer has approved.
type Capturer interface {
	// Capture takes the money. What has been captured already is a success.
	Capture(context.Context, CaptureCall) error
}

// A DisputeReporter is a provider whose disputes cannot be fetched: webhooks
// alone report them, and an operator confirms them.
type DisputeReporter interface {
	// DisputeTypes is the beginning of the types of these webhooks.
	DisputeTypes() string
}
