package texts

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"hostpanel/domain/money"
)

// A style is how a language writes amounts and dates. x/text knows its numbers.
type style struct {
	months []string // short
	before bool     // the sign of a currency stands before the amount
}

// signs of currencies; others are written by their code.
var signs = map[string]string{"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "MXN": "MX$", "BRL": "R$", "INR": "₹"}

var styles = map[string]style{
	"en": {
		months: []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
		before: true,
	},
	"es": {
		months: []string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
	},
}

// space keeps an amount and its currency on one line.
const space = "\u00a0"

// amountOf writes an amount with the separators of a language.
func amountOf(wanted string, n decimal.Decimal, decimals int32) string {
	spoken, n := Spoken(wanted), n.Round(decimals) // half away from zero, as money is charged
	whole, _, _ := strings.Cut(n.Abs().StringFixed(decimals), ".")
	if len(whole) > 15 { // beyond what a float holds exactly
		return n.StringFixed(decimals)
	}
	options := []number.Option{number.Scale(int(decimals))}
	if spoken == "es" && len(whole) < 5 {
		options = append(options, number.NoSeparator()) // 1234,50 and 12.345,60
	}
	return message.NewPrinter(language.Make(spoken)).Sprint(number.Decimal(n.InexactFloat64(), options...))
}

// Money writes an amount: "28,70 €" in Spanish, "€28.70" in English. A currency without
// a sign is written by its code: "CHF 28.70".
func Money(wanted string, amount decimal.Decimal, currency string) string {
	decimals, _ := money.Places(strings.ToUpper(currency))
	return moneyOf(wanted, amount, currency, decimals)
}

// Exact writes an amount as [Money] does. Where the amount has more decimal places than
// its currency, all of them are shown: "¥909.09".
func Exact(wanted string, amount decimal.Decimal, currency string) string {
	decimals, _ := money.Places(strings.ToUpper(currency))
	return moneyOf(wanted, amount, currency, max(decimals, placesOf(amount)))
}

// Percent writes a rate in percent with as many decimal places as it has: "5,5 %" in
// Spanish, "5.5%" in English.
func Percent(wanted string, rate decimal.Decimal) string {
	text := amountOf(wanted, rate, placesOf(rate))
	if styles[Spoken(wanted)].before {
		return text + "%"
	}
	return text + space + "%"
}

// placesOf counts the decimal places of a number without the zeros at its end.
func placesOf(n decimal.Decimal) int32 {
	_, places, _ := strings.Cut(n.String(), ".")
	return int32(len(places))
}

func moneyOf(wanted string, amount decimal.Decimal, currency string, decimals int32) string {
	currency = strings.ToUpper(currency)
	s := styles[Spoken(wanted)]
	text, sign := amountOf(wanted, amount.Abs(), decimals), signs[currency]
	minus := ""
	if amount.IsNegative() {
		minus = "-"
	}
	switch {
	case sign == "" && s.before:
		return minus + currency + space + text
	case s.before:
		return minus + sign + text
	case sign == "":
		sign = currency
	}
	return minus + text + space + sign
}

// Date writes the day of a time in its zone: "23 nov 2026".
func Date(wanted string, at time.Time) string {
	return fmt.Sprintf("%d %s %d", at.Day(), styles[Spoken(wanted)].months[at.Month()-1], at.Year())
}

// Minute writes a time to the minute, with its zone: "23 nov 2026, 15:04 UTC".
func Minute(wanted string, at time.Time) string {
	return Date(wanted, at) + ", " + at.Format("15:04 MST")
}

// Second writes a time to the second, with its zone.
func Second(wanted string, at time.Time) string {
	return Date(wanted, at) + ", " + at.Format("15:04:05 MST")
}

// Cell is a text that no spreadsheet takes for a formula.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
