package config

import (
	"reflect"
	"testing"
	"time"

	"hostpanel/domain/billing"
)

const aSeller = `{"name":"Hoster SL","address":"Calle Mayor 1","city":"Madrid","country":"ES","tax_id":"ESB12345678"}`

// Without the setting invoices name no seller. A demo has one of its own.
func TestTheSellerOfInvoicesIsSet(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		demo bool
		want billing.Seller
	}{
		{Settings{Seller: aSeller}, false, billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678"}},
		{Settings{}, false, billing.Seller{}},
		{Settings{}, true, billing.Seller{Name: "Demo Hosting", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28013", Country: "ES", TaxID: "ESB00000000"}},
	} {
		if got, err := New(c.set, c.demo); err != nil || got.Policy.Seller != c.want {
			t.Errorf("%+v: %+v, %v", c.set, got, err)
		}
	}
}

func TestThePolicyForOrdersIsSet(t *testing.T) {
	plain, err := New(Settings{}, false)
	if err != nil || plain.Policy.KeepDisputed || plain.Policy.RefundLate || plain.Policy.RefundGrace != nil {
		t.Errorf("%+v %v", plain.Policy, err)
	}
	set, err := New(Settings{Disputes: "notify", LatePayments: "refund", RefundGrace: "0"}, false)
	if err != nil || !set.Policy.KeepDisputed || !set.Policy.RefundLate || set.Policy.RefundGrace == nil || *set.Policy.RefundGrace != 0 {
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
	set, err := New(Settings{InvoiceDays: "0", ReminderDays: "-1, 2", ChargeDays: "2,9", SuspendDays: "5", EndDays: "10"}, false)
	want := billing.Terms{Reminders: []time.Duration{-day, 2 * day}, Retries: []time.Duration{2 * day, 9 * day}, Grace: 5 * day, Keep: 10 * day, Warning: 5 * day}
	if err != nil || !reflect.DeepEqual(set.Policy.Terms, want) {
		t.Errorf("%+v %v", set.Policy.Terms, err)
	}
}
