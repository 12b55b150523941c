package order

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/texts"
)

// A Draft is an order as a customer asks for it. Prices are not in it: they are
// those of the plan.
type Draft struct {
	PlanID        int64
	Customer      Customer
	PaymentMethod string
	Period        Period
	Domain, OS    string
	Language      string
	AnyLanguage   bool // none was asked for: a widget's own counts
	Widget        string
	Return        Return
	KeepMethod    bool // the customer agrees that the payment method is kept for renewals

	APIKey    string // public id of the key that it is asked with
	Owner     int64  // user to whom the key belongs
	TestMoney bool   // the key may only take test money
	Joins     Joining

	Agreed Place // what is ordered, as plan and prices are now; see Prepare
}

// A BillPayment is how the customer of an open invoice wants to pay.
type BillPayment struct {
	Invoice uuid.UUID
	Method  string    // blank: that of the last payment
	KeepFor uuid.UUID // the person who agrees that the method is kept; zero: it is not
	Resumed bool      // whatever has begun goes on, as it has begun
}

// Payable tells where the customer of an order can pay.
type Payable struct {
	ID         uuid.UUID
	Number     string
	PaymentURL string
	Status     Status
}

// An Offer is a payment method. Customers can choose it if it is configured.
type Offer struct {
	Method
	Configured bool
	Live       bool   // whether its money is real
	Saves      bool   // whether it keeps payment methods for renewals
	Keeps      bool   // whether it keeps them without a payment, too
	Host       string // of its payment pages, as in a URL
}

// Offers are all payment methods, in the order in which the API names them.
type Offers []Offer

// Names are the names of all methods, configured or not.
func (all Offers) Names() (names []string) {
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

// For returns the methods that customers can choose. Test money is only for
// keys of that mode.
func (all Offers) For(testMoney bool) (some Offers) {
	for _, o := range all {
		if o.Configured && (testMoney || !o.Test) {
			some = append(some, o)
		}
	}
	return some
}

// Configured returns the method of that name, if customers can choose it.
func (all Offers) Configured(name string) (Offer, bool) {
	i := slices.IndexFunc(all, func(o Offer) bool { return o.Configured && o.Name == name })
	if i < 0 {
		return Offer{}, false
	}
	return all[i], true
}

// Called is a payment method as customers read it in a language; blank: it is not configured.
func (all Offers) Called(language, name string) string {
	offer, _ := all.Configured(name)
	if texts.Spoken(language) == texts.English {
		return offer.Label.EN
	}
	return offer.Label.ES
}

// ErrNoPaymentPage means that the payment provider opened no page. The order
// waits, and may be sent to payment again.
var ErrNoPaymentPage = errors.New("no payment page could be opened")
