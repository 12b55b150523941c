package tax

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/buyer"
)

// A Territory is a part of a country with a VAT of its own, or a country whose VAT is that of
// another one.
type Territory struct {
	Code    string   // ISO 3166 where it has one, else the country and a name, such as IT-LIVIGNO
	Country string   // in addresses: ISO 3166, two capitals
	Postal  []string // beginnings of its postal codes; none: the whole country
	Rule    string   // outside, inside, or the country that it counts as
}

// The rules of territories that are no country.
const (
	outsideUnion = "outside" // services to buyers there bear no VAT of the union
	insideUnion  = "inside"  // of its country, at a rate of its own if it has one
)

// The territories of Spain with a tax of their own, by ISO 3166.
const (
	canaries = "ES-CN" // IGIC
	ceuta    = "ES-CE" // IPSI
	melilla  = "ES-ML" // IPSI
)

// Territories are looked through for the longest beginning of a postal code.
type Territories []Territory

//go:embed territories.csv
var seedTerritories string

var known, regional = seededTerritories()

func seededTerritories() (all Territories, rates Table) {
	for line := range strings.Lines(seedTerritories) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, ",")
		t, err := territoryOf(parts[0], parts[1], strings.Fields(parts[2]), parts[3])
		if err == nil && len(parts) > 4 {
			var row Row
			row, err = rowOf(t.Code + "=" + parts[4])
			rates = append(rates, row)
		}
		if err != nil {
			panic("tax: " + err.Error()) // it is compiled in
		}
		all = append(all, t)
	}
	return all, rates
}

// EuropeanTerritories returns the territories that the program knows. The file
// territories.csv names their sources and their date.
func EuropeanTerritories() Territories { return slices.Clone(known) }

var (
	territoryCode = regexp.MustCompile(`^[A-Z]{2}(-[A-Z0-9]+)?$`)
	postalStart   = regexp.MustCompile(`^[0-9A-Z]+$`)
)

func territoryOf(code, country string, postal []string, rule string) (Territory, error) {
	t := Territory{code, country, postal, rule}
	switch {
	case !isPlace(code) || !buyer.IsCountry(country):
	case slices.ContainsFunc(postal, func(start string) bool { return !postalStart.MatchString(start) }):
	case rule == outsideUnion, rule == insideUnion, buyer.IsCountry(rule):
		return t, nil
	}
	return t, fmt.Errorf(
		"%q is not a territory, its country, beginnings of postal codes, and outside, inside or a country, such as "+
			"IT-LIVIGNO:IT:23041:outside", strings.Join([]string{code, country, strings.Join(postal, "+"), rule}, ":"),
	)
}

// ParseTerritories reads rows such as "IT-LIVIGNO:IT:23041:outside,ES-CN:ES:35+38:inside". A
// territory may have several.
func ParseTerritories(list string) (all Territories, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		parts := append(strings.SplitN(text, ":", 4), "", "", "")
		t, err := territoryOf(parts[0], parts[1], strings.FieldsFunc(parts[2], func(r rune) bool { return r == '+' }), parts[3])
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (t Territory) isNamed(other Territory) bool { return t.Code == other.Code }

// Overruled returns the territories with rows of an operator, in the place of those with
// their codes.
func (t Territories) Overruled(by Territories) Territories {
	left := slices.DeleteFunc(slices.Clone(t), func(old Territory) bool { return slices.ContainsFunc(by, old.isNamed) })
	return append(left, by...)
}

// at returns the territory of an address.
func (t Territories) at(country, postalCode string) (found Territory, ok bool) {
	postalCode = plainPostalCode(country, postalCode)
	longest := -1
	for _, one := range t {
		if one.Country != country {
			continue
		}
		if length := one.covers(postalCode); length > longest {
			found, longest = one, length
		}
	}
	return found, longest >= 0
}

// covers returns how many letters of a postal code tell that it is of the territory; -1: it
// is not.
func (t Territory) covers(postalCode string) int {
	longest := -1
	if len(t.Postal) == 0 {
		longest = 0
	}
	for _, start := range t.Postal {
		if strings.HasPrefix(postalCode, start) {
			longest = max(longest, len(start))
		}
	}
	return longest
}

// plainPostalCode is a postal code without blanks and dashes, and without the letters of the
// country that people write before it, such as FI- or E-.
func plainPostalCode(country, code string) string {
	code = separators.Replace(strings.ToUpper(code))
	digits := strings.TrimLeft(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if before := len(code) - len(digits); before > 0 && before <= 2 && len(digits) >= 4 && country != "GB" {
		return digits
	}
	return code
}

// A place is where a service is taxed.
type place struct {
	code    string // of a country or a territory
	country string // of the union, by whose VAT it is; blank: of none
}

// placeOf returns where a buyer is, for tax. Without a country that is where the seller is.
func (p Policy) placeOf(b buyer.Details) place {
	if b.Country == "" {
		return place{p.Home, p.Home}
	}
	country := b.Country
	if t, ok := p.territories().at(b.Country, b.PostalCode); ok {
		switch t.Rule {
		case outsideUnion:
			return place{code: t.Code}
		case insideUnion:
			return place{t.Code, t.Country}
		}
		country = t.Rule
	}
	if !IsMember(country) {
		return place{code: country}
	}
	return place{country, country}
}

// IsHome tells whether an address is where the VAT of the seller's country reaches.
func (p Policy) IsHome(country, postalCode string) bool {
	return p.placeOf(buyer.Details{Country: country, PostalCode: postalCode}).country == p.Home
}

func (p Policy) territories() Territories {
	if p.Territories == nil {
		return known
	}
	return p.Territories
}

// A Form is what an order form has to know to show each buyer what a plan costs.
type Form struct {
	Home        string          // the seller's country
	Rate        decimal.Decimal // percent there
	Countries   []string        // that have a rate
	Untaxed     []string        // countries and territories without one, outside the union
	Territories Territories     // where they count as
}

// Form is what an order form has to know at a moment. It is not ok in the mode [Single].
func (p Policy) Form(at time.Time) (f Form, ok bool) {
	if !p.isByCountry() {
		return f, false
	}
	f.Home, f.Territories = p.Home, p.territories()
	f.Rate, _ = p.Rates.At(p.Home, at)
	for _, r := range p.Rates {
		f.Countries = append(f.Countries, r.Country)
	}
	f.Countries = slices.DeleteFunc(slices.Compact(f.Countries), func(code string) bool { return !buyer.IsCountry(code) })
	untaxed := buyer.Countries()
	for _, t := range f.Territories {
		untaxed = append(untaxed, t.Code)
	}
	slices.Sort(untaxed)
	for _, code := range slices.Compact(untaxed) {
		if p.Decide(decimal.Zero, f.Territories.in(code), at, "").TaxKind == Outside {
			f.Untaxed = append(f.Untaxed, code)
		}
	}
	return f, true
}

// in returns an address in a country or a territory.
func (t Territories) in(code string) buyer.Details {
	i := slices.IndexFunc(t, Territory{Code: code}.isNamed)
	if i < 0 || len(t[i].Postal) == 0 {
		return buyer.Details{Country: code}
	}
	return buyer.Details{Country: t[i].Country, PostalCode: t[i].Postal[0]}
}

// CountsAs is the place whose tax holds in a territory: its own code, or a country.
func (t Territory) CountsAs() string {
	switch t.Rule {
	case outsideUnion:
		return t.Code
	case insideUnion:
		return t.Country
	}
	return t.Rule
}
