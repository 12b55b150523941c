package money

import "github.com/shopspring/decimal"

// Totals is what one order costs. Total is what the customer pays, tax
// included; Subtotal and Tax always add up to it.
type Totals struct {
	Period   decimal.Decimal // price of one billing period, exact; a year in whole units of a currency without cents
	Total    decimal.Decimal // two places
	Subtotal decimal.Decimal // two places, without tax
	Tax      decimal.Decimal // two places
}

// TotalsOf computes what a period costs: the monthly price, or a year of it,
// plus a setup fee that is added once and never discounted. The rate is in
// percent. Only the total and the subtotal are rounded, half up, and so is a year in a
// currency without cents, which no provider could charge otherwise.
func TotalsOf(monthly, setup, rate decimal.Decimal, currency string, yearly bool) Totals {
	period := monthly
	if yearly {
		period = monthly.Mul(yearFactor)
	}
	if n, known := places[currency]; yearly && known && n == 0 {
		period = period.Round(0)
	}
	total := period.Add(setup).Round(2) // half up: amounts are never negative
	subtotal := total.Mul(hundred).DivRound(hundred.Add(rate), 2)
	return Totals{Period: period, Total: total, Subtotal: subtotal, Tax: total.Sub(subtotal)}
}
