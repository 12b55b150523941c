package order

import (
	"errors"
	"slices"

	"hostpanel/domain/texts"
)

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
