package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/tax"
)

const aSeller = `{"name":"Hoster SL","address":"Calle Mayor 1","city":"Madrid","country":"ES","tax_id":"ESB12345678"}`

// Without the setting invoices name no seller. A demo has one of its own.
func TestTheSellerOfInvoicesIsSet(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		demo bool
		want billing.Seller
	}{
		{Settings{Seller: aSeller}, false, billing.Seller{
			Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid",
			Country: "ES", TaxID: "ESB12345678",
		}},
		{Settings{}, false, billing.Seller{}},
		{Settings{}, true, billing.Seller{
			Name: "Demo Hosting", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28013",
			Country: "ES", TaxID: "ESB00000000",
		}},
	} {
		if got, err := New(c.set, c.demo); err != nil || got.Policy.Seller != c.want {
			t.Errorf("%+v: %+v, %v", c.set, got, err)
		}
	}
}

// Without the setting there is a single rate. A table of an operator goes before that of the
// program.
func TestTheRatesOfTaxAreSet(t *testing.T) {
	for _, c := range []struct {
		set      Settings
		mode     tax.Mode
		portugal string // its rate in 2026
		warnings int    // about tax
	}{
		{Settings{}, tax.Single, "", 0},
		{Settings{Tax: "single", TaxRate: "21"}, tax.Single, "", 0},
		{Settings{TaxRates: "PT=24"}, tax.Single, "", 1},
		{Settings{Tax: "seller", Seller: aSeller}, tax.Seller, "23", 0},
		{Settings{Tax: "oss", Seller: aSeller, TaxRates: "PT=24@2026-01-01, CH=8.1"}, tax.OSS, "24", 0},
		{Settings{Tax: "oss", Seller: aSeller, TaxRate: "21"}, tax.OSS, "23", 1},
		{Settings{Territories: "PT-30:PT:90:inside"}, tax.Single, "", 1},
		{Settings{Tax: "oss", Seller: aSeller, Territories: "PT-30:PT:90:outside"}, tax.OSS, "23", 0},
	} {
		got, err := New(c.set, false)
		if err != nil {
			t.Fatal(err)
		}
		about := slices.DeleteFunc(got.Warnings(), func(w string) bool { return !strings.HasPrefix(w, "HOSTPANEL_TAX") })
		rate, known := got.Policy.Tax.Rates.At("PT", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
		if got.Policy.Tax.Mode != c.mode || len(about) != c.warnings || known != (c.portugal != "") || known &&
			rate.String() != c.portugal || known && got.Policy.Tax.Home != "ES" {
			t.Errorf("%+v: %+v, %v", c.set, got.Policy.Tax, about)
		}
	}
}

// Rows of an operator take the place of territories that the program knows. The others stay.
func TestTheTerritoriesOfTaxAreSet(t *testing.T) {
	got, err := New(Settings{Tax: "oss", Seller: aSeller, Territories: "PT-30:PT:90+91:outside"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{"9000": "PT-30", "9400": "PT", "35001": "PT"} {
		decided := got.Policy.Tax.Decide(decimal.Zero, buyer.Details{Country: "PT", PostalCode: code}, time.Now(), "me")
		if decided.TaxCountry != want {
			t.Errorf("%s: %+v", code, decided)
		}
	}
	canary := got.Policy.Tax.Decide(decimal.Zero, buyer.Details{Country: "ES", PostalCode: "35001"}, time.Now(), "me")
	if canary.TaxKind != tax.Outside || canary.TaxCountry != "ES-CN" {
		t.Errorf("%+v", canary)
	}
}

func TestThePolicyForOrdersIsSet(t *testing.T) {
	plain, err := New(Settings{}, false)
	if err != nil || plain.Policy.KeepDisputed || plain.Policy.RefundLate || plain.Policy.RefundGrace != nil {
		t.Errorf("%+v %v", plain.Policy, err)
	}
	set, err := New(Settings{Disputes: "notify", LatePayments: "refund", RefundGrace: "0"}, false)
	if err != nil || !set.Policy.KeepDisputed || !set.Policy.RefundLate || set.Policy.RefundGrace == nil ||
		*set.Policy.RefundGrace != 0 {
		t.Errorf("%+v %v", set.Policy, err)
	}
	same, err := New(Settings{Disputes: "suspend", LatePayments: "reopen"}, false)
	if err != nil || same.Policy.KeepDisputed || same.Policy.RefundLate {
		t.Errorf("%+v %v", same.Policy, err)
	}
}

func TestTheTermsOfRenewalsAreSet(t *testing.T) {
	plain, err := New(Settings{}, false)
	if err != nil || !reflect.DeepEqual(plain.Policy.Terms, billing.UsualTerms) {
		t.Errorf("%+v %v", plain.Policy.Terms, err)
	}
	set, err := New(Settings{InvoiceDays: "0", ReminderDays: "-1, 2", ChargeDays: "2,9", SuspendDays: "5", EndDays: "10"},
		false)
	want := billing.Terms{
		Reminders: []time.Duration{-day, 2 * day}, Retries: []time.Duration{2 * day, 9 * day},
		Grace: 5 * day, Keep: 10 * day, Warning: 5 * day,
	}
	if err != nil || !reflect.DeepEqual(set.Policy.Terms, want) {
		t.Errorf("%+v %v", set.Policy.Terms, err)
	}
}
