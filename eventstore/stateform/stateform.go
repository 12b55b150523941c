// Package stateform writes folded states as JSON and reads them back exactly. It tells
// which types have such a form, and how much memory a state takes.
package stateform

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Encode returns the JSON of a state. Raw JSON in it keeps its characters as they are.
func Encode(state any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(state); err != nil {
		return nil, fmt.Errorf("encode a state: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads a state of type S.
func Decode[S any](data []byte) (S, error) {
	var state S
	if err := json.Unmarshal(data, &state); err != nil {
		return state, fmt.Errorf("decode a state: %w", err)
	}
	return state, nil
}

var (
	ownJSON = reflect.TypeFor[json.Marshaler]()
	ownText = reflect.TypeFor[encoding.TextMarshaler]()
)

// Shape returns a hash of a type's form: names, types and JSON names of all its fields.
// It is exact if JSON keeps everything of a value: no field is private or left out, and
// nothing is an interface, a channel or a function.
func Shape(t reflect.Type) (shape string, exact bool) {
	s := shaper{seen: map[reflect.Type]bool{}, exact: true}
	s.walk(t)
	sum := sha256.Sum256([]byte(s.text.String()))
	return hex.EncodeToString(sum[:8]), s.exact
}

type shaper struct {
	text  strings.Builder
	seen  map[reflect.Type]bool
	exact bool
}

func (s *shaper) walk(t reflect.Type) {
	fmt.Fprintf(&s.text, "%s %s;", t.Kind(), t)
	if s.seen[t] || t.Implements(ownJSON) || t.Implements(ownText) {
		return
	}
	s.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		s.walk(t.Elem())
	case reflect.Map:
		s.walk(t.Key())
		s.walk(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.exact = s.exact && f.IsExported() && name != "-"
			fmt.Fprintf(&s.text, "%s %q ", f.Name, f.Tag.Get("json"))
			s.walk(f.Type)
		}
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Invalid:
		s.exact = false
	default: // numbers, flags and texts
	}
}

// Size estimates the bytes of memory that a state takes.
func Size(state any) int {
	v := reflect.ValueOf(state)
	if !v.IsValid() {
		return 0
	}
	return int(v.Type().Size()) + beyond(v) //nolint:gosec // no type is so large
}

// mapEntry is what an entry of a map takes beside its key and value, about.
const mapEntry = 16

// beyond estimates what a value refers to.
func beyond(v reflect.Value) (size int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size = int(v.Elem().Type().Size()) + beyond(v.Elem()) //nolint:gosec // no type is so large
		}
	case reflect.Slice:
		size = v.Cap() * int(v.Type().Elem().Size()) //nolint:gosec // no type is so large
		if isFlat(v.Type().Elem().Kind()) {
			return size
		}
		for i := range v.Len() {
			size += beyond(v.Index(i))
		}
	case reflect.Array:
		for i := 0; i < v.Len() && !isFlat(v.Type().Elem().Kind()); i++ {
			size += beyond(v.Index(i))
		}
	case reflect.Map:
		size = v.Len() * (mapEntry + int(v.Type().Key().Size()+v.Type().Elem().Size())) //nolint:gosec // no type is so large
		for each := v.MapRange(); each.Next(); {
			size += beyond(each.Key()) + beyond(each.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += beyond(v.Field(i))
		}
	default: // it refers to nothing
	}
	return size
}

// isFlat tells whether values of a kind are numbers or flags.
func isFlat(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }
