package order

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
)

// An Event is a fact in the life of an order; its evolve method is what the
// fact means for the next decision.
type Event interface {
	domain.Event
	evolve(Order) Order
}

// Facts lists every event that an order's stream may hold.
var Facts = []domain.Fact{
	domain.FactOf[Placed]().Sealing(domain.Contact,
		"customer_name", "customer_email", "customer_phone", "customer_company"),
	domain.FactOf[SessionOpened](),
	domain.FactOf[SessionFailed](),
	domain.FactOf[Approved](),
	domain.FactOf[AwaitingSettlement](),
	domain.FactOf[PaymentConfirmed](),
	domain.FactOf[PaymentDeclined](),
	domain.FactOf[PaymentMismatchFound](),
	domain.FactOf[LatePaymentFound](),
	domain.FactOf[Reopened](),
	domain.FactOf[DuplicatePaymentFound](),
	domain.FactOf[PaymentAccepted](),
	domain.FactOf[RefundRequested](),
	domain.FactOf[RefundStarted](),
	domain.FactOf[PartiallyRefunded](),
	domain.FactOf[RefundCompleted](),
	domain.FactOf[RefundFailed](),
	domain.FactOf[DisputeReported](),
	domain.FactOf[DisputeOpened](),
	domain.FactOf[DisputeClosed](),
	domain.FactOf[CancelRequested](),
	domain.FactOf[CompensationStarted](),
	domain.FactOf[CompensationParked](),
	domain.FactOf[CompensationCompleted](),
	domain.FactOf[Cancelled](),
	domain.FactOf[ProvisioningStarted](),
	domain.FactOf[ProvisioningParked](),
	domain.FactOf[ProvisioningResumed](),
	domain.FactOf[Activated](),
	domain.FactOf[WelcomeMailDelayed](),
	domain.FactOf[WelcomeMailSent](),
	domain.FactOf[WelcomeMailGivenUp](),
	domain.FactOf[WelcomeMailRequested](),
	domain.FactOf[NewsIgnored](),
}

// Placed is the order as it was agreed. Nothing in it is ever computed again.
type Placed struct {
	Order     uuid.UUID `json:"order"`
	Number    string    `json:"number"`
	SubjectID uuid.UUID `json:"subject"`

	Name    string `json:"customer_name"`
	Email   string `json:"customer_email"`
	Phone   string `json:"customer_phone"`
	Company string `json:"customer_company"`

	Plan          Plan            `json:"plan"`
	BillingPeriod Period          `json:"billing_period"`
	Price         decimal.Decimal `json:"price"`        // per month
	PeriodPrice   decimal.Decimal `json:"period_price"` // per billing period, exact
	SetupFee      decimal.Decimal `json:"setup_fee"`
	TaxRate       decimal.Decimal `json:"tax_rate"` // percent
	Total         decimal.Decimal `json:"total"`    // tax included
	Subtotal      decimal.Decimal `json:"subtotal"`
	Tax           decimal.Decimal `json:"tax"`
	Currency      string          `json:"currency"`
	Provider      string          `json:"payment_method"`
	Minor         int64           `json:"minor"` // the total as the provider counts it
	Test          bool            `json:"test"`  // no real money

	Domain   string `json:"domain"`
	OS       string `json:"os_choice"`
	Language string `json:"language"`
	Widget   string `json:"widget_id"`
	APIKey   string `json:"api_key"` // its public id
	Owner    int64  `json:"owner"`   // the user to whom the key belongs

	At time.Time `json:"at"`
}

// Subject is the person whose data the order holds.
func (e Placed) Subject() uuid.UUID { return e.SubjectID }

// The way to the provider.
type (
	SessionOpened struct {
		Session   string    `json:"session"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
		Payee     string    `json:"payee,omitempty"` // our account, as the provider has put it into the session
		At        time.Time `json:"at"`
	}
	SessionFailed struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
)

// What the provider holds for true. A payment is in one of these facts at
// most once per rank, and in PaymentConfirmed at most once at all.
type (
	Approved struct {
		Payment Seen      `json:"payment"`
		At      time.Time `json:"at"`
	}
	AwaitingSettlement struct {
		Payment Seen      `json:"payment"` // without an id where the provider names none
		At      time.Time `json:"at"`
	}
	PaymentConfirmed struct {
		Payment Seen      `json:"payment"`
		At      time.Time `json:"at"`
	}
	PaymentDeclined struct {
		Payment Seen      `json:"payment"`
		At      time.Time `json:"at"`
	}
	PaymentMismatchFound struct {
		Payment Seen      `json:"payment"`
		Differs []string  `json:"differs"` // amount, currency, payee, mode, provider, reference, session
		At      time.Time `json:"at"`
	}
	DuplicatePaymentFound struct {
		Payment Seen      `json:"payment"`
		At      time.Time `json:"at"`
	}
	// LatePaymentFound is money for an order that was cancelled. Either
	// Reopened follows in the same breath, or the money has to go back, and
	// Refund says why: by itself, or, where it is not certain that it was meant
	// for the order, when an operator says so (hold needs_operator).
	LatePaymentFound struct {
		Payment Seen      `json:"payment"`
		Refund  []string  `json:"refund,omitempty"` // what forbids reopening: reason, too_late, plan, names, or what differs
		At      time.Time `json:"at"`
	}
	Reopened struct {
		Payment string    `json:"payment"` // the provider's id
		At      time.Time `json:"at"`
	}
	// NewsIgnored is news that asked for a move which the order cannot make.
	NewsIgnored struct {
		News    string    `json:"news"` // session_expired, payment_pending, payment_declined, payment_failed
		Session string    `json:"session"`
		Payment string    `json:"payment,omitempty"`
		Status  Status    `json:"status"` // in which it was ignored
		At      time.Time `json:"at"`
	}
)

// Seen is a payment as its provider shows it.
type Seen struct {
	Session  string       `json:"session"`
	ID       string       `json:"id"`
	State    PaymentState `json:"state"`
	Minor    int64        `json:"minor"`
	Currency string       `json:"currency"`
	Payee    string       `json:"payee,omitempty"`
	At       time.Time    `json:"at,omitzero"`
}

// Cancelled ends an order that nobody paid, or whose service an operator ends.
type Cancelled struct {
	Reason CancelReason `json:"reason"`
	Note   string       `json:"note,omitempty"` // an operator's reason
	At     time.Time    `json:"at"`
}

// A CancelReason says why an order came to nothing.
type CancelReason string

const (
	NoSession        CancelReason = "no_session"        // nobody could be sent to pay
	PaymentFailed    CancelReason = "payment_failed"    // the bank said no, for good
	Expired          CancelReason = "expired"           // nobody paid in time
	ApprovalReversed CancelReason = "approval_reversed" // the customer agreed, the provider took it back
	CaptureDeadline  CancelReason = "capture_deadline"  // the customer agreed, the money was not fetched in time
	ByCustomer       CancelReason = "customer"
	ByAdmin          CancelReason = "admin"
	Ended            CancelReason = "ended" // an operator ended the running service
)

// The provisioning of what was bought.
type (
	ProvisioningStarted struct {
		At time.Time `json:"at"`
	}
	ProvisioningParked struct {
		Step string    `json:"step"`
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
	ProvisioningResumed struct {
		Step   string    `json:"step"`
		How    How       `json:"how"`
		Reason string    `json:"reason"`
		Proof  string    `json:"proof,omitempty"` // of a skipped step: the outside id that was looked up
		At     time.Time `json:"at"`
	}
	Activated struct {
		At time.Time `json:"at"`
	}
	WelcomeMailDelayed struct {
		At time.Time `json:"at"`
	}
	WelcomeMailSent struct {
		At time.Time `json:"at"`
	}
	WelcomeMailGivenUp struct {
		At time.Time `json:"at"`
	}
)

func (Placed) EventName() string                { return "order.placed" }
func (SessionOpened) EventName() string         { return "order.session_opened" }
func (SessionFailed) EventName() string         { return "order.session_failed" }
func (Approved) EventName() string              { return "order.approved" }
func (AwaitingSettlement) EventName() string    { return "order.awaiting_settlement" }
func (PaymentConfirmed) EventName() string      { return "order.payment_confirmed" }
func (PaymentDeclined) EventName() string       { return "order.payment_declined" }
func (PaymentMismatchFound) EventName() string  { return "order.payment_mismatch_found" }
func (LatePaymentFound) EventName() string      { return "order.late_payment_found" }
func (Reopened) EventName() string              { return "order.reopened" }
func (DuplicatePaymentFound) EventName() string { return "order.duplicate_payment_found" }
func (Cancelled) EventName() string             { return "order.cancelled" }
func (ProvisioningStarted) EventName() string   { return "order.provisioning_started" }
func (ProvisioningParked) EventName() string    { return "order.provisioning_parked" }
func (ProvisioningResumed) EventName() string   { return "order.provisioning_resumed" }
func (Activated) EventName() string             { return "order.activated" }
func (WelcomeMailDelayed) EventName() string    { return "order.welcome_mail_delayed" }
func (WelcomeMailSent) EventName() string       { return "order.welcome_mail_sent" }
func (WelcomeMailGivenUp) EventName() string    { return "order.welcome_mail_given_up" }
func (NewsIgnored) EventName() string           { return "order.news_ignored" }
