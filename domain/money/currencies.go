package money

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// The payment providers. Test is the one for trying things out; it counts
// like Stripe.
const (
	Stripe = "stripe"
	PayPal = "paypal"
	Test   = "test"
)

// refused marks a currency that a provider does not take.
const refused = -1

// currencies says with how many decimal places each provider counts a
// currency. One that is not here is refused: it has not been proven in the
// provider's test mode. (Stripe counts three places of BHD and its kin, but
// wants the last digit to be 0; totals have two places, so it always is.)
var currencies = []struct {
	codes          string
	stripe, paypal int32
}{
	{"EUR USD GBP CHF PLN SEK NOK DKK CZK CAD AUD NZD SGD HKD MXN BRL ILS PHP THB", 2, 2},
	{"HUF TWD", 2, 0},
	{"JPY", 0, 0},
	{"KRW CLP VND PYG XAF XOF XPF RWF BIF DJF GNF KMF MGA VUV", 0, refused},
	{"BHD JOD KWD OMR TND", 3, refused},
}

// Places is the number of decimal places with which a provider counts a
// currency; ok is false where it does not take it.
func Places(provider, currency string) (places int32, ok bool) {
	row := rowOf(currency)
	if row < 0 {
		return 0, false
	}
	switch provider {
	case Stripe, Test:
		places = currencies[row].stripe
	case PayPal:
		places = currencies[row].paypal
	default:
		return 0, false
	}
	return places, places != refused
}

// Known tells whether a currency is in the table at all.
func Known(currency string) bool { return rowOf(currency) >= 0 }

func rowOf(currency string) int {
	for i, row := range currencies {
		if slices.Contains(strings.Fields(row.codes), currency) {
			return i
		}
	}
	return -1
}

// Chargeable turns a total into the integer that a provider is told. It is
// not ok where the provider does not take the currency, where the total is no
// whole number of its smallest unit, and where it wants no payment of zero.
func Chargeable(provider, currency string, total decimal.Decimal) (minor int64, ok bool) {
	places, taken := Places(provider, currency)
	units := total.Shift(places)
	if !taken || !units.IsInteger() || units.IsNegative() || units.Cmp(most) > 0 {
		return 0, false
	}
	return units.IntPart(), !units.IsZero() || provider != PayPal
}

// most is the largest amount in minor units that any provider books at once.
var most = decimal.New(99_999_999_999, 0)
