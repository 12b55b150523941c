package order

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// What passes between an order and the payment providers.

// A Checkout asks a provider for a page where the customer can pay.
type Checkout struct {
	Order                uuid.UUID
	Number               string // "ORD-20261121-7F3K9Q"
	EffectKey            string // "order/<id>/session/1"; the same key answers with the same session
	Minor                int64  // amount in the currency's smallest unit
	Currency             string
	Total                decimal.Decimal // the same amount with two places
	Description          string
	Email                string
	Language             string
	ReturnURL, CancelURL string
	ExpiresAt            time.Time
	Installation         string       // the panel's, which the provider keeps with the session; empty: it keeps none
	Save                 bool         // the customer agrees that the method is kept
	Saved                *SavedMethod // that is charged without a page; nil: the customer pays on a page
}

// A Session is a page where one order can be paid.
type Session struct {
	ID        string
	URL       string
	ExpiresAt time.Time
	Payee     string // the account that will be paid; empty where the provider has no such notion
}

// A SessionState is how far a session has come.
type SessionState string

const (
	SessionOpen     SessionState = "open"     // the customer can still pay
	SessionApproved SessionState = "approved" // the customer agreed; the money is not ours yet
	SessionComplete SessionState = "complete" // the customer is done; the money may take days
	SessionExpired  SessionState = "expired"  // cannot be paid any more
)

// A PaymentState is how far a payment has come.
type PaymentState string

const (
	StateCreated  PaymentState = "created"  // the customer has done nothing yet
	StatePending  PaymentState = "pending"  // the customer did their part, the bank has yet to do its own
	StateDeclined PaymentState = "declined" // the customer may try again
	StateFailed   PaymentState = "failed"   // for good
	StatePaid     PaymentState = "paid"     // for good
)

// rank orders what is known of one payment. News of a lower rank than what is
// known is old news, whenever it arrives.
var rank = map[PaymentState]int{StateCreated: 1, StatePending: 2, StateDeclined: 3, StateFailed: 4, StatePaid: 5}

// Fetched is what a provider holds for true about a session.
type Fetched struct {
	Provider  string
	Session   string
	Order     uuid.UUID // our reference, as the provider keeps it
	State     SessionState
	ByCapture bool // money moves only when we capture it
	Payments  []Payment
	Saved     *SavedMethod // that was added without a payment, see [Keeper]; nil: none
	Live      bool         // real money
	ExpiresAt time.Time
}

// A Payment is one attempt to pay, as its provider keeps it. One that was paid
// stays paid, whatever was given back or taken back of it since.
type Payment struct {
	ID       string
	State    PaymentState
	Minor    int64
	Currency string
	Payee    string // the account that was paid; empty where the provider has no such notion
	Code     string // why it was declined or failed: [NeedsCustomer], [MethodGone] or the provider's own; "": unknown
	At       time.Time
	Refunds  []Refund
	Disputes []Dispute
	Saved    *SavedMethod // that it was paid with, if the provider keeps it; nil: it keeps none
}

// A Refund is money on its way back to the customer, as its provider keeps it.
type Refund struct {
	ID        string
	State     RefundState
	Minor     int64
	Currency  string
	Reference string // ours, see [RefundCall]; empty: a refund made at the provider itself
	At        time.Time
}

// A RefundState is how far a refund has come.
type RefundState string

const (
	RefundAwaited   RefundState = "requested" // the provider has shown nothing of it yet
	RefundPending   RefundState = "pending"   // the provider works on it
	RefundSucceeded RefundState = "succeeded" // the money has left us
	RefundStopped   RefundState = "failed"    // the money has not left us, or has come back
)

// A Dispute is a customer's bank that claims a payment back.
type Dispute struct {
	ID       string
	State    DisputeState
	Minor    int64
	Currency string
	At       time.Time
}

// A DisputeState is how far a dispute has come.
type DisputeState string

const (
	DisputeOpen DisputeState = "open" // the bank has yet to decide
	DisputeWon  DisputeState = "won"  // the money stays ours
	DisputeLost DisputeState = "lost" // the money is gone
)

// A RefundCall asks a provider to give back a part or all of one payment.
type RefundCall struct {
	Order     uuid.UUID
	Number    string // of the order
	Session   string
	Payment   string // the provider's id
	Reference string // "order/<id>/refund/<n>": the key of the effect, and what the refund is found by
	Key       string // sent as the provider's idempotency key: the reference, or a later generation of it
	Minor     int64
	Currency  string

	Installation string // as in [Checkout]
}

// A CaptureCall asks a provider to take the money that the customer has agreed
// to pay.
type CaptureCall struct {
	Order   uuid.UUID
	Session string
	Key     string       // "order/<id>/capture"; the same key captures once
	Saved   *SavedMethod // that is charged; nil: the customer has approved the session

	Installation string // as in [Checkout]
}

// News is what a webhook claims. It may be false and only makes us look.
type News struct {
	EventID        string
	TransmissionID string    // empty where the provider has none
	Type           string    // in the provider's words
	ObjectRef      string    // the session's id
	Order          uuid.UUID // zero: unknown
	Installation   string    // the panel's, as in [Checkout]; empty: not told
	Payment        string
	VerifiedBy     string // which of our secrets, or which certificate
	Live           bool
	Handled        bool // a type that we act on
}

// A HostedSession is a session whose payment page the panel itself shows.
type HostedSession struct {
	ID                   string
	Order                uuid.UUID
	Number               string
	Minor                int64
	Currency             string
	Description          string
	Language             string
	State                SessionState
	Payment              PaymentState // empty: nothing was paid yet
	ReturnURL, CancelURL string
	ExpiresAt            time.Time
	Saves                bool // the customer agrees that the card is kept
	Setup                bool // a card is added, and nothing is paid
}

// A HostedAction is a button pressed on such a page.
type HostedAction struct {
	Session  string
	Action   string        // pay, decline, cancel, expire, unpaid
	Amount   *int64        // what is "really" paid; nil: what is due
	Currency string        // likewise; empty: the session's
	Copies   int           // of the webhook; 0: one
	Distinct bool          // each copy has its own event id
	Delay    time.Duration // before the webhook
	Settle   time.Duration // of an unpaid one, until it is paid
	Drop     bool          // no webhook at all
	Card     string        // what a kept card does when it is charged: succeed, decline, authenticate, disappear; "": succeed
}
