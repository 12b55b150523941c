// Package tax decides how a sale is taxed: by which country's rate, or by reverse charge.
// Orders and invoices share it (docs/invoices.md, "Tax").
package tax

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/texts"
)

// A Mode is by whose rates a panel sells.
type Mode string

const (
	Single Mode = "single" // one rate for all
	Seller Mode = "seller" // consumers of the union by the rate of the seller's country
	OSS    Mode = "oss"    // consumers of the union by the rate of their own country
)

// A Kind says why a sale is taxed as it is. A blank one is of the mode [Single].
type Kind string

const (
	Standard      Kind = "standard"       // the rate of the seller's country
	OneStopShop   Kind = "oss"            // the rate of the consumer's member state
	Foreign       Kind = "foreign"        // the rate that operators have set for a country outside the union
	ReverseCharge Kind = "reverse_charge" // the buyer, a business of another member state, owes the tax
)

// A Treatment is how a sale is taxed, as events keep it beside the rate. It is zero in the
// mode [Single].
type Treatment struct {
	TaxKind         Kind            `json:"tax_kind,omitempty"`
	TaxCountry      string          `json:"tax_country,omitempty"`        // to which the tax belongs: ISO 3166
	TaxRemoved      decimal.Decimal `json:"tax_removed,omitzero"`         // percent that the plan's price includes and the total does not
	TaxIDAcceptedBy string          `json:"tax_id_accepted_by,omitempty"` // by whom the form of the buyer's id was taken for proof
}

// A Decision is a treatment with its rate.
type Decision struct {
	Treatment
	Rate decimal.Decimal // percent that the total includes
}

// A Policy is what an operator has settled about tax. The zero value is the mode [Single].
type Policy struct {
	Mode  Mode
	Home  string // the seller's country
	Rates Table
}

// Decide returns how a sale to a buyer is taxed at a moment. The single rate is that of the
// mode [Single]. acceptedBy names who accepts a tax id by its form alone.
func (p Policy) Decide(single decimal.Decimal, b buyer.Details, at time.Time, acceptedBy string) Decision {
	if !p.isByCountry() {
		return Decision{Rate: single}
	}
	home, _ := p.Rates.At(p.Home, at)
	rate, known := p.Rates.At(b.Country, at)
	switch isAbroad := p.isAbroad(b); {
	case isAbroad && IsVATID(b.Country, b.TaxID):
		return Decision{
			Treatment{TaxKind: ReverseCharge, TaxCountry: b.Country, TaxRemoved: home, TaxIDAcceptedBy: acceptedBy},
			decimal.Zero,
		}
	case isAbroad && p.Mode == OSS:
		return Decision{Treatment{TaxKind: OneStopShop, TaxCountry: b.Country}, rate}
	case known && !IsMember(b.Country):
		return Decision{Treatment{TaxKind: Foreign, TaxCountry: b.Country}, rate}
	}
	return Decision{Treatment{TaxKind: Standard, TaxCountry: p.Home}, home}
}

func (p Policy) isByCountry() bool { return p.Mode == Seller || p.Mode == OSS }

// isAbroad tells whether a buyer is in a member state other than the seller's.
func (p Policy) isAbroad(b buyer.Details) bool { return b.Country != p.Home && IsMember(b.Country) }

// Check adds a tax id whose form is wrong, if the treatment depends on it.
func (p Policy) Check(b buyer.Details, wrong *field.Errors) {
	if p.isByCountry() && p.isAbroad(b) && b.TaxID != "" && !IsVATID(b.Country, b.TaxID) && !wrong.Has("customer_tax_id") {
		wrong.Add("customer_tax_id", "Enter a valid VAT identification number of "+b.Country+", such as "+ExampleID(b.Country)+".")
	}
}

var hundred = decimal.New(100, 0)

// Without takes out of an amount the tax that it is not to have: half up, to two places or
// to those of the currency if it has fewer.
func (t Treatment) Without(amount decimal.Decimal, currency string) decimal.Decimal {
	if t.TaxRemoved.IsZero() {
		return amount
	}
	places, known := money.Places(currency)
	if !known {
		places = 2
	}
	return amount.Mul(hundred).DivRound(hundred.Add(t.TaxRemoved), min(places, 2))
}

// Shown is the treatment as answers show it.
func Shown(t *Treatment) field.Set {
	return field.Set{
		field.Text("tax_kind", (*string)(&t.TaxKind)).ReadOnly().Doc(
			"How the rate came about: standard, oss, foreign or reverse_charge; blank: the panel has a single rate.",
		),
		field.Text("tax_country", &t.TaxCountry).ReadOnly().Doc(
			"To which the tax belongs: two capitals, as ISO 3166 has them; blank: likewise.",
		),
		field.Text("tax_id_accepted_by", &t.TaxIDAcceptedBy).ReadOnly().Doc(
			"By whom the form of the buyer's tax id was taken for proof, under reverse charge.",
		),
	}
}

// ByCountry tells what decides about a sale at home at a moment, and the countries that have
// a rate. It is not ok in the mode [Single].
func (p Policy) ByCountry(at time.Time) (home string, rate decimal.Decimal, countries []string, ok bool) {
	if !p.isByCountry() {
		return "", decimal.Zero, nil, false
	}
	rate, _ = p.Rates.At(p.Home, at)
	for _, r := range p.Rates {
		countries = append(countries, r.Country)
	}
	return p.Home, rate, slices.Compact(countries), true
}

// Note is what a document has to say of the treatment, in a language; blank: nothing.
func (k Kind) Note(language string) string {
	if k != ReverseCharge {
		return ""
	}
	return texts.Say(language, "documents.reverse_charge")
}
