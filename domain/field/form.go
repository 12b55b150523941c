package field

import (
	"strconv"
	"strings"
	"time"
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

// FormText is the value as people read and type it; lists have an item a line,
// and what is null is blank.
func (f Field) FormText() string {
	switch v := f.Value().(type) {
	case string:
		return v
	case *string:
		return ofPointer(v, func(s string) string { return s })
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case *int64:
		return ofPointer(v, func(n int64) string { return strconv.FormatInt(n, 10) })
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case *time.Time:
		return ofPointer(v, func(at time.Time) string { return at.UTC().Format(time.RFC3339) })
	case []string:
		return strings.Join(v, "\n")
	}
	return ""
}

func ofPointer[T any](v *T, text func(T) string) string {
	if v == nil {
		return ""
	}
	return text(*v)
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
