package money_test

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"hostpanel/domain/money"
)

func d(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// M-2, M-3: the golden cases.
func TestTotalsAreThoseOfTheContract(t *testing.T) {
	for _, c := range []struct {
		monthly, setup, rate         string
		yearly                       bool
		period, total, subtotal, tax string
	}{
		{"2.99", "0", "21", true, "28.7040", "28.70", "23.72", "4.98"},
		{"49.90", "5", "21", true, "479.0400", "484.04", "400.03", "84.01"},
		{"10.0050", "0", "21", false, "10.0050", "10.01", "8.27", "1.74"},
		{"0.005", "0", "0", false, "0.0050", "0.01", "0.01", "0.00"},
		{"0", "0", "21", false, "0.0000", "0.00", "0.00", "0.00"},
	} {
		got := money.TotalsOf(d(c.monthly), d(c.setup), d(c.rate), c.yearly)
		shown := []string{got.Period.StringFixed(4), got.Total.StringFixed(2), got.Subtotal.StringFixed(2), got.Tax.StringFixed(2)}
		if want := []string{c.period, c.total, c.subtotal, c.tax}; fmt.Sprint(shown) != fmt.Sprint(want) {
			t.Errorf("%s + %s at %s %%, yearly %v: %v, want %v", c.monthly, c.setup, c.rate, c.yearly, shown, want)
		}
	}
}

// M-2: the setup fee is added once and gets no discount.
func TestAYearCostsTwelveMonthsLessTwentyPercent(t *testing.T) {
	got := money.TotalsOf(d("10"), d("7.50"), d("0"), true)
	if !got.Period.Equal(d("96")) || !got.Total.Equal(d("103.50")) {
		t.Errorf("period %s, total %s", got.Period, got.Total)
	}
}

// M-3, M-6: whatever the prices, the parts add up and nothing is lost on the
// way to the provider.
func TestPartsAddUpAndMinorUnitsAreTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string, most int64) decimal.Decimal {
			return decimal.New(rapid.Int64Range(0, most).Draw(t, name), -4)
		}
		rate := decimal.New(rapid.Int64Range(0, 9999).Draw(t, "rate"), -2)
		monthly, setup := amount("monthly", 99_999_999), amount("setup", 99_999_999)
		yearly := rapid.Bool().Draw(t, "yearly")
		got := money.TotalsOf(monthly, setup, rate, yearly)

		if !got.Subtotal.Add(got.Tax).Equal(got.Total) || got.Tax.IsNegative() {
			t.Fatalf("%s + %s is not %s", got.Subtotal, got.Tax, got.Total)
		}
		if off := got.Total.Sub(got.Period.Add(setup)).Abs(); off.Cmp(d("0.005")) > 0 {
			t.Fatalf("the total is off by %s", off)
		}
		minor, ok := money.Chargeable(money.Stripe, "EUR", got.Total)
		if !ok || !decimal.New(minor, -2).Equal(got.Total) {
			t.Fatalf("%s is %d (%v)", got.Total, minor, ok)
		}
	})
}

// M-3, M-6: every price up to 30.00, and prices of four places, for both
// periods, at the rates of Europe and the ends of the range.
func TestEveryTotalAddsUp(t *testing.T) {
	rates := []string{"0", "2.6", "4", "5.5", "7", "8.1", "10", "13.5", "17", "19", "20", "21", "25.5", "27", "99.99"}
	for _, text := range rates {
		rate := d(text)
		for cent := range int64(3001) {
			for _, monthly := range []decimal.Decimal{decimal.New(cent, -2), decimal.New(cent*101, -4)} {
				for _, yearly := range []bool{false, true} {
					got := money.TotalsOf(monthly, decimal.Zero, rate, yearly)
					if !got.Subtotal.Add(got.Tax).Equal(got.Total) || got.Tax.IsNegative() || !got.Total.Equal(got.Total.Round(2)) {
						t.Fatalf("%s at %s percent: %s + %s is not %s", monthly, rate, got.Subtotal, got.Tax, got.Total)
					}
					if text == rates[0] {
						chargeable(t, got.Total)
					}
				}
			}
		}
	}
}

// chargeable checks an amount in a currency with each number of places.
func chargeable(t *testing.T, total decimal.Decimal) {
	t.Helper()
	for currency, places := range map[string]int32{"JPY": 0, "EUR": 2, "BHD": 3} {
		minor, ok := money.Chargeable(money.Stripe, currency, total)
		if whole := total.Shift(places).IsInteger(); ok != whole || ok && !decimal.New(minor, -places).Equal(total) {
			t.Fatalf("%s %s is %d (%v)", total, currency, minor, ok)
		}
	}
}

// M-6, M-7, M-10.
func TestEachProviderCountsMoneyItsOwnWay(t *testing.T) {
	for _, c := range []struct {
		provider, currency, total string
		minor                     int64
		ok                        bool
	}{
		{"stripe", "EUR", "28.70", 2870, true},
		{"test", "EUR", "28.70", 2870, true},
		{"paypal", "EUR", "28.70", 2870, true},
		{"stripe", "HUF", "100.50", 10050, true},
		{"paypal", "HUF", "100.50", 0, false}, // PayPal knows no parts of a forint
		{"paypal", "HUF", "100", 100, true},
		{"stripe", "JPY", "500", 500, true},
		{"stripe", "JPY", "500.50", 0, false},
		{"stripe", "KRW", "1000", 1000, true},
		{"paypal", "KRW", "1000", 0, false},
		{"stripe", "KWD", "1.23", 1230, true}, // three places, the last is 0
		{"paypal", "KWD", "1.23", 0, false},
		{"stripe", "ISK", "100", 0, false},
		{"stripe", "UGX", "100", 0, false},
		{"stripe", "eur", "1", 0, false},
		{"stripe", "EUR USD", "1", 0, false},
		{"stripe", "", "1", 0, false},
		{"cash", "EUR", "1", 0, false},
		{"stripe", "EUR", "0", 0, true},
		{"test", "EUR", "0", 0, true},
		{"paypal", "EUR", "0", 0, false},
		{"stripe", "EUR", "-1", 0, false},
		{"stripe", "EUR", "1000000000", 0, false},
		{"stripe", "EUR", "0.005", 0, false},
	} {
		minor, ok := money.Chargeable(c.provider, c.currency, d(c.total))
		if ok != c.ok || ok && minor != c.minor {
			t.Errorf("%s %s at %s: %d (%v), want %d (%v)", c.total, c.currency, c.provider, minor, ok, c.minor, c.ok)
		}
	}
}

// M-7: every currency of the table, as it stands in docs/orders.md.
func TestEveryCurrencyHasItsPlaces(t *testing.T) {
	want := map[string][2]int32{"HUF": {2, 0}, "TWD": {2, 0}, "JPY": {0, 0}}
	for _, c := range []string{"EUR", "USD", "GBP", "CHF", "PLN", "SEK", "NOK", "DKK", "CZK", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "BRL", "ILS", "PHP", "THB"} {
		want[c] = [2]int32{2, 2}
	}
	for _, c := range []string{"KRW", "CLP", "VND", "PYG", "XAF", "XOF", "XPF", "RWF", "BIF", "DJF", "GNF", "KMF", "MGA", "VUV"} {
		want[c] = [2]int32{0, -1}
	}
	for _, c := range []string{"BHD", "JOD", "KWD", "OMR", "TND"} {
		want[c] = [2]int32{3, -1}
	}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			for c := 'A'; c <= 'Z'; c++ {
				currency := string([]rune{a, b, c})
				places, listed := want[currency]
				if money.Known(currency) != listed {
					t.Fatalf("%s is known: %v", currency, !listed)
				}
				if stripe, ok := money.Places(money.Stripe, currency); ok != listed || ok && stripe != places[0] {
					t.Errorf("%s at Stripe: %d (%v)", currency, stripe, ok)
				}
				paypal, ok := money.Places(money.PayPal, currency)
				if taken := listed && places[1] >= 0; ok != taken || ok && paypal != places[1] {
					t.Errorf("%s at PayPal: %d (%v)", currency, paypal, ok)
				}
			}
		}
	}
}

func ExampleTotalsOf() {
	year := money.TotalsOf(d("2.99"), d("0"), d("21"), true)
	fmt.Println(year.Period.StringFixed(4), year.Total.StringFixed(2), "=", year.Subtotal.StringFixed(2), "+", year.Tax.StringFixed(2))
	// Output: 28.7040 28.70 = 23.72 + 4.98
}
