package ispconfigtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// An object is a JSON object whose order counts.
type object []pair

type pair struct {
	name  string
	value any // string, json.Number, int, bool, nil, object, []any
}

func (o object) get(name string) (any, bool) {
	for _, p := range o {
		if p.name == name {
			return p.value, true
		}
	}
	return nil, false
}

// parse reads JSON and keeps the order of members. An object that names a member
// twice is refused: PHP would take the last one without a word.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		all := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if _, twice := all.get(fmt.Sprint(name)); twice {
				return nil, fmt.Errorf("%v is named twice", name)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, pair{fmt.Sprint(name), value})
		}
		_, err := d.Token()
		return all, err
	case json.Delim('['):
		all := []any{}
		for d.More() {
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		_, err := d.Token()
		return all, err
	}
	if delim, is := token.(json.Delim); is {
		return nil, errors.New("unexpected " + delim.String())
	}
	return token, nil
}

// php writes JSON as PHP does: slashes escaped, everything beyond ASCII as
// \uXXXX, and an empty map as an empty list.
func php(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case json.Number:
		return v.String()
	case string:
		return phpText(v)
	case object:
		if len(v) == 0 {
			return "[]"
		}
		var parts []string
		for _, p := range v {
			parts = append(parts, phpText(p.name)+":"+php(p.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, php(one))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	panic(fmt.Sprintf("ispconfigtest: no PHP for %T", value))
}

func phpText(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\', r == '/':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < 0x20 || r > 0x7e:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// plain is a value as MySQL stores it: text, or nothing for null.
func plain(value any) *string {
	var s string
	switch v := value.(type) {
	case nil:
		return nil
	case bool:
		s = map[bool]string{true: "1", false: ""}[v]
	default:
		s = fmt.Sprint(v)
	}
	return &s
}

// serialised writes a row as PHP's serialize does.
func serialised(columns []string, values map[string]*string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "a:%d:{", len(columns))
	for _, c := range columns {
		fmt.Fprintf(&out, `s:%d:"%s";`, len(c), c)
		if v := values[c]; v == nil {
			out.WriteString("N;")
		} else {
			fmt.Fprintf(&out, `s:%d:"%s";`, len(*v), *v)
		}
	}
	return out.String() + "}"
}
