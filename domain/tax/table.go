package tax

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/buyer"
)

// A Row is the standard rate of a country, or of a territory, from a day on. It holds until the next row of the
// country begins.
type Row struct {
	Country string          // ISO 3166, two capitals; or the code of a territory
	Percent decimal.Decimal // such as 25.5
	From    time.Time       // a day in UTC; zero: it has always held
}

// A Table is the rates of countries, in the order of country and day.
type Table []Row

//go:embed rates.csv
var seed string

var european = seeded()

func seeded() (t Table) {
	for line := range strings.Lines(seed) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		country, rest, _ := strings.Cut(line, ",")
		row, err := rowOf(country + "=" + strings.Replace(rest, ",", "@", 1))
		if err != nil {
			panic("tax: " + err.Error()) // it is compiled in
		}
		t = append(t, row)
	}
	return t
}

// European returns the standard rates of the member states of the European Union. The file
// rates.csv names their source and its date.
func European() Table { return slices.Clone(european) }

// IsMember tells whether a country is a member state of the European Union. Northern
// Ireland is not: the rules of the union hold there for goods alone.
func IsMember(country string) bool {
	return slices.ContainsFunc(european, func(r Row) bool { return r.Country == country })
}

// At returns the rate of a country on the day of a moment in UTC. On a day before its first
// row that row holds. It is not ok for a country without a row.
func (t Table) At(country string, at time.Time) (percent decimal.Decimal, ok bool) {
	for _, r := range t {
		if r.Country == country && (!ok || !r.From.After(at)) {
			percent, ok = r.Percent, true
		}
	}
	return percent, ok
}

// Overruled returns the table with rows of an operator. From the day of the first of them
// on, a country has no other rows.
func (t Table) Overruled(by Table) Table {
	all := slices.Clone(t)
	for _, r := range by {
		all = slices.DeleteFunc(all, func(old Row) bool { return old.Country == r.Country && !old.From.Before(r.From) })
	}
	all = append(all, by...)
	slices.SortStableFunc(all, inOrder)
	return all
}

func inOrder(a, b Row) int { return cmp.Or(cmp.Compare(a.Country, b.Country), a.From.Compare(b.From)) }

// ParseRows reads rows such as "ES=21,PT=23@2026-01-01". Without a day a row has always
// held.
func ParseRows(list string) (t Table, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		row, err := rowOf(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(t, func(r Row) bool { return inOrder(r, row) == 0 }) {
			return nil, fmt.Errorf("%q is the second rate of %s from that day on", text, row.Country)
		}
		t = append(t, row)
	}
	return t, nil
}

func rowOf(text string) (r Row, err error) {
	var percent string
	r.Country, percent, _ = strings.Cut(text, "=")
	percent, day, dated := strings.Cut(percent, "@")
	r.Percent, err = decimal.NewFromString(percent)
	if !isPlace(r.Country) || err != nil || !isPercentage(r.Percent) {
		return r, fmt.Errorf("%q is not a country and its rate in percent, such as PT=23", text)
	}
	if dated {
		if r.From, err = time.Parse(time.DateOnly, day); err != nil {
			return r, fmt.Errorf("%q does not end with a day, such as PT=23@2026-01-01", text)
		}
	}
	return r, nil
}

// isPlace tells whether a rate can be of a code: a country's, or one of a country's territory.
func isPlace(code string) bool {
	country, _, _ := strings.Cut(code, "-")
	return territoryCode.MatchString(code) && buyer.IsCountry(country)
}

func isPercentage(n decimal.Decimal) bool {
	return !n.IsNegative() && n.LessThanOrEqual(hundred) && n.Equal(n.Round(2))
}
