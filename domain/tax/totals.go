package tax

import (
	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
)

// Totals are what a period costs, of a price that includes tax. Under reverse charge, and
// outside the union, the total is what the same sale at home has as its subtotal, in whole
// units of a currency that has no smaller ones.
func (d Decision) Totals(monthly, setup decimal.Decimal, currency string, yearly bool) money.Totals {
	if d.TaxKind != ReverseCharge && d.TaxKind != Outside {
		return money.TotalsOf(monthly, setup, d.Rate, currency, yearly)
	}
	t := money.TotalsOf(monthly, setup, d.TaxRemoved, currency, yearly)
	t.Total = d.Without(t.Total, currency)
	t.Subtotal, t.Tax = t.Total, decimal.Zero
	return t
}
