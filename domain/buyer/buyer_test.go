package buyer_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
)

// Each detail has a name in events and in the API, and it is the same one.
func TestTheDetailsAreCalledTheSameEverywhere(t *testing.T) {
	var names []string
	for _, f := range buyer.Fields(new(buyer.Details)) {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, buyer.Names) {
		t.Error(names, buyer.Names)
	}
	for _, f := range buyer.Shown(new(buyer.Details)) {
		if !f.IsReadOnly() {
			t.Errorf("%s can be changed", f.Name)
		}
	}
}

func TestCountriesAreThoseOfISO3166(t *testing.T) {
	for _, code := range strings.Fields("ES GB XK XI EL UK 1A es ESP") {
		if known := code == "ES" || code == "GB"; buyer.IsCountry(code) != known {
			t.Errorf("%s is a country: %t", code, !known)
		}
	}
	if buyer.IsCountry("") {
		t.Error("nothing is a country")
	}
}

func TestATaxIDIsOneOfACountry(t *testing.T) {
	for _, one := range []struct {
		details buyer.Details
		wrong   string
	}{
		{buyer.Details{TaxID: "B87654321"}, "customer_country: This field is required."},
		{buyer.Details{TaxID: "B87654321", Country: "ES"}, ""},
		{buyer.Details{Country: "ES"}, ""},
		{buyer.Details{Address: "Gran Vía 2"}, ""},
	} {
		var wrong field.Errors
		if buyer.Check(one.details, &wrong); wrong.Error() != one.wrong {
			t.Errorf("%+v: %v", one.details, wrong)
		}
	}
}
