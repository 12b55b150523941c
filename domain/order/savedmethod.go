package order

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A customer may agree that the provider keeps the payment method, so that renewals are
// charged while the customer is away (docs/invoices.md, "Saved payment methods").

// A SavedMethod is a payment method that a provider keeps. It is of no use without the
// provider's credentials. Nothing else of a card is known to the panel.
type SavedMethod struct {
	Customer string // the provider's id of its owner; "": the provider needs none
	Token    string // the provider's id of the method
	Kind     string // in the provider's words, such as card
	Brand    string // such as visa; "": it has none
	Last4    string // the last digits; "": it has none
	ExpMonth int    // 1 to 12; 0: it does not expire
	ExpYear  int    // such as 2029; 0: it does not expire
}

// A Saver is a provider that keeps payment methods and charges them.
//
// A [Checkout] with Save asks for a page on which the method is kept as well; once it is
// paid, Fetch finds the method in [Payment]. A Checkout with Saved opens a session without
// a page: its URL is blank, and no money moves. Fetch finds it approved, with ByCapture and
// a payment in [StateCreated], until it is captured. Capture with the same method charges
// it. If the charge is refused, Capture fails for good, and Fetch finds the session complete
// and the payment failed with a code.
type Saver interface {
	Capturer
	// Forget removes a method at the provider. One that is gone already is a success.
	Forget(context.Context, SavedMethod) error
}

// A Keeper is a provider that also keeps a payment method without a payment.
//
// OpenSetup opens a page on which the customer adds a method and pays nothing. The same
// effect key answers with the same session, and ExpireSession ends it. Fetch finds it with
// our reference, and complete with Saved once the provider keeps the method.
type Keeper interface {
	Saver
	OpenSetup(context.Context, Checkout) (Session, error)
}

// A SetupFinisher is a [Keeper] where agreeing and keeping are two steps: Fetch finds the
// session approved, and the provider keeps the method when it is told to.
type SetupFinisher interface {
	Keeper
	// FinishSetup returns the method that is kept; nil: the customer has to agree once more.
	// The same key answers with the same method. A permanent failure ends the setup.
	FinishSetup(context.Context, SetupCall) (*SavedMethod, error)
}

// A SetupCall asks a provider to keep the method that a customer has agreed to.
type SetupCall struct{ Session, Key string }

// ErrKeepsNone refuses the setup of a payment method at a provider that cannot do it.
var ErrKeepsNone = domain.RefuseField("payment_method", "This provider keeps no payment method without a payment.")

// Codes of refused charges that mean more than "try again". All others are the provider's
// own, such as insufficient_funds.
const (
	NeedsCustomer = "authentication_required" // the bank asks the customer to agree: only a page can be paid
	MethodGone    = "method_gone"             // the provider does not keep the method any more
)

// PaymentMethodKept: the provider keeps the method that the order was paid with, as its
// customer agreed. The provider's ids are of no use without its credentials.
type PaymentMethodKept struct {
	SubjectID uuid.UUID `json:"subject"` // the person who agreed
	Customer  string    `json:"customer,omitempty"`
	Token     string    `json:"token"`
	Kind      string    `json:"kind"`
	Brand     string    `json:"brand"`
	Last4     string    `json:"last4"`
	Expires   string    `json:"expires"` // "2029-03"; "": it does not
	At        time.Time `json:"at"`
}

// EventName is the name in the log.
func (PaymentMethodKept) EventName() string { return "order.payment_method_kept" }

// Says is the sentence of a history.
func (e PaymentMethodKept) Says() string {
	return "the payment method is kept for renewals: " + e.Kind + wording.Around(" ", e.Brand, "") + wording.Around(" …", e.Last4, "")
}

func (PaymentMethodKept) evolve(o Order) Order { o.Kept = true; return o }

// kept records once that the provider keeps the method of the payment that the order runs
// on, if its customer has agreed.
func (c Observe) kept(o Order) []Event {
	if o.KeepFor == uuid.Nil || o.Kept || o.Confirmed == "" {
		return nil
	}
	i := slices.IndexFunc(c.Fetched.Payments, func(p Payment) bool { return p.Saved != nil && c.seen(p).ID == o.Confirmed })
	if i < 0 {
		return nil
	}
	m := c.Fetched.Payments[i].Saved
	return []Event{PaymentMethodKept{
		SubjectID: o.KeepFor, Customer: m.Customer, Token: m.Token, Kind: m.Kind, Brand: m.Brand, Last4: m.Last4,
		Expires: m.Expires(), At: c.At,
	}}
}

// Expires is the last month of a method: "2029-03"; "": it does not expire.
func (m SavedMethod) Expires() string {
	if m.ExpYear == 0 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", m.ExpYear, m.ExpMonth)
}
