package document

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/money"
)

// A rule is one of EN 16931, by its name there. It reads the values that the XML holds.
// The rules of allowances and charges (BR-CO-11, BR-CO-12 and others) hold because a
// document has none.
type rule struct {
	name string
	says string // what is wrong when it is broken
	kept func(ubl) bool
}

var rules = []rule{
	{"BR-02", "it has no number", func(u ubl) bool { return u.ID != "" }},
	{"BR-03", "it has no issue date", func(u ubl) bool { return u.IssueDate != "" }},
	{"BR-05", "its currency is not known", func(u ubl) bool { _, known := money.Places(u.Currency); return known }},
	{"BR-CL-04", "its currency is not in the list of the standard", func(u ubl) bool { return !slices.Contains(unlisted, u.Currency) }},
	{"BR-06", "the seller has no name", func(u ubl) bool { return named(u.Seller) }},
	{"BR-07", "the buyer has no name", func(u ubl) bool { return named(u.Buyer) }},
	{"BR-09", "the seller has no known country", func(u ubl) bool { return isCountry(u.Seller.Country) }},
	{"BR-11", "the buyer has no known country", func(u ubl) bool { return isCountry(u.Buyer.Country) }},
	{"BR-16", "it has no line", func(u ubl) bool { return len(u.lines()) > 0 }},
	{"BR-25", "a line has no text", func(u ubl) bool { return all(u, func(l line) bool { return strings.TrimSpace(l.Name) != "" }) }},
	{
		"BR-27", "a line has a negative price",
		func(u ubl) bool { return all(u, func(l line) bool { return !l.Price.number().IsNegative() }) },
	},
	{"BR-30", "a period ends before it begins", func(u ubl) bool {
		return all(u, func(l line) bool { return l.Period == nil || l.Period.Last >= l.Period.First })
	}},
	{"BR-55", "the credited invoice has no number", func(u ubl) bool { return u.Credited == nil || u.Credited.ID != "" }},
	{"BR-CO-10", "the lines do not add up to the subtotal", linesAddUp},
	{"BR-CO-13", "the subtotal differs from its lines", func(u ubl) bool { return same(u.Sums.Net, u.Sums.Lines) }},
	{"BR-CO-14", "the tax differs from its parts", func(u ubl) bool { return same(u.Tax.Amount, u.Tax.Part) }},
	{"BR-CO-15", "subtotal and tax do not add up to the total", func(u ubl) bool {
		return u.Sums.Net.number().Add(u.Tax.Amount.number()).Equal(u.Sums.Gross.number())
	}},
	{"BR-CO-16", "the amount due differs from what is not paid", dueIsTheRest},
	{"BR-CO-17", "the tax is not the subtotal times the rate", taxIsOfTheRate},
	{"BR-CO-25", "it is open, with neither a due date nor terms", func(u ubl) bool {
		return !u.Sums.Due.number().IsPositive() || u.DueDate != "" || u.Terms != nil
	}},
	{"BR-CO-26", "the seller has neither a tax id nor a register", func(u ubl) bool { return u.Seller.Legal.ID != "" }},
	{
		"BR-S-02", "tax is charged without a tax id of the seller",
		func(u ubl) bool { return !u.is(standard, zeroRated) || u.Seller.Tax != nil },
	},
	{
		"BR-S-08", "the taxed amount differs from the subtotal",
		func(u ubl) bool { return u.is(reversed) || same(u.Tax.Taxable, u.Sums.Net) },
	},
	{"BR-Z-09", "there is a tax at a rate of 0", func(u ubl) bool {
		return !u.is(zeroRated, outside) || u.Tax.Part.number().IsZero()
	}},
	{"BR-O-02", "outside the scope of VAT seller or buyer has a VAT id", func(u ubl) bool {
		return !u.is(outside) || !hasVATID(u.Seller) && !hasVATID(u.Buyer)
	}},
	{"BR-O-05", "outside the scope of VAT a line has a rate", func(u ubl) bool {
		return !u.is(outside) || all(u, func(l line) bool { return l.Category.ID == outside && l.Category.Percent == "" })
	}},
	{"BR-O-10", "why it is outside the scope of VAT is not named", func(u ubl) bool {
		return !u.is(outside) || u.Tax.Category.Exempt != "" && u.Tax.Category.Reason != ""
	}},
	{"BR-E-02", "an exemption is named without a tax id of the seller", func(u ubl) bool { return !u.is(exempted) || u.Seller.Tax != nil }},
	{"BR-E-09", "there is a tax under an exemption", func(u ubl) bool { return !u.is(exempted) || u.Tax.Part.number().IsZero() }},
	{"BR-E-10", "the exemption has no reason", func(u ubl) bool { return !u.is(exempted) || u.Tax.Category.Reason != "" }},
	{"BR-AF-02", "IGIC is charged without a tax id of the seller", func(u ubl) bool { return !u.is(igic) || u.Seller.Tax != nil }},
	{"BR-AG-02", "IPSI is charged without a tax id of the seller", func(u ubl) bool { return !u.is(ipsi) || u.Seller.Tax != nil }},
	{"BR-AF-10", "a tax that is charged has a reason for none", func(u ubl) bool {
		return u.is(reasoned...) || u.Tax.Category.Exempt == "" && u.Tax.Category.Reason == ""
	}},
	{"BR-AE-02", "under reverse charge seller or buyer has no tax id", func(u ubl) bool {
		return !u.is(reversed) || u.Seller.Tax != nil && u.Buyer.Tax != nil
	}},
	{"BR-AE-05", "under reverse charge a line has a rate", func(u ubl) bool {
		return !u.is(reversed) || all(u, func(l line) bool { return l.Category.ID == reversed && isZero(l.Category.Percent) })
	}},
	{"BR-AE-08", "the amount under reverse charge differs from the subtotal", func(u ubl) bool {
		return !u.is(reversed) || same(u.Tax.Taxable, u.Sums.Net)
	}},
	{"BR-AE-09", "there is a tax under reverse charge", func(u ubl) bool { return !u.is(reversed) || u.Tax.Part.number().IsZero() }},
	{"BR-AE-10", "reverse charge is not named", func(u ubl) bool { return !u.is(reversed) || u.Tax.Category.Exempt != "" }},
}

// unlisted are currencies that the published rules do not know yet (version 1.3.16): the dobra
// of São Tomé and Príncipe since 2018.
var unlisted = []string{"STN"}

// Check tells whether the document keeps the rules of EN 16931 that apply to it. The error
// is a conflict that names each broken rule: "BR-11: the buyer has no known country".
func (d Document) Check() error {
	broken := brokenBy(ublOf(d))
	if len(broken) == 0 {
		return nil
	}
	return domain.Refuse(domain.Conflict, "Document %s does not keep EN 16931. %s.", d.Number, strings.Join(broken, "; "))
}

func brokenBy(u ubl) (broken []string) {
	for _, r := range rules {
		if !r.kept(u) {
			broken = append(broken, r.name+": "+r.says)
		}
	}
	return broken
}

func hasVATID(p party) bool { return p.Tax != nil && p.Tax.Scheme == vat }

func named(p party) bool { return strings.TrimSpace(p.Legal.Name) != "" }

func all(u ubl, keeps func(line) bool) bool {
	for _, l := range u.lines() {
		if !keeps(l) {
			return false
		}
	}
	return true
}

// is tells whether the document is of one of these categories of VAT.
func (u ubl) is(categories ...string) bool { return slices.Contains(categories, u.Tax.Category.ID) }

func isZero(percent string) bool {
	n, err := decimal.NewFromString(percent)
	return err == nil && n.IsZero()
}

func same(a, b amount) bool { return a.number().Equal(b.number()) }

func linesAddUp(u ubl) bool {
	sum := decimal.Zero
	for _, l := range u.lines() {
		sum = sum.Add(l.Net.number())
	}
	return sum.Equal(u.Sums.Lines.number())
}

func dueIsTheRest(u ubl) bool {
	rest := u.Sums.Gross.number()
	if u.Sums.Prepaid != nil {
		rest = rest.Sub(u.Sums.Prepaid.number())
	}
	return rest.Equal(u.Sums.Due.number())
}

// taxIsOfTheRate allows the difference that the published rules allow: less than one unit
// of the currency. Of a rate that rounds to 0 the tax rounds to 0 too.
func taxIsOfTheRate(u ubl) bool {
	rate, tax := decimal.Zero, u.Tax.Part.number()
	if u.Tax.Category.Percent != "" {
		rate = decimal.RequireFromString(u.Tax.Category.Percent)
	}
	if rate.Round(0).IsZero() {
		return tax.Round(0).IsZero()
	}
	exact := u.Tax.Taxable.number().Mul(rate).Shift(-2).Round(2)
	return tax.Sub(exact).Abs().LessThan(decimal.New(1, 0))
}
