package tax_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

func d(text string) decimal.Decimal { return decimal.RequireFromString(text) }

var (
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	single = d("21")
	rates  = tax.European().Overruled(tax.Table{{Country: "CH", Percent: d("8.1")}, {Country: "US"}})
)

func of(country, id string) buyer.Details { return buyer.Details{Country: country, TaxID: id} }

// A seller in Spain, each sort of buyer, and each mode.
func TestEachBuyerIsTaxedByTheModeOfThePanel(t *testing.T) {
	for _, c := range []struct {
		buyer               buyer.Details
		single, seller, oss string
	}{
		{of("", ""), "- 21", "standard ES 21", "standard ES 21"},
		{of("ES", ""), "- 21", "standard ES 21", "standard ES 21"},
		{of("ES", "ESB12345678"), "- 21", "standard ES 21", "standard ES 21"},
		{of("ES", "12"), "- 21", "standard ES 21", "standard ES 21"},
		{of("FR", ""), "- 21", "standard ES 21", "oss FR 20"},
		{of("FI", ""), "- 21", "standard ES 21", "oss FI 25.5"},
		{of("FR", "FR12345678901"), "- 21", "reverse_charge FR 0", "reverse_charge FR 0"},
		{of("GR", "EL 123.456-789"), "- 21", "reverse_charge GR 0", "reverse_charge GR 0"},
		{of("FR", "DE123456789"), "- 21", "standard ES 21", "oss FR 20"}, // Check refuses it first
		{of("GB", "XI123456789"), "- 21", "outside GB 0", "outside GB 0"},
		{of("MX", ""), "- 21", "outside MX 0", "outside MX 0"},
		{of("CH", "CHE-123.456.788"), "- 21", "foreign CH 8.1", "foreign CH 8.1"},
		{of("US", ""), "- 21", "foreign US 0", "foreign US 0"},
	} {
		for mode, want := range map[tax.Mode]string{"": c.single, tax.Single: c.single, tax.Seller: c.seller, tax.OSS: c.oss} {
			got := tax.Policy{Mode: mode, Home: "ES", Rates: rates}.Decide(single, c.buyer, noon, "system:storefront")
			told := strings.Join(strings.Fields(string(got.TaxKind)+" "+got.TaxCountry+" "+got.Rate.String()), " ")
			if got.TaxKind == "" {
				told = "- " + told
			}
			if told != want {
				t.Errorf("%+v by %q: %s, want %s", c.buyer, mode, told, want)
			}
			isReversed := got.TaxKind == tax.ReverseCharge
			if (got.TaxIDAcceptedBy == "system:storefront") != isReversed || !isReversed && got.TaxIDAcceptedBy != "" ||
				got.TaxRemoved.Equal(d("21")) != (isReversed || got.TaxKind == tax.Outside) {
				t.Errorf("%+v by %q: %+v", c.buyer, mode, got)
			}
		}
	}
}

// Only a tax id on which the treatment depends is checked.
func TestATaxIDOfAWrongFormIsRefusedWhereTheTaxDependsOnIt(t *testing.T) {
	const french = "customer_tax_id: Enter a valid VAT identification number of FR, such as FR12345678901."
	for _, c := range []struct {
		mode  tax.Mode
		buyer buyer.Details
		wrong string
	}{
		{tax.Single, of("FR", "12"), ""},
		{tax.Seller, of("FR", "12"), french},
		{tax.OSS, of("FR", "12345678901"), french},
		{tax.OSS, of("FR", "ESB12345678"), french},
		{tax.OSS, of("FR", ""), ""},
		{tax.OSS, of("FR", "FR 12 345678901"), ""},
		{tax.OSS, of("ES", "12"), ""},
		{tax.OSS, of("CH", "12"), ""},
	} {
		var wrong field.Errors
		tax.Policy{Mode: c.mode, Home: "ES", Rates: rates}.Check(c.buyer, &wrong)
		if wrong.Error() != c.wrong {
			t.Errorf("%q, %+v: %v", c.mode, c.buyer, wrong)
		}
	}
}

func TestARateHoldsFromItsDayOn(t *testing.T) {
	for _, c := range []struct{ country, day, want string }{
		{"EE", "2023-12-31", "20"},
		{"EE", "2024-01-01", "22"},
		{"EE", "2025-06-30", "22"},
		{"EE", "2025-07-01", "24"},
		{"FI", "2024-08-31", "24"},
		{"FI", "2024-09-01", "25.5"},
		{"SK", "2024-12-31", "20"},
		{"SK", "2025-01-01", "23"},
		{"RO", "2025-07-31", "19"},
		{"RO", "2025-08-01", "21"},
		{"EE", "1999-01-01", "20"}, // before the first row
		{"CH", "2026-01-01", ""},
		{"", "2026-01-01", ""},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Time{day, day.Add(24*time.Hour - time.Nanosecond)} {
			rate, known := tax.European().At(c.country, at)
			if known != (c.want != "") || known && !rate.Equal(d(c.want)) {
				t.Errorf("%s on %s: %s (%v)", c.country, at, rate, known)
			}
		}
	}
}

// The table has the 27 member states, in order, with rates that the directive allows.
func TestTheTableHasEveryMemberState(t *testing.T) {
	var countries []string
	last := tax.Row{}
	for _, r := range tax.European() {
		if r.From.IsZero() || r.Country < last.Country || r.Country == last.Country && !r.From.After(last.From) {
			t.Errorf("%+v stands after %+v", r, last)
		}
		if r.Percent.LessThan(d("15")) || r.Percent.GreaterThan(d("27")) || !tax.IsMember(r.Country) {
			t.Errorf("%+v", r)
		}
		countries, last = append(countries, r.Country), r
	}
	countries = slices.Compact(countries)
	if len(countries) != 27 ||
		strings.Join(countries, " ") != "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK" {
		t.Error(len(countries), countries)
	}
	for _, country := range countries {
		if example := tax.ExampleID(country); !tax.IsVATID(country, example) {
			t.Errorf("%q is no id of %s", example, country)
		}
	}
	if tax.IsMember("GB") || tax.IsMember("XI") || tax.IsMember("EL") || tax.IsMember("") {
		t.Error("a country is a member state that is none")
	}
}

// From the day of its first row on, a country has the rows of the operator alone.
func TestOperatorsOverruleRates(t *testing.T) {
	for _, c := range []struct{ rows, country, day, want string }{
		{"ES=22", "ES", "2020-01-01", "22"},
		{"ES=22", "FR", "2020-01-01", "20"},
		{"PT=24@2027-01-01", "PT", "2026-12-31", "23"},
		{"PT=24@2027-01-01", "PT", "2027-01-01", "24"},
		{"PT=24@2027-01-01, PT=22.5@2028-01-01", "PT", "2027-12-31", "24"},
		{"PT=22.5@2028-01-01,PT=24@2027-01-01", "PT", "2028-01-01", "22.5"},
		{"RO=20@2025-01-01", "RO", "2024-12-31", "19"},
		{"RO=20@2025-01-01", "RO", "2025-09-01", "20"}, // the row of August 2025 is gone
		{"CH=8.1,", "CH", "2026-01-01", "8.1"},
		{"", "ES", "2026-01-01", "21"},
	} {
		rows, err := tax.ParseRows(c.rows)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		if rate, known := tax.European().Overruled(rows).At(c.country, day); !known || !rate.Equal(d(c.want)) {
			t.Errorf("%q: %s on %s is %s (%v)", c.rows, c.country, c.day, rate, known)
		}
	}
	for _, bad := range []string{
		"ES", "ES=", "ES=x", "ES=-1", "ES=101", "ES=21.005", "EL=24", "es=21", "=21", "ES=21@", "ES=21@2026-13-01",
		"ES=21,ES=22", "ES=21@2026-01-01,ES=22@2026-01-01",
	} {
		if rows, err := tax.ParseRows(bad); err == nil {
			t.Errorf("%q is %+v", bad, rows)
		}
	}
}

func TestVATIDsAreCheckedByTheirForm(t *testing.T) {
	for id, isOne := range map[string]bool{
		"ATU12345678": true, "AT12345678": false, "BE1123456789": true, "BE2123456789": false, "BG1234567890": true,
		"CY12345678X": true, "CY123456789": false, "CZ12345678": true, "DE12345678": false, "ESB12345678": true,
		"ESX1234567L": true, "ES12345678Z": true, "ES123456789": false,
		"FRK7399859412": true, "FROO123456789": false, "GR123456789": false, "IE1234567WA": true, "IE1A23456B": true, "IE1234567": false,
		"LT123456789012": true, "LT1234567890": false, "NL123456789B01": true, "NL123456789001": false, "RO12": true,
		"RO1": false, "SE123456789012": true,
		"XI123456789": false, "GB123456789": false, "": false, "FR": false, "FR12345678901X": false, "FR12345678901\n": false,
	} {
		country, _, _ := strings.Cut(id+"  ", " ")
		if country = (country + "  ")[:2]; tax.IsVATID(country, id) != isOne {
			t.Errorf("%q is one: %v", id, !isOne)
		}
	}
	if !tax.IsVATID("FR", "fr 12-345.678.901") || tax.IsVATID("GR", "GR123456789") || !tax.IsVATID("GR", "EL123456789") {
		t.Error("separators, or the prefix of Greece")
	}
}

// Whatever is sold, in whatever currency: parts add up, a treatment without reverse charge
// changes no total, and reverse charge takes out exactly the tax of a sale at home.
func TestTotalsOfEveryTreatment(t *testing.T) {
	table := tax.European()
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string, most int64) decimal.Decimal {
			return decimal.New(rapid.Int64Range(0, most).Draw(t, name), -4)
		}
		monthly, setup := amount("monthly", 99_999_999), amount("setup", 99_999_999)
		yearly := rapid.Bool().Draw(t, "yearly")
		currency := rapid.SampledFrom([]string{"EUR", "JPY", "KWD", "SEK"}).Draw(t, "currency")
		home := rapid.SampledFrom(table).Draw(t, "home").Country
		country := rapid.SampledFrom(table).Draw(t, "country").Country
		id := rapid.SampledFrom([]string{"", tax.ExampleID(country)}).Draw(t, "id")
		policy := tax.Policy{Mode: rapid.SampledFrom([]tax.Mode{tax.Single, tax.Seller, tax.OSS}).Draw(t, "mode"), Home: home, Rates: table}

		decided := policy.Decide(single, of(country, id), noon, "me")
		got := decided.Totals(monthly, setup, currency, yearly)
		if !got.Subtotal.Add(got.Tax).Equal(got.Total) || got.Tax.IsNegative() || !got.Total.Equal(got.Total.Round(2)) {
			t.Fatalf("%+v: %+v", decided, got)
		}
		rate, _ := table.At(home, noon)
		atHome := money.TotalsOf(monthly, setup, rate, currency, yearly)
		if !got.Period.Equal(atHome.Period) {
			t.Fatalf("a period at %s, at home at %s", got.Period, atHome.Period)
		}
		if decided.TaxKind != tax.ReverseCharge {
			want := money.TotalsOf(monthly, setup, decided.Rate, currency, yearly)
			if !got.Total.Equal(atHome.Total) || !got.Tax.Equal(want.Tax) {
				t.Fatalf("%+v: %+v, at home %+v", decided, got, atHome)
			}
			return
		}
		if !got.Tax.IsZero() || !decided.Rate.IsZero() {
			t.Fatalf("reverse charge with a tax: %+v", got)
		}
		switch places, _ := money.Places(currency); {
		case places == 0:
			if !got.Total.IsInteger() || got.Total.Sub(atHome.Subtotal).Abs().GreaterThan(d("0.51")) {
				t.Fatalf("%s %s, at home without tax %s", got.Total, currency, atHome.Subtotal)
			}
		case !got.Total.Equal(atHome.Subtotal):
			t.Fatalf("%s, at home without tax %s", got.Total, atHome.Subtotal)
		}
		if _, ok := money.Minor(got.Total, currency); !ok {
			t.Fatalf("%s %s cannot be charged", got.Total, currency)
		}
	})
}

// What the customer has asked for, in figures: 12.10 a month at home is 10.00 under reverse
// charge, and 12.10 with 20 percent inside in France.
func TestOnePriceInEachTreatment(t *testing.T) {
	policy := tax.Policy{Mode: tax.OSS, Home: "ES", Rates: tax.European()}
	for _, c := range []struct {
		buyer                                      buyer.Details
		monthly, setup, currency, total, sub, owed string
		yearly                                     bool
	}{
		{of("ES", ""), "12.10", "0", "EUR", "12.10", "10.00", "2.10", false},
		{of("FR", ""), "12.10", "0", "EUR", "12.10", "10.08", "2.02", false},
		{of("FR", "FR12345678901"), "12.10", "0", "EUR", "10.00", "10.00", "0.00", false},
		{of("FR", "FR12345678901"), "12.10", "12.10", "EUR", "20.00", "20.00", "0.00", false},
		{of("FR", "FR12345678901"), "2.99", "0", "EUR", "23.72", "23.72", "0.00", true},
		{of("FR", "FR12345678901"), "1000", "0", "JPY", "826.00", "826.00", "0.00", false},
		{of("FR", "FR12345678901"), "1.23", "0", "KWD", "1.02", "1.02", "0.00", false},
	} {
		got := policy.Decide(single, c.buyer, noon, "me").Totals(d(c.monthly), d(c.setup), c.currency, c.yearly)
		if !got.Total.Equal(d(c.total)) || !got.Subtotal.Equal(d(c.sub)) || !got.Tax.Equal(d(c.owed)) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// Events of the mode that needs no table are as they were before there were others.
func TestATreatmentOfTheSingleRateLeavesNoTrace(t *testing.T) {
	text, err := json.Marshal(tax.Policy{}.Decide(single, of("FR", "FR12345678901"), noon, "me").Treatment)
	if err != nil || string(text) != "{}" {
		t.Error(string(text), err)
	}
	reversed := tax.Policy{Mode: tax.Seller, Home: "ES", Rates: rates}.Decide(single, of("FR", "FR12345678901"), noon, "me").Treatment
	text, err = json.Marshal(reversed)
	if err != nil || string(text) != `{"tax_kind":"reverse_charge","tax_country":"FR","tax_removed":"21","tax_id_accepted_by":"me"}` {
		t.Error(string(text), err)
	}
	for _, language := range texts.Languages() {
		standard := tax.Treatment{TaxKind: tax.Standard}
		if reversed.Note(d("0"), language) == "" || standard.Note(d("0"), language) != "" {
			t.Error("the note in", language)
		}
	}
}
