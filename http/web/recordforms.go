package web

import (
	"context"
	"net/url"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/http/route"
)

// A form of a record has an input for each field that a request may bring: a choice is a
// select, a flag a box, a list has an item a line. What it brings is decoded and checked
// as the body of that request is.

// Needed refuses a form in which something was left empty.
func Needed(sent url.Values, names ...string) error {
	var wrong field.Errors
	for _, name := range names {
		if sent.Get(name) == "" {
			wrong.Add(name, "This field may not be blank.")
		}
	}
	return wrong.Err()
}

// IsAsked tells whether a form of the mode asks for a field.
func IsAsked(f field.Field, mode field.Mode) bool {
	return !f.IsReadOnly() && (mode == field.Create || !f.IsOnce())
}

// RecordInputs are the inputs for the fields, with their values.
func RecordInputs(set field.Set, mode field.Mode) (all []Input) {
	for _, f := range set {
		if IsAsked(f, mode) {
			all = append(all, RecordInput(f, mode))
		}
	}
	return all
}

// RecordInput asks for a field.
func RecordInput(f field.Field, mode field.Mode) Input {
	about := f.Metadata()
	in := Input{
		Name: f.Name, Value: f.FormText(), Autocomplete: "off", Plain: about.Type == "decimal",
		Required: f.IsRequired() && (mode == field.Create || !f.IsSecret()),
	}
	if !f.IsList() {
		in.Long = bound(about.MaxLength)
	}
	switch {
	case about.Type == "boolean":
		in.Type = "check"
	case len(about.Choices) > 0:
		in.Type = "select"
		if !in.Required && in.Value == "" {
			in.Options = append(in.Options, Option{})
		}
		for _, one := range about.Choices {
			in.Options = append(in.Options, Option{Value: one.Value})
		}
	case f.IsSecret():
		in.Value, in.Autocomplete, in.IsVeiled = "", "new-password", true
		in.Type = map[bool]string{true: "lines", false: "password"}[f.HasLines()]
	case f.IsList(), f.HasLines():
		in.Type = "lines"
	case about.Type == "integer", about.Type == "field":
		in.Type, in.Min, in.Max = "number", bound(about.MinValue), bound(about.MaxValue)
		if mode == field.Create && !f.HasDefault() && in.Value == "0" {
			in.Value = "" // what is left empty is not sent, and decided when the record is made
		}
	}
	return in
}

// bound is a bound of a number or a length; 0: it has none.
func bound(at *int64) int {
	if at == nil {
		return 0
	}
	return int(*at)
}

// Body is what a form says of the fields that it asks for, as the body of a request says
// it. What was left empty is not sent of a new record, and neither is an empty password;
// of a record that exists it is empty from now on. A box that is not ticked is not in a
// form.
func Body(asked field.Set, form url.Values, mode field.Mode) field.Value {
	sent := field.Value{Kind: field.ObjectValue}
	for _, f := range asked {
		text, has := typed(f, form)
		switch {
		case !has, text == "" && (mode == field.Create || f.IsSecret()):
		case text == "" && !f.IsText() && !f.IsList():
			sent.Items = append(sent.Items, field.Value{Kind: field.NullValue, Name: f.Name})
		default:
			sent.Items = append(sent.Items, f.Sent(text))
		}
	}
	return sent
}

// typed is what was typed for a field, if the form asks for it.
func typed(f field.Field, form url.Values) (text string, has bool) {
	values, has := form[f.Name]
	if !has {
		_, isFlag := f.Value().(bool)
		return "false", isFlag
	}
	if text = values[len(values)-1]; !f.IsVerbatim() {
		text = strings.TrimSpace(text)
	}
	return text, true
}

// ReadRecord reads a form into a record, and says all that is wrong with it. The form asks
// for some of the fields. The call that is returned has what was sent.
func ReadRecord[R any](ctx context.Context, c route.Call, record R, asked, fields field.Set, form url.Values, mode field.Mode,
	check func(context.Context, route.Call, R, *field.Errors) error,
) (route.Call, error) {
	set, err := fields.Decode(Body(asked, form, mode), mode)
	wrong := field.ErrorsOf(err)
	if err != nil && len(wrong) == 0 {
		return c, err
	}
	c.Sent = set
	if err := check(ctx, c, record, &wrong); err != nil {
		return c, err
	}
	return c, wrong.In(fields).Err()
}

// DecodeForm fills a new record from a form.
func DecodeForm(into field.Record, form url.Values) error {
	_, err := into.Fields().Decode(Body(into.Fields(), form, field.Create), field.Create)
	return err
}

// ChangeRecord changes the named fields of a record to what a form says.
func ChangeRecord(record field.Record, form url.Values, names ...string) error {
	_, err := record.Fields().Decode(Body(record.Fields().Only(names...), form, field.Patch), field.Patch)
	return err
}

// FieldKey ends the names of the texts about a field of a record: label_ and note_. Some kinds
// have texts of their own, the others share them.
func (w Words) FieldKey(kind, field string) string {
	if own := kind + "_" + field; w["label_"+own] != "" {
		return own
	}
	return "record_" + field
}

// FieldLabel is what a field of a record of the kind is called.
func (w Words) FieldLabel(kind, field string) string { return w["label_"+w.FieldKey(kind, field)] }
