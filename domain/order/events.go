package order

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/compute"
	"hostpanel/domain/money"
	"hostpanel/domain/tax"
	"hostpanel/domain/wording"
)

// An Event belongs to the stream of an order; its evolve method is what the
// event means for the next decision.
type Event interface {
	domain.Event
	evolve(Order) Order
}

// EventTypes lists every event that an order's stream may hold.
var EventTypes = []domain.EventType{
	domain.Register[Placed]().Sealing(domain.Contact,
		"customer_name", "customer_email", "customer_phone", "customer_company", "success_url",
		"cancel_url", "ssh_key").Sealing(domain.Contact, buyer.Names...),
	domain.Register[PaymentSessionOpened](),
	domain.Register[PaymentSessionFailed](),
	domain.Register[PaymentApproved](),
	domain.Register[AwaitingSettlement](),
	domain.Register[PaymentConfirmed](),
	domain.Register[PaymentDeclined](),
	domain.Register[PaymentMismatchFound](),
	domain.Register[LatePaymentFound](),
	domain.Register[Reopened](),
	domain.Register[DuplicatePaymentFound](),
	domain.Register[PaymentAccepted](),
	domain.Register[PaymentHeld](),
	domain.Register[RefundRequested](),
	domain.Register[RefundStarted](),
	domain.Register[PartiallyRefunded](),
	domain.Register[RefundCompleted](),
	domain.Register[RefundFailed](),
	domain.Register[DisputeReported](),
	domain.Register[DisputeOpened](),
	domain.Register[DisputeClosed](),
	domain.Register[CancelRequested](),
	domain.Register[CompensationStarted](),
	domain.Register[CompensationParked](),
	domain.Register[CompensationCompleted](),
	domain.Register[Cancelled](),
	domain.Register[ProvisioningStarted](),
	domain.Register[ProvisioningParked](),
	domain.Register[ProvisioningResumed](),
	domain.Register[Activated](),
	domain.Register[WelcomeMailDelayed](),
	domain.Register[WelcomeMailSent](),
	domain.Register[WelcomeMailGivenUp](),
	domain.Register[WelcomeMailRequested](),
	domain.Register[ProviderEventIgnored](),
	domain.Register[WebhookMatched](),
	domain.Register[TenantChosen](),
	domain.Register[PlaceResized](),
	domain.Register[PaymentMethodKept]().Sealing(domain.Contact, "brand", "last4", "expires"),
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
	buyer.Details

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
	Minor         int64           `json:"minor"`    // the total in the currency's minor unit
	Decimals      int32           `json:"decimals"` // places that the provider allows in amounts of this currency
	Test          bool            `json:"test"`     // no real money

	Domain   string `json:"domain"`
	OS       string `json:"os_choice"`
	Language string `json:"language"`
	Widget   string `json:"widget_id"`
	APIKey   string `json:"api_key"` // its public id
	Owner    int64  `json:"owner"`   // the user to whom the key belongs

	// Where the customer goes afterwards; "": where the widget says. Shops put ids of
	// carts and people into them.
	SuccessURL string `json:"success_url,omitempty"`
	CancelURL  string `json:"cancel_url,omitempty"`

	Tenant int64 `json:"tenant,omitempty"` // that the service joins; 0: a new one
	User   int64 `json:"user,omitempty"`   // who has ordered for that tenant

	Invoice uuid.UUID `json:"invoice,omitzero"` // that it pays; zero: it buys the plan
	tax.Treatment

	KeepFor uuid.UUID `json:"keep_for,omitzero"`    // the person who agreed that the payment method is kept; zero: it is not
	Charge  uuid.UUID `json:"kept_method,omitzero"` // the kept payment method that is charged; zero: the customer pays on a page

	// Of a virtual server: its place, nil if there is no stock, and what its customer wants.
	Placement *compute.Placement `json:"placement,omitempty"`
	Hostname  string             `json:"hostname,omitempty"`
	SSHKey    string             `json:"ssh_key,omitempty"` // without its comment

	At time.Time `json:"at"`
}

// The way to the provider.
type (
	PaymentSessionOpened struct {
		Session   string    `json:"session"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
		Payee     string    `json:"payee,omitempty"` // our account, as the provider has put it into the session
		At        time.Time `json:"at"`
	}
	PaymentSessionFailed struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
)

// What the provider holds for true. A payment is in one of these events at
// most once per rank, and in PaymentConfirmed at most once at all.
type (
	PaymentApproved struct {
		Payment Seen      `json:"payment"`
		At      time.Time `json:"at"`
	}
	AwaitingSettlement struct {
		Payment Seen      `json:"payment"` // without an id where the provider names none
		At      time.Time `json:"at"`
	}
	PaymentConfirmed struct {
		Payment Seen      `json:"payment"`
		Holds   []Hold    `json:"holds,omitzero"` // nil: they stay
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
		Refund  []string  `json:"refund,omitempty"` // what forbids reopening: reason, too_late, plan, names, place, or what differs
		At      time.Time `json:"at"`
	}
	Reopened struct {
		Payment   string             `json:"payment"`             // the provider's id
		Placement *compute.Placement `json:"placement,omitempty"` // of a virtual server; nil: there is no stock
		At        time.Time          `json:"at"`
	}
	// ProviderEventIgnored is news that asked for a move which the order cannot make.
	ProviderEventIgnored struct {
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
	Code     string       `json:"code,omitempty"` // why it was declined or failed
	At       time.Time    `json:"at,omitzero"`
}

// Cancelled ends an unpaid order, or one whose service an operator ends.
type Cancelled struct {
	Reason CancelReason `json:"reason"`
	Note   string       `json:"note,omitempty"` // an operator's reason
	Holds  []Hold       `json:"holds,omitzero"` // nil: they stay
	At     time.Time    `json:"at"`
}

// A CancelReason says why an order came to nothing.
type CancelReason string

const (
	NoSession        CancelReason = "no_session"        // no session could be opened
	PaymentFailed    CancelReason = "payment_failed"    // the bank said no, for good
	Expired          CancelReason = "expired"           // not paid in time
	ApprovalReversed CancelReason = "approval_reversed" // the customer agreed, the provider took it back
	CaptureDeadline  CancelReason = "capture_deadline"  // the customer agreed, the money was not fetched in time
	ByCustomer       CancelReason = "customer"          // the customer asked for it
	ByAdmin          CancelReason = "admin"             // an operator asked for it
	Ended            CancelReason = "ended"             // an operator ended the running service
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
func (PaymentSessionOpened) EventName() string  { return "order.payment_session_opened" }
func (PaymentSessionFailed) EventName() string  { return "order.payment_session_failed" }
func (PaymentApproved) EventName() string       { return "order.payment_approved" }
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
func (ProviderEventIgnored) EventName() string  { return "order.provider_event_ignored" }

func (e Placed) Says() string {
	return fmt.Sprintf(
		"%s orders %s, %s, for %s %s: %s%s%s", cmp.Or(e.Name, "a customer"), e.Plan.Name, e.BillingPeriod,
		e.Total.StringFixed(2), e.Currency, e.Number, wording.Around(" (", e.Domain, ")"), wording.Around(", ", placedOn(e.Placement), ""),
	)
}

func (e PaymentSessionOpened) Says() string {
	if e.URL == "" {
		return "the kept payment method can be charged until " + wording.Minute(e.ExpiresAt)
	}
	return "can be paid until " + wording.Minute(e.ExpiresAt)
}

func (e PaymentSessionFailed) Says() string {
	return "the payment provider could not be reached: " + e.Code
}

func (e PaymentApproved) Says() string { return "the customer agreed to pay " + paid(e.Payment) }

func (e AwaitingSettlement) Says() string {
	return "paid; the customer's bank has yet to settle " + paid(e.Payment)
}

func (e PaymentConfirmed) Says() string { return paid(e.Payment) + " arrived, payment " + e.Payment.ID }

func (e PaymentDeclined) Says() string {
	return "the payment of " + paid(e.Payment) + " was declined" + wording.Around(": ", wording.Spaced(e.Payment.Code), "")
}

func (e PaymentMismatchFound) Says() string {
	return fmt.Sprintf("%s arrived, but differs in %s: an operator must check it", paid(e.Payment), strings.Join(e.Differs, ", "))
}

func (e LatePaymentFound) Says() string {
	return paid(e.Payment) + " arrived after the order was cancelled" + wording.Around(
		"; to be given back: ", strings.Join(e.Refund, ", "), "",
	)
}

func (e Reopened) Says() string {
	return "opened again by payment " + e.Payment + wording.Around(", ", placedOn(e.Placement), "")
}

// placedOn says where a machine is to run, and why there; "" without a place.
func placedOn(p *compute.Placement) string {
	if p == nil {
		return ""
	}
	return "on node " + p.Node + " (" + p.Why + ")"
}

func (e DuplicatePaymentFound) Says() string {
	return "paid a second time: " + paid(e.Payment) + ", payment " + e.Payment.ID
}

func (e Cancelled) Says() string {
	return "cancelled: " + wording.Spaced(string(e.Reason)) + wording.Around(" (", e.Note, ")")
}
func (ProvisioningStarted) Says() string { return "setup starts" }
func (e ProvisioningParked) Says() string {
	return "setup stopped at " + e.Step + ": " + wording.Spaced(e.Code)
}

func (e ProvisioningResumed) Says() string {
	return fmt.Sprintf("setup goes on at %s (%s)%s", e.Step, wording.Spaced(string(e.How)), wording.Around(": ", e.Reason, ""))
}

func (Activated) Says() string          { return "active" }
func (WelcomeMailDelayed) Says() string { return "the welcome mail is late" }
func (WelcomeMailSent) Says() string    { return "the welcome mail has been sent" }
func (WelcomeMailGivenUp) Says() string { return "the welcome mail could not be sent" }

func (e ProviderEventIgnored) Says() string {
	return "news ignored: " + wording.Spaced(e.News) + ", for an order that is " + wording.Spaced(string(e.Status))
}

func paid(p Seen) string { return money.Format(p.Minor, p.Currency) }
