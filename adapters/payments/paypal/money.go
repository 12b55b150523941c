package paypal

import (
	"fmt"

	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
)

// An amount is money as PayPal writes it: decimals, with as many places as
// PayPal gives the currency.
type amount struct {
	Currency string `json:"currency_code"`
	Value    string `json:"value"`
}

// amountOf writes an amount in minor units.
func amountOf(minor int64, currency string) (amount, error) {
	places, taken := currencies[currency]
	value := money.Major(minor, currency)
	if !taken || minor <= 0 || !value.Shift(places).IsInteger() {
		return amount{}, fmt.Errorf("PayPal takes no %s %s", value, currency)
	}
	return amount{Currency: currency, Value: value.StringFixed(places)}, nil
}

// minor reads an amount in minor units. A currency in which the panel never
// asks for money counts as one with two places.
func (a amount) minor() (int64, error) {
	places, known := money.Places(a.Currency)
	if !known {
		places = 2
	}
	value, err := decimal.NewFromString(a.Value)
	if err != nil || len(a.Value) > 32 {
		return 0, fmt.Errorf("an amount of %s that is no number", a.Currency)
	}
	units := value.Shift(places)
	if !units.IsInteger() || units.IsNegative() || !units.BigInt().IsInt64() {
		return 0, fmt.Errorf("an amount of %s that is no whole number of its smallest unit", a.Currency)
	}
	return units.IntPart(), nil
}
