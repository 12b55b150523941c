package field

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Value is one JSON value, as it was sent. Numbers keep their text, so that
// none loses digits.
type Value struct {
	Kind  ValueKind
	Name  string  // of a member of an object
	Text  string  // of a text, number or boolean
	Items []Value // of a list or an object
}

// A ValueKind is one of the six kinds of JSON values.
type ValueKind uint8

// The kinds of JSON values.
const (
	NullValue ValueKind = iota
	BoolValue
	NumberValue
	TextValue
	ListValue
	ObjectValue
)

// Member returns the member of an object.
func (v Value) Member(name string) (Value, bool) {
	for i := range v.Items {
		if v.Items[i].Name == name && v.Kind == ObjectValue {
			return v.Items[i], true
		}
	}
	return Value{}, false
}

// AppendJSON appends the value in the form that answers have.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.Kind {
	case NullValue:
		return append(b, "null"...)
	case TextValue:
		return AppendText(b, v.Text)
	case ListValue:
		return append(v.appendItems(append(b, '[')), ']')
	case ObjectValue:
		return append(v.appendItems(append(b, '{')), '}')
	default:
		return append(b, v.Text...)
	}
}

func (v Value) appendItems(b []byte) []byte {
	for i, item := range v.Items {
		if i > 0 {
			b = append(b, ',')
		}
		if v.Kind == ObjectValue {
			b = append(AppendText(b, item.Name), ':')
		}
		b = item.AppendJSON(b)
	}
	return b
}

// typeName is the name of the value's type as the messages have it.
func (v Value) typeName() string {
	switch v.Kind {
	case NullValue:
		return "NoneType"
	case BoolValue:
		return "bool"
	case TextValue:
		return "str"
	case ListValue:
		return "list"
	case ObjectValue:
		return "dict"
	default:
		if strings.ContainsAny(v.Text, ".eE") {
			return "float"
		}
		return "int"
	}
}

// repr is the value as the message about a wrong choice quotes it.
func (v Value) repr() string {
	switch v.Kind {
	case NullValue:
		return "None"
	case BoolValue:
		return strings.ToUpper(v.Text[:1]) + v.Text[1:]
	case TextValue:
		return "'" + v.Text + "'"
	case NumberValue:
		return v.Text
	default:
		return v.reprItems()
	}
}

func (v Value) reprItems() string {
	var items []string
	for _, item := range v.Items {
		if v.Kind == ObjectValue {
			items = append(items, "'"+item.Name+"': "+item.repr())
			continue
		}
		items = append(items, item.repr())
	}
	if v.Kind == ObjectValue {
		return "{" + strings.Join(items, ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// surrogate finds half of a pair without its other half, in this value or
// below. Parse keeps such a half as three bytes that are no UTF-8.
func (v Value) surrogate() (rune, bool) {
	if r, has := surrogateIn(v.Text); has {
		return r, true
	}
	for _, item := range v.Items {
		if r, has := surrogateIn(item.Name); has {
			return r, true
		}
		if r, has := item.surrogate(); has {
			return r, true
		}
	}
	return 0, false
}

// hasNUL finds a null character, in this value or below. Postgres keeps none.
func (v Value) hasNUL() bool {
	return strings.IndexByte(v.Text, 0) >= 0 || strings.IndexByte(v.Name, 0) >= 0 || slices.ContainsFunc(v.Items, Value.hasNUL)
}

func surrogateIn(s string) (rune, bool) {
	if utf8.ValidString(s) {
		return 0, false
	}
	for i := 0; i+2 < len(s); i++ {
		if s[i] == 0xED && s[i+1] >= 0xA0 {
			return rune(s[i]&0x0f)<<12 | rune(s[i+1]&0x3f)<<6 | rune(s[i+2]&0x3f), true
		}
	}
	return utf8.RuneError, true
}

func appendSurrogate(b []byte, r rune) []byte {
	return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// duplicate tells whether the last member of an object repeats a name.
func duplicate(members []Value, seen map[string]bool) bool {
	last := members[len(members)-1].Name
	if seen == nil {
		return slices.ContainsFunc(members[:len(members)-1], func(m Value) bool { return m.Name == last })
	}
	if seen[last] {
		return true
	}
	seen[last] = true
	return false
}

// A SyntaxError says why a text is no JSON, and where.
type SyntaxError struct{ Message string }

func (e *SyntaxError) Error() string { return "JSON parse error - " + e.Message }

// where is the message with the place of the offset, counted in characters.
func where(message, s string, offset int) *SyntaxError {
	before := s[:offset]
	line := strings.Count(before, "\n") + 1
	char := utf8.RuneCountInString(before)
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{message + ": line " + strconv.Itoa(line) + " column " + strconv.Itoa(column) + " (char " + strconv.Itoa(char) + ")"}
}
