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

// amountOf writes an amount in the currency's smallest unit at PayPal.
func amountOf(minor int64, currency string) (amount, error) {
	places, taken := money.Places(money.PayPal, currency)
	if !taken || minor <= 0 {
		return amount{}, fmt.Errorf("PayPal takes no %d of %s", minor, currency)
	}
	return amount{Currency: currency, Value: decimal.New(minor, -places).StringFixed(places)}, nil
}

// otherPlaces are those of currencies in which we never ask for money. That
// they are not the order's shows whatever the amount.
const otherPlaces = 2

// minor reads an amount in the currency's smallest unit.
func (a amount) minor() (int64, error) {
	places, taken := money.Places(money.PayPal, a.Currency)
	if !taken {
		places = otherPlaces
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
