package money

import (
	"maps"
	"strings"

	"github.com/shopspring/decimal"
)

// places is the number of decimal places of each currency that prices may be
// in: those of ISO 4217 that people pay with. A currency that is not here is
// refused. (Of three places the last digit is always 0, because totals have two.)
var places = tableOf(map[int32]string{
	0: "JPY KRW CLP VND PYG XAF XOF XPF RWF BIF DJF GNF KMF MGA VUV ISK UGX",
	2: "EUR USD GBP CHF PLN SEK NOK DKK CZK CAD AUD NZD SGD HKD MXN BRL ILS PHP THB HUF TWD RON TRY INR ZAR " +
		"AED AFN ALL AMD AOA ARS AWG AZN BAM BBD BDT BMD BND BOB BSD BTN BWP BYN BZD CDF CNY COP CRC CUP CVE " +
		"DOP DZD EGP ERN ETB FJD FKP GEL GHS GIP GMD GTQ GYD HNL HTG IDR IRR JMD KES KGS KHR KPW KYD KZT LAK " +
		"LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MRU MUR MVR MWK MYR MZN NAD NGN NIO NPR PAB PEN PGK PKR QAR " +
		"RSD RUB SAR SBD SCR SDG SHP SLE SOS SRD SSP STN SVC SYP SZL TJS TMT TOP TTD TZS UAH UYU UZS VES WST " +
		"XCD XCG YER ZMW ZWG",
	3: "BHD JOD KWD OMR TND IQD LYD",
})

func tableOf(lines map[int32]string) map[string]int32 {
	table := map[string]int32{}
	for n, codes := range lines {
		for code := range strings.FieldsSeq(codes) {
			table[code] = n
		}
	}
	return table
}

// Places is the number of decimal places of a currency's minor unit: 2 for
// EUR. It is not ok for an unknown currency.
func Places(currency string) (n int32, ok bool) {
	n, ok = places[currency]
	return n, ok
}

// Currencies returns all known currencies with their decimal places.
func Currencies() map[string]int32 { return maps.Clone(places) }

// Minor converts an amount into the currency's minor unit: 28.70 EUR is 2870.
// It is not ok for an unknown currency, a fraction of the minor unit, a
// negative amount, or more than can be booked at once.
func Minor(amount decimal.Decimal, currency string) (minor int64, ok bool) {
	n, known := places[currency]
	units := amount.Shift(n)
	if !known || !units.IsInteger() || units.IsNegative() || units.Cmp(most) > 0 {
		return 0, false
	}
	return units.IntPart(), true
}

// most is the largest amount in minor units that any provider books at once.
var most = decimal.New(99_999_999_999, 0)

// Major converts minor units into an amount: 2870 EUR is 28.70. An unknown
// currency counts as one with two decimal places.
func Major(minor int64, currency string) decimal.Decimal {
	n, known := places[strings.ToUpper(currency)]
	if !known {
		n = 2
	}
	return decimal.New(minor, -n)
}

// Format writes an amount in minor units for people: "28.70 EUR".
func Format(minor int64, currency string) string {
	amount := Major(minor, currency)
	return amount.StringFixed(-amount.Exponent()) + " " + strings.ToUpper(currency)
}
