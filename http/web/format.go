package web

import (
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
	"hostpanel/domain/texts"
)

// Moment is a time, or what stands in its place.
func (w Words) Moment(name string, at *time.Time, otherwise string) Aspect {
	if at == nil {
		return Aspect{Name: name, Text: otherwise}
	}
	return Aspect{Name: name, Text: texts.Minute(w.Language(), at.UTC()), At: at.UTC().Format(time.RFC3339)}
}

// Date is the day of a time in UTC.
func (w Words) Date(at time.Time) string { return texts.Date(w.Language(), at.UTC()) }

// Instant is a time to the second.
func (w Words) Instant(at time.Time) Aspect {
	return Aspect{Text: texts.Second(w.Language(), at.UTC()), At: at.UTC().Format(time.RFC3339Nano)}
}

// Money is an amount as it is written in the language.
func (w Words) Money(amount decimal.Decimal, currency string) string {
	return texts.Money(w.Language(), amount, currency)
}

// Minor is an amount in the minor unit of its currency, as it is written in the language.
func (w Words) Minor(minor int64, currency string) string {
	return w.Money(money.Major(minor, currency), currency)
}

// Language is that of the words.
func (w Words) Language() string { return w["language_tag"] }
