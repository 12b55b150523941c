package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

type reference struct{ at *int64 }

func (r reference) place() any                     { return r.at }
func (r reference) apart() kind                    { return reference{new(int64)} }
func (r reference) set(v any) bool                 { return setInt(r.at, v) }
func (r reference) show(b []byte, _ *Field) []byte { return strconv.AppendInt(b, *r.at, 10) }

func (reference) schema(*Field) map[string]any {
	return map[string]any{"type": "integer", "format": "int64"}
}

func (r reference) read(sent Value, _ *Field) []string {
	s := strings.TrimSpace(sent.Text)
	switch {
	case blankText(sent):
		return []string{NotNull}
	case sent.Kind != NumberValue && sent.Kind != TextValue, !wholeNumber(s):
		return []string{fmt.Sprintf("Incorrect type. Expected pk value, received %s.", sent.typeName())}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return []string{NoSuchPK(s)}
	}
	*r.at = n
	return nil
}

func wholeNumber(s string) bool { return integral.MatchString(s) && !strings.Contains(s, ".") }

// blankText is how forms send a reference to nothing.
func blankText(sent Value) bool {
	return sent.Kind == TextValue && strings.TrimSpace(sent.Text) == ""
}

// A nullable kind is another kind, or null.
type nullable[T any] struct {
	at **T
	of func(name string, at *T) Field
}

func orNull[T any](at **T, of func(string, *T) Field) kind { return nullable[T]{at, of} }

func (n nullable[T]) place() any  { return n.at }
func (n nullable[T]) apart() kind { return nullable[T]{new(*T), n.of} }
func (n nullable[T]) inner() kind { return n.of("", new(T)).kind }

func (n nullable[T]) read(sent Value, f *Field) []string {
	v := new(T)
	inner := n.of("", v).kind
	if _, isReference := inner.(reference); sent.Kind == NullValue || isReference && blankText(sent) {
		*n.at = nil
		return nil
	}
	*n.at = v
	return inner.read(sent, f)
}

func (n nullable[T]) show(b []byte, f *Field) []byte {
	if *n.at == nil {
		return append(b, "null"...)
	}
	return n.of("", *n.at).kind.show(b, f)
}

func (n nullable[T]) set(v any) bool {
	if v == nil {
		*n.at = nil
		return true
	}
	at := new(T)
	*n.at = at
	return n.of("", at).kind.set(v)
}

func (n nullable[T]) schema(f *Field) map[string]any {
	s := n.of("", new(T)).kind.schema(f)
	s["type"] = []any{s["type"], "null"}
	if f.OneOf != nil {
		choices := []any{nil}
		for _, choice := range f.OneOf {
			choices = append(choices, choice)
		}
		s["enum"] = choices
	}
	return s
}

// A list holds values of one simple kind.
type list[T any] struct {
	at   *[]T
	item func(at *T) Field
}

func listOf[T any](at *[]T, of func(string, *T) Field, options func(Field) Field) kind {
	return list[T]{at, func(at *T) Field {
		if options == nil {
			return of("", at)
		}
		return options(of("", at))
	}}
}

func (l list[T]) place() any  { return l.at }
func (l list[T]) apart() kind { return list[T]{new([]T), l.item} }

func (l list[T]) set(v any) bool {
	items, ok := v.([]T)
	if ok {
		*l.at = append([]T{}, items...)
	}
	return ok
}

func (l list[T]) read(sent Value, f *Field) []string {
	n := int64(len(sent.Items))
	switch {
	case sent.Kind == NullValue && f.orNull:
		return nil
	case sent.Kind != ListValue:
		return []string{fmt.Sprintf("Expected a list of items but got type \"%s\".", sent.typeName())}
	case f.limit.hasMin && n == 0 && f.limit.min > 0:
		return []string{"This list may not be empty."}
	case f.limit.hasMin && n < f.limit.min:
		return []string{fmt.Sprintf("Ensure this field has at least %d elements.", f.limit.min)}
	case f.limit.hasMax && n > f.limit.max:
		return []string{fmt.Sprintf("Ensure this field has no more than %d elements.", f.limit.max)}
	}
	return nil
}

// readItems takes the items. What is wrong is named by its place in the list.
func (l list[T]) readItems(sent Value) (wrong Errors) {
	if sent.Kind == NullValue {
		*l.at = nil
		return nil
	}
	items := make([]T, len(sent.Items))
	for i, item := range sent.Items {
		f := l.item(&items[i])
		if messages := f.take(item); len(messages) > 0 {
			wrong = append(wrong, Wrong{Field: strconv.Itoa(i), Messages: messages})
		}
	}
	*l.at = items
	return wrong
}

func (l list[T]) show(b []byte, f *Field) []byte {
	if f.orNull && *l.at == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range *l.at {
		if i > 0 {
			b = append(b, ',')
		}
		f := l.item(&(*l.at)[i])
		b = f.kind.show(b, &f)
	}
	return append(b, ']')
}

func (l list[T]) schema(f *Field) map[string]any {
	item := l.item(new(T))
	s := map[string]any{"type": "array", "items": item.kind.schema(&item)}
	f.limit.describe(s, "minItems", "maxItems")
	if f.orNull {
		s["type"] = []any{"array", "null"}
	}
	return s
}

type anything struct{ at *json.RawMessage }

func (a anything) place() any  { return a.at }
func (a anything) apart() kind { return anything{new(json.RawMessage)} }
func (a anything) schema(f *Field) map[string]any {
	if f.orNull {
		return map[string]any{"type": []any{"array", "boolean", "number", "object", "string", "null"}}
	}
	return map[string]any{}
}

func (a anything) read(sent Value, _ *Field) []string {
	if r, has := sent.surrogate(); has {
		return []string{fmt.Sprintf("Surrogate characters are not allowed: U+%X.", r)}
	}
	if sent.hasNUL() {
		return []string{noNUL}
	}
	*a.at = sent.AppendJSON(nil)
	return nil
}

func (a anything) show(b []byte, _ *Field) []byte {
	if len(*a.at) == 0 {
		return append(b, "null"...)
	}
	return appendCompact(b, *a.at)
}

func (a anything) set(v any) bool {
	raw, err := json.Marshal(v)
	*a.at = raw
	return err == nil
}

// appendCompact appends raw JSON in the form that answers have: without
// blanks, and with U+2028 and U+2029 escaped.
func appendCompact(b, raw []byte) []byte {
	if v, err := Parse(raw); err == nil {
		return v.AppendJSON(b)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return append(b, "null"...)
	}
	return append(b, compact.Bytes()...)
}
