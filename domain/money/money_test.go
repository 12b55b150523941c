package money_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"
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
		got := money.TotalsOf(d(c.monthly), d(c.setup), d(c.rate), "EUR", c.yearly)
		shown := []string{got.Period.StringFixed(4), got.Total.StringFixed(2), got.Subtotal.StringFixed(2), got.Tax.StringFixed(2)}
		if want := []string{c.period, c.total, c.subtotal, c.tax}; fmt.Sprint(shown) != fmt.Sprint(want) {
			t.Errorf("%s + %s at %s %%, yearly %v: %v, want %v", c.monthly, c.setup, c.rate, c.yearly, shown, want)
		}
	}
}

// M-3: a year in a currency without cents costs whole units, half up, so that it can be charged.
func TestAYearCostsWholeUnitsOfACurrencyWithoutCents(t *testing.T) {
	for monthly, want := range map[string]string{"99": "950", "980": "9408", "101": "970", "1": "10"} {
		got := money.TotalsOf(d(monthly), d("5"), d("10"), "JPY", true)
		if !got.Period.Equal(d(want)) || !got.Total.Equal(d(want).Add(d("5"))) {
			t.Errorf("%s yen a month are %s a year, in all %s", monthly, got.Period, got.Total)
		}
		if _, ok := money.Minor(got.Total, "JPY"); !ok {
			t.Errorf("%s JPY cannot be charged", got.Total)
		}
	}
}

// M-2: the setup fee is added once and gets no discount.
func TestAYearCostsTwelveMonthsLessTwentyPercent(t *testing.T) {
	got := money.TotalsOf(d("10"), d("7.50"), d("0"), "EUR", true)
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
		got := money.TotalsOf(monthly, setup, rate, "EUR", yearly)

		if !got.Subtotal.Add(got.Tax).Equal(got.Total) || got.Tax.IsNegative() {
			t.Fatalf("%s + %s is not %s", got.Subtotal, got.Tax, got.Total)
		}
		if off := got.Total.Sub(got.Period.Add(setup)).Abs(); off.Cmp(d("0.005")) > 0 {
			t.Fatalf("the total is off by %s", off)
		}
		minor, ok := money.Minor(got.Total, "EUR")
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
					got := money.TotalsOf(monthly, decimal.Zero, rate, "EUR", yearly)
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
		minor, ok := money.Minor(total, currency)
		if whole := total.Shift(places).IsInteger(); ok != whole || ok && !decimal.New(minor, -places).Equal(total) {
			t.Fatalf("%s %s is %d (%v)", total, currency, minor, ok)
		}
	}
}

// M-6, M-7.
func TestAmountsAreCountedInTheMinorUnitOfTheirCurrency(t *testing.T) {
	for _, c := range []struct {
		currency, amount string
		minor            int64
		ok               bool
	}{
		{"EUR", "28.70", 2870, true},
		{"HUF", "100.50", 10050, true},
		{"JPY", "500", 500, true},
		{"JPY", "500.50", 0, false},
		{"KRW", "1000", 1000, true},
		{"KWD", "1.23", 1230, true},
		{"ISK", "100", 100, true},
		{"RON", "100.50", 10050, true},
		{"DEM", "100", 0, false},
		{"eur", "1", 0, false},
		{"EUR USD", "1", 0, false},
		{"", "1", 0, false},
		{"EUR", "0", 0, true},
		{"EUR", "-1", 0, false},
		{"EUR", "1000000000", 0, false},
		{"EUR", "0.005", 0, false},
	} {
		minor, ok := money.Minor(d(c.amount), c.currency)
		if ok != c.ok || ok && minor != c.minor {
			t.Errorf("%s %s: %d (%v), want %d (%v)", c.amount, c.currency, minor, ok, c.minor, c.ok)
		}
		if ok && !money.Major(minor, c.currency).Equal(d(c.amount)) {
			t.Errorf("%d %s is %s again", minor, c.currency, money.Major(minor, c.currency))
		}
	}
}

func TestAmountsAreWrittenWithTheirPlaces(t *testing.T) {
	for want, got := range map[string]string{
		// not in the table: two places
		"28.70 EUR": money.Format(2870, "eur"), "500 JPY": money.Format(500, "JPY"),
		"1.230 KWD": money.Format(1230, "KWD"), "1.00 ZZZ": money.Format(100, "ZZZ"),
	} {
		if got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
}

// M-7: every currency of ISO 4217 that people pay with is known, and no other one.
func TestEveryCurrencyHasItsPlaces(t *testing.T) {
	young := strings.Fields("MRU SLE VES XCG ZWG") // than the data of the library
	for code, places := range money.Currencies() {
		unit, err := currency.ParseISO(code)
		if (err != nil) != slices.Contains(young, code) {
			t.Errorf("%s: %v", code, err)
		}
		if usual, _ := currency.Standard.Rounding(unit); err == nil && int(places) < usual {
			t.Errorf("%s has %d places, and %d in use", code, places, usual)
		}
	}
	for code, want := range map[string]int32{
		"EUR": 2, "HUF": 2, "RON": 2, "TRY": 2, "INR": 2, "ZAR": 2, "COP": 2, "JPY": 0, "ISK": 0, "UGX": 0, "KWD": 3, "IQD": 3,
	} {
		if got, ok := money.Places(code); !ok || got != want {
			t.Errorf("%s has %d places (%v)", code, got, ok)
		}
	}
	for _, unknown := range []string{"", "eur", "EU", "EURO", "EUR USD", "DEM", "XAU", "XXX"} {
		if _, ok := money.Places(unknown); ok {
			t.Errorf("%q is known", unknown)
		}
	}
}

func ExampleTotalsOf() {
	year := money.TotalsOf(d("2.99"), d("0"), d("21"), "EUR", true)
	fmt.Println(year.Period.StringFixed(4), year.Total.StringFixed(2), "=", year.Subtotal.StringFixed(2), "+", year.Tax.StringFixed(2))
	// Output: 28.7040 28.70 = 23.72 + 4.98
}
