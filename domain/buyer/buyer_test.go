package buyer_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
)

// Each detail has one name in events, in the form and in answers.
func TestTheDetailsAreCalledTheSameEverywhere(t *testing.T) {
	for _, set := range []field.Set{buyer.Fields(new(buyer.Details)), buyer.Shown(new(buyer.Details))} {
		var names []string
		for _, f := range set {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, buyer.Names) {
			t.Error(names, buyer.Names)
		}
	}
	stored, err := json.Marshal(buyer.Details{Address: "1", City: "2", PostalCode: "3", Country: "4", TaxID: "5"})
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]string
	if err := json.Unmarshal(stored, &read); err != nil || len(read) != len(buyer.Names) {
		t.Fatal(err, read)
	}
	for i, name := range buyer.Names {
		if read[name] != strconv.Itoa(i+1) {
			t.Errorf("%s is %q in %s", name, read[name], stored)
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
