package field

import (
	"fmt"
	"slices"
)

// A Mode says which fields a request has to bring.
type Mode int

const (
	Create  Mode = iota // all that are required; defaults for the others
	Replace             // all that are required, but none that is secret or given once
	Patch               // only those that change
	Shown               // of answers: everything that is not secret
)

// Decode fills the record from a request and returns the fields that it set.
// The error is of type [Errors] and names every field that is wrong. Unknown
// fields and read-only fields are ignored. To replace or patch a record, its
// present values must be in place.
func (s Set) Decode(sent Value, mode Mode) (Set, error) {
	if wrong := notAnObject(sent); wrong != nil {
		return nil, wrong
	}
	var set Set
	var wrong Errors
	for i := range s {
		f := &s[i]
		if f.readOnly {
			continue
		}
		value, present := sent.Member(f.Name)
		for _, alias := range f.Aliases {
			if !present {
				value, present = sent.Member(alias)
			}
		}
		w := f.decode(value, present, mode)
		if len(w.Messages)+len(w.Items) > 0 {
			wrong = append(wrong, w)
		}
		if present {
			set = append(set, *f)
		}
	}
	return set, wrong.Err()
}

// DecodeJSON is Decode for a body that has not been parsed yet. An empty body
// is {}. The error is of type [Errors] or [*SyntaxError].
func (s Set) DecodeJSON(body []byte, mode Mode) (Set, error) {
	sent, err := Parse(body)
	if err != nil {
		return nil, err
	}
	return s.Decode(sent, mode)
}

func notAnObject(sent Value) error {
	switch sent.Kind {
	case ObjectValue:
		return nil
	case NullValue:
		return Errors{{Field: NonField, Messages: []string{"No data provided"}}}
	default:
		return Errors{{Field: NonField, Messages: []string{
			"Invalid data. Expected a dictionary, but got " + sent.typeName() + ".",
		}}}
	}
}

func (f *Field) decode(sent Value, present bool, mode Mode) Wrong {
	wrong := Wrong{Field: f.Name}
	switch {
	case present && f.once && mode != Create:
		wrong.Messages = f.repeat(sent)
	case present:
		wrong.Messages = f.take(sent)
		if l, isList := f.kind.(interface{ readItems(Value) Errors }); isList && wrong.Messages == nil {
			wrong.Items = l.readItems(sent)
		}
	case f.required && (mode == Create || mode == Replace && !f.once && !f.secret):
		wrong.Messages = []string{Missing}
	case mode == Create && f.hasPreset:
		f.preSet()
	}
	return wrong
}

// take reads one value. Null is a value only of kinds that know it.
func (f *Field) take(sent Value) []string {
	if f.emptied && (sent.Kind == NullValue || blankText(sent)) {
		f.preSet()
		return nil
	}
	if sent.Kind == NullValue && !f.takesNull() {
		return []string{NotNull}
	}
	return f.kind.read(sent, f)
}

func (f *Field) takesNull() bool {
	_, does := f.kind.(interface{ takesNull() })
	return does || f.orNull
}

func (nullable[T]) takesNull() {}

// repeat takes a value only if it is the one that the record has.
func (f *Field) repeat(sent Value) []string {
	other := *f
	other.kind = f.kind.apart()
	if wrong := other.decode(sent, true, Create); len(wrong.Messages)+len(wrong.Items) > 0 {
		return append(wrong.Messages, itemMessages(wrong.Items)...)
	}
	if !slices.Equal(f.kind.show(nil, f), other.kind.show(nil, &other)) {
		return []string{notChangeable}
	}
	return nil
}

func itemMessages(items Errors) (all []string) {
	for _, item := range items {
		all = append(all, item.Messages...)
	}
	return all
}

func (f *Field) preSet() {
	if !f.kind.set(f.preset) {
		panic(fmt.Sprintf("field %s: the default %v is of another type", f.Name, f.preset)) // declared wrong
	}
}
