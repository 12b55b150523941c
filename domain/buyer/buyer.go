// Package buyer is what an invoice says of who is billed, beside name, company and email: the
// address and the tax id. Orders and invoices share it.
package buyer

import (
	"strings"

	"hostpanel/domain/field"
)

// Details are where a buyer is, and the buyer's tax id. Each may be blank.
type Details struct {
	Address    string `json:"customer_address,omitempty"` // street and number
	City       string `json:"customer_city,omitempty"`
	PostalCode string `json:"customer_postal_code,omitempty"`
	Country    string `json:"customer_country,omitempty"` // ISO 3166, two capitals
	TaxID      string `json:"customer_tax_id,omitempty"`  // in capitals, without blanks
}

// Names are the details by their names in events and in the API.
var Names = []string{"customer_address", "customer_city", "customer_postal_code", "customer_country", "customer_tax_id"}

// country is a code of ISO 3166 in letters of either size.
var country = field.Rule{Pattern: `^[A-Za-z]{2}$`, Tidy: strings.ToUpper, Problems: unknownCountry}

func unknownCountry(code string) []string {
	if IsCountry(code) {
		return nil
	}
	return []string{field.NotAChoice(code)}
}

// taxID is the form that tax ids of all countries have.
func taxID() field.Rule {
	r := field.Match(`^[A-Za-z0-9 .-]+$`)
	r.Max, r.Tidy = 20, func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, " ", "")) }
	return r
}

// Fields are the details as an order asks for them.
func Fields(d *Details) field.Set {
	return field.Set{
		field.Text("customer_address", &d.Address).Max(200).Is(field.Visible).Default("").Doc(
			"Street and number, as the invoice names them.",
		),
		field.Text("customer_city", &d.City).Max(100).Is(field.Visible).Default(""),
		field.Text("customer_postal_code", &d.PostalCode).Max(20).Is(field.Visible).Default(""),
		field.Text("customer_country", &d.Country).Is(country).Default("").Doc(
			"Two letters, as ISO 3166 has them. Required with a tax id.",
		),
		field.Text("customer_tax_id", &d.TaxID).Is(taxID()).Default("").Doc("Kept in capitals, without blanks."),
	}
}

// Shown are the details as answers show them.
func Shown(d *Details) field.Set {
	return field.Set{
		field.Text("customer_address", &d.Address).ReadOnly(),
		field.Text("customer_city", &d.City).ReadOnly(),
		field.Text("customer_postal_code", &d.PostalCode).ReadOnly(),
		field.Text("customer_country", &d.Country).ReadOnly().Doc("Two capitals, as ISO 3166 has them."),
		field.Text("customer_tax_id", &d.TaxID).ReadOnly().Labelled("invoice_tax_id"),
	}
}

// Check adds what is wrong between the details: a tax id is one of a country.
func Check(d Details, wrong *field.Errors) {
	if d.TaxID != "" && d.Country == "" && !wrong.Has("customer_country") {
		wrong.Add("customer_country", field.Missing)
	}
}
