package field

import (
	"encoding/json"
	"strings"
)

// What a form has to know of a field, beyond what the API tells of it.

// Metadata is what holds of the field whatever the request.
func (f Field) Metadata() Metadata { return f.metadata() }

// IsOnce tells whether the value stays once it was given.
func (f Field) IsOnce() bool { return f.once }

// IsOneTime tells whether the value is shown only in the answer that made it.
func (f Field) IsOneTime() bool { return f.oneTime && !f.hidden }

// HasLines tells whether the text may have line breaks.
func (f Field) HasLines() bool { return f.lines }

// IsVerbatim tells whether the text is taken as it is, and never trimmed.
func (f Field) IsVerbatim() bool { return f.verbatim }

// IsList tells whether the value is a list, of which a form has an item a line.
func (f Field) IsList() bool {
	_, is := f.kind.(interface{ readItems(Value) Errors })
	return is
}

// IsReference tells whether the value is the number of another record, or null.
func (f Field) IsReference() bool {
	switch k := f.kind.(type) {
	case reference:
		return true
	case nullable[int64]:
		_, is := k.inner().(reference)
		return is
	}
	return false
}

// IsText tells whether the value is a text, which may be empty.
func (f Field) IsText() bool {
	_, is := f.Value().(string)
	return is
}

// FormText is the value as people read and type it; lists have an item a line, and
// what is null, or has parts, is blank.
func (f Field) FormText() string { return typedText(f.raw()) }

func typedText(raw json.RawMessage) string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		lines := make([]string, len(items))
		for i, item := range items {
			lines[i] = typedText(item)
		}
		return strings.Join(lines, "\n")
	}
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case raw[0] == '{':
		return ""
	}
	return string(raw) // a number or a flag
}

// Sent is a text of a form as the value of the field: of a list an item a line.
func (f Field) Sent(text string) Value {
	text = strings.ReplaceAll(text, "\r\n", "\n") // as browsers send line breaks
	if !f.IsList() {
		return Value{Kind: TextValue, Name: f.Name, Text: text}
	}
	list := Value{Kind: ListValue, Name: f.Name}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list.Items = append(list.Items, Value{Kind: TextValue, Text: line})
		}
	}
	return list
}
