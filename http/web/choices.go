package web

import (
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A Choice narrows a list above which it stands.
type Choice struct {
	Name   string                             // of the parameter, and of the field
	Text   string                             // what the keys of its options' texts begin with
	Values []string                           // that there are
	Says   func(w Words, value string) string // text of an option; nil: the text under its key
	Value  func(string) any                   // as the field has it; nil: the text
}

// Asked is the part of a list that the query asks for, and the choices that say so. A
// value that there is not counts as none.
func Asked(c route.Call, w Words, choices ...Choice) (l projections.Listing, b *Bar) {
	l.Offset, l.Limit = (PageNumber(c)-1)*PageSize, PageSize
	b = &Bar{Action: c.Path}
	for _, one := range choices {
		shown := Filter{Name: one.Name, Label: w["filter_"+one.Name], Options: []Option{{Text: w["filter_all"]}}}
		for _, value := range one.Values {
			shown.Options = append(shown.Options, Option{Value: value, Text: one.textOf(w, value)})
			if value == c.Param(one.Name) {
				shown.Value = value
				l.Filters = append(l.Filters, projections.Filter{Field: one.Name, Op: "=", Value: one.valueOf(value)})
			}
		}
		b.Filters = append(b.Filters, shown)
	}
	return l, b
}

// IsTrue is the value of a flag, as a [Choice] has it.
func IsTrue(text string) any { return text == "true" }

func (o Choice) textOf(w Words, value string) string {
	if o.Says != nil {
		return o.Says(w, value)
	}
	return w[o.Text+value]
}

func (o Choice) valueOf(value string) any {
	if o.Value != nil {
		return o.Value(value)
	}
	return value
}
