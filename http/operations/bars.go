package operations

import (
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A choice narrows a list above which it stands.
type choice struct {
	name   string              // of the parameter, and of the field
	text   string              // what the keys of its options' texts begin with
	values []string            // that there are
	says   func(string) string // text of an option; nil: the text under its key
	value  func(string) any    // as the field has it; nil: the text
}

// asked is the part of a list that the query asks for, and the choices that say so. A
// value that there is not counts as none.
func asked(c route.Call, w web.Words, choices ...choice) (l projections.Listing, b *web.Bar) {
	l.Offset, l.Limit = (web.PageNumber(c)-1)*web.PageSize, web.PageSize
	b = &web.Bar{Action: c.Path}
	for _, one := range choices {
		shown := web.Filter{Name: one.name, Label: w["filter_"+one.name], Options: []web.Option{{Text: w["filter_all"]}}}
		for _, value := range one.values {
			shown.Options = append(shown.Options, web.Option{Value: value, Text: one.textOf(w, value)})
			if value == c.Param(one.name) {
				shown.Value = value
				l.Filters = append(l.Filters, projections.Filter{Field: one.name, Op: "=", Value: one.valueOf(value)})
			}
		}
		b.Filters = append(b.Filters, shown)
	}
	return l, b
}

func (o choice) textOf(w web.Words, value string) string {
	if o.says != nil {
		return o.says(value)
	}
	return w[o.text+value]
}

func (o choice) valueOf(value string) any {
	if o.value != nil {
		return o.value(value)
	}
	return value
}
