package tax_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

// at is an address, with a tax id after a slash.
func at(text string) buyer.Details {
	address, id, _ := strings.Cut(text, "/")
	country, postalCode, _ := strings.Cut(address, " ")
	return buyer.Details{Country: country, PostalCode: postalCode, TaxID: id}
}

// told says how a sale is taxed, in one line.
func told(p tax.Policy, b buyer.Details) string {
	got := p.Decide(single, b, noon, "me")
	return strings.Join([]string{string(got.TaxKind), got.TaxCountry, got.Rate.String()}, " ")
}

// Each territory by its postal codes, as people write them, and each country that counts as
// another one. The seller is in Spain, or in the country that the row names.
func TestATerritoryIsTaxedByItsOwnRule(t *testing.T) {
	for _, c := range []struct{ home, buyer, want string }{
		{"ES", "ES 35001", "outside ES-CN 0"},
		{"ES", "ES 38700", "outside ES-CN 0"},
		{"ES", "ES 38 700/ESB12345678", "outside ES-CN 0"},
		{"ES", "ES E-35001", "outside ES-CN 0"},
		{"ES", "ES 28035", "standard ES 21"},
		{"ES", "ES 51001", "outside ES-CE 0"},
		{"ES", "ES 52006", "outside ES-ML 0"},
		{"ES", "ES 5", "standard ES 21"},
		{"ES", "FI 22100", "outside AX 0"},
		{"ES", "FI AX-22100", "outside AX 0"},
		{"ES", "AX 22100", "outside AX 0"},
		{"ES", "FI 00100", "oss FI 25.5"},
		{"ES", "MC 98000", "oss FR 20"},
		{"ES", "MC", "oss FR 20"},
		{"ES", "MC/FR12345678901", "reverse_charge FR 0"},
		{"FR", "MC/FR12345678901", "standard FR 20"},
		{"ES", "FR 98000", "oss FR 20"},
		{"ES", "FR 97110", "outside GP 0"},
		{"ES", "FR 97133", "outside BL 0"},
		{"ES", "FR 97150", "outside MF 0"},
		{"ES", "FR 97200", "outside MQ 0"},
		{"ES", "FR 97300", "outside GF 0"},
		{"ES", "FR 97400/FR12345678901", "outside RE 0"},
		{"ES", "FR 97600", "outside YT 0"},
		{"ES", "FR 97500", "outside PM 0"},
		{"ES", "FR 98600", "outside WF 0"},
		{"ES", "FR 98714", "outside PF 0"},
		{"ES", "FR 98800", "outside NC 0"},
		{"ES", "GP", "outside GP 0"},
		{"ES", "FR 20000", "oss FR 20"}, // Corsica
		{"ES", "IT 23041", "outside IT-LIVIGNO 0"},
		{"IT", "IT 23041", "outside IT-LIVIGNO 0"},
		{"ES", "IT 22061", "outside IT-CAMPIONE 0"},
		{"ES", "IT 23030", "oss IT 22"}, // others than Livigno
		{"ES", "DE 78266/DE123456789", "outside DE-BUESINGEN 0"},
		{"DE", "DE D-27498", "outside DE-HELGOLAND 0"},
		{"ES", "DE 78267", "oss DE 19"},
		{"ES", "GR 630 86", "outside GR-69 0"},
		{"ES", "GR 63087", "outside GR-69 0"},
		{"ES", "GR 63075", "oss GR 24"},
		{"ES", "DK 3900", "outside GL 0"},
		{"ES", "PT 9000-082", "oss PT 22"},
		{"ES", "PT 9500-119", "oss PT 16"},
		{"PT", "PT 9500-119", "standard PT 16"},
		{"PT", "PT 1000-001", "standard PT 23"},
		{"ES", "PT 9500-119/PT123456789", "reverse_charge PT 0"},
		{"ES", "GB BT1 1AA/XI123456789", "outside GB 0"},
		{"ES", "IM", "outside IM 0"},
		{"ES", "GB 35001", "outside GB 0"},
		{"ES", "US 35001", "outside US 0"},
		{"ES", "CH", "outside CH 0"},
		{"ES", "SM", "outside SM 0"},
		{"ES", "GI", "outside GI 0"},
		{"ES", "", "standard ES 21"},
		{"ES", " 35001", "standard ES 21"}, // without a country
	} {
		if got := told(tax.Policy{Mode: tax.OSS, Home: c.home, Rates: tax.European()}, at(c.buyer)); got != c.want {
			t.Errorf("%s sells to %q: %s, want %s", c.home, c.buyer, got, c.want)
		}
	}
	madeira := tax.Policy{Mode: tax.Seller, Home: "ES", Rates: tax.European()}
	if got := told(madeira, at("PT 9000-082")); got != "standard ES 21" {
		t.Errorf("by the seller's rate: %s", got)
	}
}

// The form of a tax id is that of the country that the buyer counts as, and is looked at only
// where the tax depends on it.
func TestATaxIDIsCheckedByTheCountryThatATerritoryCountsAs(t *testing.T) {
	for buyer, mistaken := range map[string]bool{
		"MC/FR12345678901": false, "MC/12": true, "FI 22100/12": false, "FI 00100/12": true, "GB/12": false, "ES 35001/12": false,
	} {
		var wrong field.Errors
		tax.Policy{Mode: tax.Seller, Home: "ES", Rates: tax.European()}.Check(at(buyer), &wrong)
		if (len(wrong) > 0) != mistaken {
			t.Errorf("%s: %v", buyer, wrong)
		}
	}
}

// Operators set a rate for a territory, take it into the country, or name one of their own.
func TestOperatorsOverruleTerritories(t *testing.T) {
	rows, err := tax.ParseTerritories("ES-CN:ES:35+38:inside, IT-SAMNAUN:IT:23032:outside,XK:XK::outside,MC:MC::outside,")
	if err == nil {
		t.Fatal("Kosovo has no code in ISO 3166", rows)
	}
	rows, err = tax.ParseTerritories("ES-CN:ES:35+38:inside, IT-NEW:IT:23032+23033:outside,MC:MC::outside,AX:FI:22:FI,AX:AX::FI,")
	if err != nil {
		t.Fatal(err)
	}
	rates, err := tax.ParseRows("ES-CE=10,US=0,PT-20=17@2026-01-01")
	if err != nil {
		t.Fatal(err)
	}
	p := tax.Policy{
		Mode: tax.OSS, Home: "ES", Rates: tax.European().Overruled(rates), Territories: tax.EuropeanTerritories().Overruled(rows),
	}
	for buyer, want := range map[string]string{
		"ES 35001": "standard ES 21", "ES 51001": "foreign ES-CE 10", "ES 52001": "outside ES-ML 0", "US": "foreign US 0",
		"PT 9500": "oss PT 17", "IT 23033": "outside IT-NEW 0", "MC/FR12345678901": "outside MC 0", "AX": "oss FI 25.5",
		"FI 22100": "oss FI 25.5",
	} {
		if got := told(p, at(buyer)); got != want {
			t.Errorf("%s: %s, want %s", buyer, got, want)
		}
	}
	for _, bad := range []string{
		"ES-CN", "ES-CN:ES:35", "ES-CN:ES:35:", "ES-CN:ES:35:away", "es-cn:ES:35:outside", "ES-CN:ES:3 5:outside",
		"ES-CN:XX:35:outside", ":ES:35:outside", "ES-CN:ES:35:outside:21", "ES_CN:ES::outside",
	} {
		if rows, err := tax.ParseTerritories(bad); err == nil {
			t.Errorf("%q is %+v", bad, rows)
		}
	}
}

// Outside the union the price is that of a sale at home without its tax, for businesses and
// for consumers; at a rate of operators the price stays.
func TestOutsideTheUnionAPriceBearsNoTax(t *testing.T) {
	rates := tax.European().Overruled(tax.Table{{Country: "CH", Percent: d("8.1")}, {Country: "AU"}})
	p := tax.Policy{Mode: tax.Seller, Home: "ES", Rates: rates}
	for buyer, want := range map[string]string{"US": "10.00 0.00", "ES 35001": "10.00 0.00", "CH": "12.10 0.91", "AU": "12.10 0.00"} {
		got := p.Decide(single, at(buyer), noon, "me").Totals(d("12.10"), d("0"), "EUR", false)
		if told := got.Total.StringFixed(2) + " " + got.Tax.StringFixed(2); told != want {
			t.Errorf("%s: %s, want %s", buyer, told, want)
		}
	}
}

// A sale without tax names its reason in every language, and a tax in place of VAT its name.
func TestATreatmentWithoutTaxNamesItsReason(t *testing.T) {
	zero := d("0")
	for _, language := range texts.Languages() {
		outside := tax.Treatment{TaxKind: tax.Outside, TaxCountry: "US"}
		if note := outside.Note(zero, language); !strings.Contains(note, "2006/112") ||
			(tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "US"}).Note(zero, language) != note {
			t.Errorf("%s: %q", language, note)
		}
		if note := (tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "ES-CN"}).Note(d("7"), language); note != "IGIC" {
			t.Errorf("%s: %q", language, note)
		}
	}
	for _, c := range []struct {
		treated             tax.Treatment
		country, code, want string
	}{
		{tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "ES-CN"}, "ES", "28001", "IGIC"},
		{tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "ES-ML"}, "ES", "28001", "IPSI"},
		{tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "CH"}, "ES", "35001", ""},
		{tax.Treatment{}, "ES", "35001", "IGIC"},
		{tax.Treatment{}, "ES", "51001", "IPSI"},
		{tax.Treatment{}, "ES", "28001", ""},
		{tax.Treatment{TaxKind: tax.Standard}, "ES", "35001", ""},
	} {
		if got := c.treated.IslandTax(c.country, c.code); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// A form knows of every country and territory whether it has a rate, bears no tax, or counts as
// another one.
func TestAFormKnowsEveryPlaceOfTax(t *testing.T) {
	rates := tax.European().Overruled(tax.Table{{Country: "CH", Percent: d("8.1")}, {Country: "ES-CN", Percent: d("7")}})
	f, ok := tax.Policy{Mode: tax.OSS, Home: "ES", Rates: rates}.Form(noon)
	if !ok || f.Home != "ES" || !f.Rate.Equal(d("21")) || len(f.Countries) != 28 || slices.Contains(f.Countries, "ES-CN") {
		t.Fatalf("%+v", f)
	}
	for _, code := range buyer.Countries() {
		known := slices.Contains(f.Countries, code) || slices.Contains(f.Untaxed, code) || code == "MC"
		if !known || slices.Contains(f.Countries, code) && slices.Contains(f.Untaxed, code) {
			t.Errorf("%s has no place in the form, or two", code)
		}
	}
	for code, untaxed := range map[string]bool{"ES-CN": false, "ES-CE": true, "IT-LIVIGNO": true, "PT-20": false, "MC": false, "US": true} {
		if slices.Contains(f.Untaxed, code) != untaxed {
			t.Errorf("%s bears no tax: %v", code, !untaxed)
		}
	}
	if _, ok := (tax.Policy{}).Form(noon); ok {
		t.Error("a single rate does not depend on the buyer")
	}
}
