package web

import (
	"net/url"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

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

// DecodeForm fills a new record from the fields of a form. One that was left
// empty was not sent; lists have an item a line.
func DecodeForm(into field.Record, form url.Values, lists ...string) error {
	sent := field.Value{Kind: field.ObjectValue}
	for name, values := range form {
		last := strings.TrimSpace(values[len(values)-1])
		switch {
		case last == "":
		case slices.Contains(lists, name):
			sent.Items = append(sent.Items, listed(name, last))
		default:
			sent.Items = append(sent.Items, field.Value{Kind: field.TextValue, Name: name, Text: last})
		}
	}
	_, err := into.Fields().Decode(sent, field.Create)
	return err
}

func listed(name, text string) field.Value {
	list := field.Value{Kind: field.ListValue, Name: name}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list.Items = append(list.Items, field.Value{Kind: field.TextValue, Text: line})
		}
	}
	return list
}

// ChangeRecord changes the named fields of a record to what a form says. Those
// that were left empty are empty now.
func ChangeRecord(record field.Record, form url.Values, names ...string) error {
	sent := field.Value{Kind: field.ObjectValue}
	for _, name := range names {
		sent.Items = append(sent.Items, field.Value{Kind: field.TextValue, Name: name, Text: form.Get(name)})
	}
	_, err := record.Fields().Decode(sent, field.Patch)
	return err
}
