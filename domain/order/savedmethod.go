package order

import "context"

// A customer may agree that the provider keeps the payment method, so that renewals are
// charged while the customer is away (docs/invoices.md, "Saved payment methods").

// A SavedMethod is a payment method that a provider keeps. It is of no use without the
// provider's credentials. Nothing else of a card is known to the panel.
type SavedMethod struct {
	Customer string // the provider's id of its owner; "": the provider needs none
	Token    string // the provider's id of the method
	Kind     string // in the provider's words: card, paypal
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

// Codes of refused charges that mean more than "try again". All others are the provider's
// own, such as insufficient_funds.
const (
	NeedsCustomer = "authentication_required" // the bank asks the customer to agree: only a page can be paid
	MethodGone    = "method_gone"             // the provider does not keep the method any more
)
