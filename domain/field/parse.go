package field

import (
	"fmt"
	"strings"
)

const (
	depthMax    = 32     // objects and lists within each other
	valuesMax   = 10_000 // in one text, so that none takes many times its length in memory
	membersScan = 16     // members of an object above which names are looked up in a map
)

// Parse reads a JSON text strictly: no duplicate keys, no NaN, nothing after
// the value, at most 32 levels and 10,000 values, only UTF-8. An empty text is
// {}. The error is a [*SyntaxError].
func Parse(body []byte) (Value, error) {
	if len(body) == 0 {
		return Value{Kind: ObjectValue}, nil
	}
	if err := checkUTF8(body); err != nil {
		return Value{}, err
	}
	p := parser{text: string(body)}
	v := p.value()
	p.blanks()
	if p.wrong == nil && p.at < len(p.text) {
		p.fail("Extra data", p.at)
	}
	if p.wrong != nil {
		return Value{}, p.wrong
	}
	return v, nil
}

// A parser stops at the first thing that is wrong.
type parser struct {
	text  string
	at    int
	depth int
	count int // of values
	wrong *SyntaxError
}

func (p *parser) fail(message string, at int) {
	if p.wrong == nil {
		p.wrong = where(message, p.text, at)
	}
}

func (p *parser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek is the next character, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value() Value {
	p.blanks()
	if p.count++; p.count > valuesMax {
		p.fail("Too many values", p.at)
		return Value{}
	}
	switch p.peek() {
	case '"':
		return Value{Kind: TextValue, Text: p.string()}
	case '{':
		return p.object()
	case '[':
		return p.list()
	default:
		return p.word()
	}
}

var words = []struct {
	text string
	is   Value
}{
	{"null", Value{Kind: NullValue}},
	{"true", Value{Kind: BoolValue, Text: "true"}},
	{"false", Value{Kind: BoolValue, Text: "false"}},
}

func (p *parser) word() Value {
	rest := p.text[p.at:]
	for _, w := range words {
		if strings.HasPrefix(rest, w.text) {
			p.at += len(w.text)
			return w.is
		}
	}
	for _, name := range []string{"NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(rest, name) && p.wrong == nil {
			p.wrong = &SyntaxError{fmt.Sprintf("Out of range float values are not JSON compliant: '%s'", name)}
		}
	}
	n := numberLength(rest)
	if n == 0 {
		p.fail("Expecting value", p.at)
	}
	p.at += n
	return Value{Kind: NumberValue, Text: rest[:n]}
}

// numberLength is the length of the number at the beginning of s; 0: none.
func numberLength(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	n := i + digits(s[i:])
	if n == i {
		return 0
	}
	if s[i] == '0' {
		n = i + 1
	}
	if d := 0; n < len(s) && s[n] == '.' {
		if d = digits(s[n+1:]); d > 0 {
			n += 1 + d
		}
	}
	return n + exponentLength(s[n:])
}

func exponentLength(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if d := digits(s[i:]); d > 0 {
		return i + d
	}
	return 0
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// enter counts the levels.
func (p *parser) enter() bool {
	if p.depth++; p.depth > depthMax {
		p.fail("Nesting too deep", p.at)
		return false
	}
	p.at++
	p.blanks()
	return true
}

func (p *parser) list() Value {
	v := Value{Kind: ListValue}
	if !p.enter() {
		return v
	}
	for first := true; p.more(']', first); first = false {
		v.Items = append(v.Items, p.value())
	}
	return v
}

func (p *parser) object() Value {
	v := Value{Kind: ObjectValue}
	if !p.enter() {
		return v
	}
	var seen map[string]bool
	for first := true; p.more('}', first); first = false {
		at := p.at
		member := p.member()
		v.Items = append(v.Items, member)
		if len(v.Items) == membersScan {
			seen = namesOf(v.Items[:membersScan-1])
		}
		if p.wrong == nil && duplicate(v.Items, seen) {
			p.fail("Duplicate key", at)
		}
	}
	return v
}

func namesOf(members []Value) map[string]bool {
	seen := make(map[string]bool, 4*membersScan)
	for _, m := range members {
		seen[m.Name] = true
	}
	return seen
}

// more stands before the next item, or behind the end of the list or object.
func (p *parser) more(end byte, first bool) bool {
	if p.wrong != nil {
		return false
	}
	p.blanks()
	if p.peek() == end && p.at < len(p.text) {
		p.at++
		p.depth--
		return false
	}
	if !first {
		if p.peek() != ',' {
			p.fail("Expecting ',' delimiter", p.at)
			return false
		}
		p.at++
		p.blanks()
	}
	if end == '}' && p.peek() != '"' {
		p.fail("Expecting property name enclosed in double quotes", p.at)
		return false
	}
	return true
}

func (p *parser) member() Value {
	name := p.string()
	p.blanks()
	if p.wrong == nil && p.peek() != ':' {
		p.fail("Expecting ':' delimiter", p.at)
	}
	if p.wrong != nil {
		return Value{}
	}
	p.at++
	v := p.value()
	v.Name = name
	return v
}
