package field

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

const numberTextMax = 1000 // characters of a number; longer ones are not looked at

type integer struct{ at *int64 }

func (i integer) place() any                     { return i.at }
func (i integer) apart() kind                    { return integer{new(int64)} }
func (i integer) set(v any) bool                 { return setInt(i.at, v) }
func (i integer) show(b []byte, _ *Field) []byte { return strconv.AppendInt(b, *i.at, 10) }

func setInt(at *int64, v any) bool {
	switch n := v.(type) {
	case int:
		*at = int64(n)
	case int64:
		*at = n
	default:
		return false
	}
	return true
}

func (i integer) read(sent Value, f *Field) []string {
	if sent.Kind != NumberValue && sent.Kind != TextValue {
		return []string{notInteger}
	}
	if len(sent.Text) > numberTextMax {
		return []string{tooLarge}
	}
	n, outside, ok := parseInt(sent)
	if !ok || outside && !f.limit.hasMin && !f.limit.hasMax {
		return []string{notInteger}
	}
	*i.at = n
	switch {
	case f.limit.hasOr && n == f.limit.or:
		return nil
	case f.limit.hasMax && n > f.limit.max:
		return []string{TooGreat(f.limit.max)}
	case f.limit.hasMin && n < f.limit.min:
		return []string{TooSmall(f.limit.min)}
	case outside:
		return []string{notInteger}
	}
	return nil
}

var (
	integral = regexp.MustCompile(`^[+-]?[0-9]+(\.0*)?$`)
	numeric  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?$`)
)

// parseInt reads 3, 3.0, "3" and " 3.0 ", and of numbers also 3e2. A number
// outside of int64 is the nearest one that is not.
func parseInt(sent Value) (n int64, outside, ok bool) {
	s := strings.TrimSpace(sent.Text)
	if !integral.MatchString(s) {
		return parseExponent(sent)
	}
	s, _, _ = strings.Cut(s, ".")
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err != nil, true // a range error leaves the nearest number
}

func parseExponent(sent Value) (n int64, outside, ok bool) {
	if sent.Kind != NumberValue || !numeric.MatchString(sent.Text) {
		return 0, false, false
	}
	d, err := decimal.NewFromString(sent.Text)
	if err != nil || magnitude(d) > 19 || d.Exponent() < -numberTextMax || !d.IsInteger() {
		return 0, false, false
	}
	return d.IntPart(), !d.BigInt().IsInt64(), true
}

// magnitude is the number of digits before the decimal point.
func magnitude(d decimal.Decimal) int64 { return int64(d.NumDigits()) + int64(d.Exponent()) }

func (integer) schema(f *Field) map[string]any {
	s := map[string]any{"type": "integer", "format": "int64"}
	f.limit.describe(s, "minimum", "maximum")
	if f.limit.hasOr {
		return map[string]any{"type": "integer", "anyOf": []any{s, map[string]any{"const": f.limit.or}}}
	}
	return s
}

// amount is where an amount lives and how precise it is.
type amount struct {
	at             *decimal.Decimal
	digits, places int32
}

func (a *amount) place() any  { return a.at }
func (a *amount) apart() kind { return &amount{new(decimal.Decimal), a.digits, a.places} }

func (a *amount) set(v any) bool {
	var err error
	switch d := v.(type) {
	case decimal.Decimal:
		*a.at = d
	case string:
		*a.at, err = decimal.NewFromString(d)
	case int:
		*a.at = decimal.NewFromInt(int64(d))
	default:
		return false
	}
	return err == nil
}

func (a *amount) show(b []byte, f *Field) []byte {
	places := f.brief
	if !a.at.Equal(a.at.Round(places)) {
		places = a.places
	}
	b = append(b, '"')
	b = append(b, a.at.StringFixed(places)...)
	return append(b, '"')
}

func (a *amount) read(sent Value, f *Field) []string {
	if sent.Kind != NumberValue && sent.Kind != TextValue {
		return []string{notNumber}
	}
	s := strings.TrimSpace(sent.Text)
	if len(s) > numberTextMax {
		return []string{tooLarge}
	}
	if !numeric.MatchString(s) {
		return []string{notNumber}
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return []string{notNumber}
	}
	if wrong := a.checkPrecision(d); wrong != "" {
		return []string{wrong}
	}
	*a.at = d
	return f.limit.checkAmount(d)
}

// checkPrecision counts digits as they were sent: 1.50 has two places.
func (a *amount) checkPrecision(d decimal.Decimal) string {
	digits, places := int64(d.NumDigits()), -int64(d.Exponent())
	whole := max(digits-places, 0)
	places = max(places, 0)
	digits = max(digits, whole, places)
	switch {
	case digits > int64(a.digits):
		return fmt.Sprintf("Ensure that there are no more than %d digits in total.", a.digits)
	case places > int64(a.places):
		return fmt.Sprintf("Ensure that there are no more than %d decimal places.", a.places)
	case whole > int64(a.digits-a.places):
		return fmt.Sprintf("Ensure that there are no more than %d digits before the decimal point.", a.digits-a.places)
	}
	return ""
}

func (l limit) checkAmount(d decimal.Decimal) []string {
	switch {
	case l.hasMax && d.GreaterThan(decimal.NewFromInt(l.max)):
		return []string{TooGreat(l.max)}
	case l.hasMin && d.LessThan(decimal.NewFromInt(l.min)):
		return []string{TooSmall(l.min)}
	}
	return nil
}

func (*amount) schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "decimal"}
}

type flag struct{ at *bool }

func (b flag) place() any                      { return b.at }
func (b flag) apart() kind                     { return flag{new(bool)} }
func (b flag) show(to []byte, _ *Field) []byte { return strconv.AppendBool(to, *b.at) }
func (flag) schema(*Field) map[string]any      { return map[string]any{"type": "boolean"} }
func (b flag) set(v any) bool {
	on, ok := v.(bool)
	if ok {
		*b.at = on
	}
	return ok
}

var booleans = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true, "1.0": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false, "0.0": false,
}

func (b flag) read(sent Value, _ *Field) []string {
	on, known := booleans[strings.ToLower(strings.TrimSpace(sent.Text))]
	if !known || sent.Kind == ListValue || sent.Kind == ObjectValue {
		return []string{"Must be a valid boolean."}
	}
	*b.at = on
	return nil
}
