package field

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Metadata is what a form has to know of a field: what OPTIONS answers
// (docs/api.md, "Asking what may be sent").
type Metadata struct {
	Type      string    `json:"type"` // "string", "integer", "choice", "field" for the number of another record
	Required  bool      `json:"required"`
	ReadOnly  bool      `json:"read_only"`
	Label     string    `json:"label"`
	Help      string    `json:"help_text,omitempty"`
	MinLength *int64    `json:"min_length,omitempty"`
	MaxLength *int64    `json:"max_length,omitempty"`
	MinValue  *int64    `json:"min_value,omitempty"`
	MaxValue  *int64    `json:"max_value,omitempty"`
	MaxDigits *int32    `json:"max_digits,omitempty"`
	Places    *int32    `json:"decimal_places,omitempty"`
	Choices   []Choice  `json:"choices,omitempty"`
	Child     *Metadata `json:"child,omitempty"` // of each item of a list
	Children  Described `json:"children,omitempty"`
}

// A Choice is one of the texts that a field may be.
type Choice struct {
	Value string `json:"value"`
	Name  string `json:"display_name"`
}

// Described are fields with their names, in order.
type Described []struct {
	Name string
	Metadata
}

// MarshalJSON shows the fields as one object.
func (d Described) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range d {
		var about bytes.Buffer
		encoder := json.NewEncoder(&about)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(f.Metadata); err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(AppendText(b, f.Name), ':'), about.Bytes()...)
	}
	return append(b, '}'), nil
}

// Describe tells what requests of the mode may bring, and what answers show
// besides: first the fields of the answer, then what is never shown.
func (s Set) Describe(mode Mode, answer Set) (all Described) {
	add := func(f Field, readOnly bool) {
		m := f.metadata()
		m.ReadOnly, m.Required = readOnly, !readOnly && f.isAlways(mode)
		all = append(all, struct {
			Name string
			Metadata
		}{f.Name, m})
	}
	for _, f := range answer {
		switch sent, has := s.Named(f.Name); {
		case f.hidden:
		case has && !sent.readOnly:
			add(sent, false)
		default:
			add(f, true)
		}
	}
	for _, f := range s {
		if !answer.Has(f.Name) && !f.readOnly {
			add(f, false)
		}
	}
	return all
}

// metadata is what holds of the field whatever the request.
func (f *Field) metadata() Metadata {
	m := Metadata{Label: label(f.Name), Help: f.About}
	f.kind.describe(f, &m)
	return m
}

// label is a field's name for people: "Ip address".
func label(name string) string {
	if name == "id" {
		return "ID"
	}
	runes := []rune(strings.ReplaceAll(name, "_", " "))
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}

var typeOfFormat = map[string]string{"email": "email", "uri": "url"}

func (text) describe(f *Field, m *Metadata) {
	if f.OneOf != nil {
		m.Type = "choice"
		for _, one := range f.OneOf {
			m.Choices = append(m.Choices, Choice{one, one})
		}
		return
	}
	m.Type = "string"
	for _, r := range f.rules {
		if as, has := typeOfFormat[r.Format]; has {
			m.Type = as
		}
	}
	if slices.ContainsFunc(f.rules, func(r Rule) bool { return r.Pattern != "" && r.Pattern == Slug.Pattern }) {
		m.Type = "slug"
	}
	if most := f.longest(); !f.readOnly {
		m.MaxLength = &most
	}
	if f.limit.hasMin {
		m.MinLength = &f.limit.min
	}
}

func (integer) describe(f *Field, m *Metadata) {
	m.Type = "integer"
	f.limit.values(m)
}

// values puts the bounds of a number into what a form has to know.
func (l limit) values(m *Metadata) {
	if least := l.min; l.hasMin {
		if l.hasOr {
			least = min(least, l.or)
		}
		m.MinValue = &least
	}
	if l.hasMax {
		m.MaxValue = &l.max
	}
}

func (a *amount) describe(f *Field, m *Metadata) {
	m.Type, m.MaxDigits, m.Places = "decimal", &a.digits, &a.places
	f.limit.values(m)
}

func (flag) describe(_ *Field, m *Metadata)       { m.Type = "boolean" }
func (moment) describe(_ *Field, m *Metadata)     { m.Type = "datetime" }
func (identifier) describe(_ *Field, m *Metadata) { m.Type = "string" }
func (reference) describe(_ *Field, m *Metadata)  { m.Type = "field" }
func (anything) describe(_ *Field, m *Metadata)   { m.Type = "field" }

func (n nullable[T]) describe(f *Field, m *Metadata) { n.inner().describe(f, m) }

func (l list[T]) describe(f *Field, m *Metadata) {
	item := l.item(new(T))
	child := item.metadata()
	m.Type, m.Child = "list", &child
	if f.limit.hasMin {
		m.MinLength = &f.limit.min
	}
	if f.limit.hasMax {
		m.MaxLength = &f.limit.max
	}
}

func (object[T, P]) describe(_ *Field, m *Metadata) {
	m.Type, m.Children = "nested object", Set(nil).Describe(Shown, P(new(T)).Fields())
}

func (w within) describe(_ *Field, m *Metadata) {
	m.Type, m.Children = "nested object", Set(nil).Describe(Shown, w.of())
}

func (objects[T, P]) describe(_ *Field, m *Metadata) {
	m.Type, m.Child = "list", &Metadata{Type: "nested object", ReadOnly: true, Children: Set(nil).Describe(Shown, P(new(T)).Fields())}
}
