// Package tax decides how a sale is taxed: by which country's rate, or by reverse charge.
// Orders and invoices share it (docs/invoices.md, "Tax").
package tax

import (
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
	Foreign       Kind = "foreign"        // the rate that operators have set for a place outside the union
	ReverseCharge Kind = "reverse_charge" // the buyer, a business of another member state, owes the tax
	Outside       Kind = "outside"        // the buyer is outside the union, where its VAT does not reach
)

// A Treatment is how a sale is taxed, as events keep it beside the rate. It is zero in the
// mode [Single].
type Treatment struct {
	TaxKind         Kind            `json:"tax_kind,omitempty"`
	TaxCountry      string          `json:"tax_country,omitempty"`        // where the service is taxed: ISO 3166, or such as ES-CN
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

	Territories Territories // nil: those that the program knows
}

// Decide returns how a sale to a buyer is taxed at a moment. The single rate is that of the
// mode [Single]. acceptedBy names who accepts a tax id by its form alone.
func (p Policy) Decide(single decimal.Decimal, b buyer.Details, at time.Time, acceptedBy string) Decision {
	if !p.isByCountry() {
		return Decision{Rate: single}
	}
	home, _ := p.Rates.At(p.Home, at)
	where := p.placeOf(b)
	switch isAbroad := where.isAbroad(p.Home); {
	case where.country == "":
		if rate, set := p.Rates.At(where.code, at); set {
			return Decision{Treatment{TaxKind: Foreign, TaxCountry: where.code}, rate}
		}
		return Decision{Treatment{TaxKind: Outside, TaxCountry: where.code, TaxRemoved: home}, decimal.Zero}
	case isAbroad && IsVATID(where.country, b.TaxID):
		return Decision{
			Treatment{TaxKind: ReverseCharge, TaxCountry: where.country, TaxRemoved: home, TaxIDAcceptedBy: acceptedBy},
			decimal.Zero,
		}
	case isAbroad && p.Mode == OSS:
		return Decision{Treatment{TaxKind: OneStopShop, TaxCountry: where.country}, p.rateOf(where, at)}
	case isAbroad:
		return Decision{Treatment{TaxKind: Standard, TaxCountry: p.Home}, home}
	}
	return Decision{Treatment{TaxKind: Standard, TaxCountry: p.Home}, p.rateOf(where, at)}
}

// rateOf returns the rate of a place in the union: its own, or that of its country.
func (p Policy) rateOf(where place, at time.Time) decimal.Decimal {
	for _, table := range []Table{p.Rates, regional} {
		if rate, has := table.At(where.code, at); has {
			return rate
		}
	}
	rate, _ := p.Rates.At(where.country, at)
	return rate
}

func (p Policy) isByCountry() bool { return p.Mode == Seller || p.Mode == OSS }

// isAbroad tells whether a place is in a member state other than the seller's.
func (w place) isAbroad(home string) bool { return w.country != "" && w.country != home }

// Check adds a tax id whose form is wrong, if the treatment depends on it.
func (p Policy) Check(b buyer.Details, wrong *field.Errors) {
	where := p.placeOf(b).country
	if p.isByCountry() && p.placeOf(b).isAbroad(p.Home) && b.TaxID != "" && !IsVATID(where, b.TaxID) && !wrong.Has("customer_tax_id") {
		wrong.Add("customer_tax_id", "Enter a valid VAT identification number of "+where+", such as "+ExampleID(where)+".")
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
			"How the rate came about: standard, oss, foreign, reverse_charge or outside; blank: the panel has a single rate.",
		),
		field.Text("tax_country", &t.TaxCountry).ReadOnly().Doc(
			"Where the service is taxed: two capitals, as ISO 3166 has them, or a territory such as ES-CN; blank: likewise.",
		),
		field.Text("tax_id_accepted_by", &t.TaxIDAcceptedBy).ReadOnly().Doc(
			"By whom the form of the buyer's tax id was taken for proof, under reverse charge.",
		),
	}
}

// Note is what a document has to say of the treatment, in a language; blank: nothing. At a
// rate of 0 a foreign sale bears no tax either.
func (t Treatment) Note(rate decimal.Decimal, language string) string {
	switch {
	case t.TaxKind == ReverseCharge:
		return texts.Say(language, "documents.reverse_charge")
	case t.TaxKind == Outside, t.TaxKind == Foreign && rate.IsZero():
		return texts.Say(language, "documents.outside")
	case t.TaxKind == Foreign:
		return islandTaxes[t.TaxCountry]
	}
	return ""
}

// islandTaxes are taxes in place of VAT, by the territory that levies them.
var islandTaxes = map[string]string{canaries: "IGIC", ceuta: "IPSI", melilla: "IPSI"}

// IslandTax returns the tax that is charged in place of VAT: of a sale into such a territory at
// a rate of operators, or of a seller there with a single rate; blank: VAT.
func (t Treatment) IslandTax(sellerCountry, sellerPostalCode string) string {
	if t.TaxKind == Foreign {
		return islandTaxes[t.TaxCountry]
	}
	if t.TaxKind != "" {
		return ""
	}
	home, _ := known.at(sellerCountry, sellerPostalCode)
	return islandTaxes[home.Code]
}
