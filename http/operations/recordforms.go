package operations

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// A form of a record has an input for each field that a request may bring, as OPTIONS
// of its call describes them. It is read and checked as that request is.

// inputsOf are the inputs for the fields, with their values.
func inputsOf(fields field.Set, mode field.Mode) (all []web.Input) {
	values := fields.Values()
	for _, f := range fields.Describe(mode, nil) {
		if f.ReadOnly {
			continue
		}
		in := web.Input{Name: f.Name, Value: typed(values[f.Name]), Required: f.Required, Autocomplete: "off"}
		shape(&in, f.Metadata)
		all = append(all, in)
	}
	return all
}

// shape is how an input asks for a field.
func shape(in *web.Input, m field.Metadata) {
	switch m.Type {
	case "choice":
		in.Type = "select"
		for _, one := range m.Choices {
			in.Options = append(in.Options, web.Option{Value: one.Value})
		}
	case "boolean":
		in.Type, in.Options = "select", []web.Option{{Value: "true"}, {Value: "false"}}
	case "integer", "field":
		in.Type = "number"
		in.Min, in.Max = bound(m.MinValue), bound(m.MaxValue)
	case "list":
		in.Type = "lines"
	case "decimal":
		in.Plain = true
	default:
		in.Long = bound(m.MaxLength)
		if in.Name == "description" {
			in.Type = "lines"
		}
	}
}

func bound(at *int64) int {
	if at == nil {
		return 0
	}
	return int(*at)
}

// typed is a value as people type it: a list has an item a line.
func typed(raw json.RawMessage) string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil && items != nil {
		lines := make([]string, len(items))
		for i, item := range items {
			lines[i] = typed(item)
		}
		return strings.Join(lines, "\n")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// filledIn is what a form says of the fields. One that was left empty is not sent of a
// new record; of one that exists it is empty from now on: null, if it may be that.
func filledIn(fields field.Set, form url.Values, mode field.Mode) field.Value {
	sent := field.Value{Kind: field.ObjectValue}
	for _, f := range fields.Describe(mode, nil) {
		if _, has := form[f.Name]; !has || f.ReadOnly {
			continue
		}
		text := strings.TrimSpace(form.Get(f.Name))
		switch {
		case f.Type == "list":
			sent.Items = append(sent.Items, lines(f.Name, text))
		case text == "" && mode == field.Create:
		case text == "" && f.Type != "string" && f.Type != "url" && f.Type != "slug":
			sent.Items = append(sent.Items, field.Value{Kind: field.NullValue, Name: f.Name})
		default:
			sent.Items = append(sent.Items, field.Value{Kind: field.TextValue, Name: f.Name, Text: text})
		}
	}
	return sent
}

func lines(name, text string) field.Value {
	list := field.Value{Kind: field.ListValue, Name: name}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			list.Items = append(list.Items, field.Value{Kind: field.TextValue, Text: line})
		}
	}
	return list
}

// readForm reads a form into a record, and checks it as the call of the API does. The
// call then has what was sent.
func readForm[R any](ctx context.Context, c route.Call, record R, fields field.Set, form url.Values, mode field.Mode,
	check func(context.Context, route.Call, R, *field.Errors) error,
) (route.Call, error) {
	sent, err := fields.Decode(filledIn(fields, form, mode), mode)
	wrong := field.ErrorsOf(err)
	if err != nil && len(wrong) == 0 {
		return c, err
	}
	c.Sent = sent
	if err := check(ctx, c, record, &wrong); err != nil {
		return c, err
	}
	return c, wrong.In(fields).Err()
}

// without leaves out inputs.
func without(inputs []web.Input, names ...string) []web.Input {
	return slices.DeleteFunc(inputs, func(in web.Input) bool { return slices.Contains(names, in.Name) })
}

func numbered(id int64) string { return strconv.FormatInt(id, 10) + "/" }
