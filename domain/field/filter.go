package field

import (
	"strings"

	"github.com/google/uuid"
)

// Filter reads query parameters into the fields that describe them, and
// returns those that were given. Of a repeated parameter the last one counts;
// an empty one, and a boolean that is none, filter nothing. Ranges and sets
// are fields of their own: "created_at__gte", "id__in". The error is of type
// [Errors], in the words of filters.
func (s Set) Filter(query map[string][]string) (Set, error) {
	var given Set
	var wrong Errors
	for i := range s {
		f := &s[i]
		values := query[f.Name]
		if len(values) == 0 || strings.TrimSpace(values[len(values)-1]) == "" {
			continue
		}
		message, ignored := f.filter(values[len(values)-1])
		switch {
		case message != "":
			wrong = append(wrong, Wrong{Field: f.Name, Messages: []string{message}})
		case !ignored:
			given = append(given, *f)
		}
	}
	return given, wrong.Err()
}

func (f *Field) filter(s string) (message string, ignored bool) {
	if strings.IndexByte(s, 0) >= 0 {
		return "Null characters are not allowed.", false
	}
	sent := Value{Kind: TextValue, Text: s}
	if _, isList := f.kind.(interface{ readItems(Value) Errors }); isList {
		return f.filterSet(s), false
	}
	if len(f.take(sent)) == 0 {
		return "", false
	}
	return f.notFiltering(s)
}

// filterSet reads "1,2" as a list.
func (f *Field) filterSet(s string) string {
	list := Value{Kind: ListValue}
	for item := range strings.SplitSeq(s, ",") {
		list.Items = append(list.Items, Value{Kind: TextValue, Text: item})
	}
	l, _ := f.kind.(interface{ readItems(Value) Errors })
	switch _, ofIDs := f.kind.place().(*[]uuid.UUID); {
	case len(f.take(list)) == 0 && len(l.readItems(list)) == 0:
		return ""
	case ofIDs:
		return "Enter a valid UUID."
	}
	return "Enter a number."
}

func (f *Field) notFiltering(s string) (message string, ignored bool) {
	switch f.kind.(type) {
	case flag:
		return "", true
	case integer, amount:
		return "Enter a number.", false
	case reference:
		return NoSuchChoice, false
	case identifier:
		return "Enter a valid UUID.", false
	case moment:
		return "Enter a valid date/time.", false
	}
	if f.OneOf != nil {
		return NotAmong(s), false
	}
	return "", true // a text that no record can have is left to the list, which is empty
}
