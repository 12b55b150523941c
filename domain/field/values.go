package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Values are the fields of a record as the log keeps them.
type Values map[string]json.RawMessage

// Values are the fields of the record as the log keeps them.
func (s Set) Values() Values {
	v := Values{}
	for i := range s {
		v[s[i].Name] = s[i].raw()
	}
	return v
}

func (f *Field) raw() json.RawMessage {
	raw, err := json.Marshal(f.kind.place())
	if err != nil {
		panic(fmt.Sprintf("field %s: %v", f.Name, err)) // texts, numbers and times always encode
	}
	return raw
}

// Load fills the record from the log. Fields that the log does not have keep
// what they are.
func (s Set) Load(v Values) error {
	for i := range s {
		f := &s[i]
		raw, kept := v[f.Name]
		if !kept {
			continue
		}
		if plain(raw, f.kind.place()) {
			continue
		}
		if err := json.Unmarshal(raw, f.kind.place()); err != nil {
			return fmt.Errorf("load %s: %w", f.Name, err)
		}
	}
	return nil
}

// plain reads what most fields hold: a text without escapes, a number, a
// boolean. Everything else is left to package json, which takes many times as
// long.
func plain(raw json.RawMessage, place any) bool {
	switch at := place.(type) {
	case *string:
		return plainText(raw, at)
	case *int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err == nil {
			*at = n
		}
		return err == nil
	case *bool:
		if is := string(raw); is == "true" || is == "false" {
			*at = is == "true"
			return true
		}
	}
	return false
}

func plainText(raw json.RawMessage, at *string) bool {
	end := len(raw) - 1
	if end < 1 || raw[0] != '"' || raw[end] != '"' || !utf8.Valid(raw) {
		return false
	}
	for _, c := range raw[1:end] {
		if c == '\\' || c == '"' || c < ' ' {
			return false
		}
	}
	*at = string(raw[1:end])
	return true
}

// ScanBytes takes the fields out of an object as Postgres shows it, which is
// valid and names each of them once.
func (v *Values) ScanBytes(object []byte) error {
	*v = nil
	if object == nil {
		return nil
	}
	if len(object) == 0 || object[0] != '{' {
		return json.Unmarshal(object, (*map[string]json.RawMessage)(v))
	}
	*v = Values{}
	rest := bytes.Clone(object[1:]) // the connection's own is written over
	for {
		rest = bytes.TrimLeft(rest, ", ")
		if len(rest) == 0 || rest[0] == '}' {
			return nil
		}
		var name string
		colon := valueEnd(rest)
		if !plain(rest[:colon], &name) {
			if err := json.Unmarshal(rest[:colon], &name); err != nil {
				return fmt.Errorf("read an object of the database: %w", err)
			}
		}
		rest = bytes.TrimLeft(rest[colon:], ": ")
		end := valueEnd(rest)
		(*v)[name] = json.RawMessage(rest[:end:end])
		rest = rest[end:]
	}
}

// valueEnd is where the JSON value ends with which a text begins.
func valueEnd(text []byte) int {
	depth, quoted := 0, false
	for at := 0; at < len(text); at++ {
		c := text[at]
		switch {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && bytes.IndexByte([]byte(",:} "), c) >= 0:
			return at
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// Label is the name that people know a record by: its domain, name or username.
func (v Values) Label() string {
	for _, name := range []string{"domain", "name", "username"} {
		var text string
		if err := json.Unmarshal(v[name], &text); err == nil && text != "" {
			return text
		}
	}
	return ""
}
