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
		return noNUL, false
	}
	if t, isText := f.kind.(interface{ keep(string) bool }); isText && f.OneOf == nil && t.keep(s) {
		return "", false
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

// keep takes the text of a filter without its checks. One that no record can
// have finds none; without it, the filter would find all.
func (t text) keep(s string) bool {
	*t.at = strings.TrimSpace(s)
	return true
}

func (n nullable[T]) keep(s string) bool {
	v := new(T)
	inner, isText := n.of("", v).kind.(text)
	if isText {
		*n.at = v
		inner.keep(s)
	}
	return isText
}

// keep takes the texts of a set, parted by commas.
func (l list[T]) keep(s string) bool {
	texts, are := any(l.at).(*[]string)
	if are {
		*texts = strings.Split(s, ",")
		for i := range *texts {
			(*texts)[i] = strings.TrimSpace((*texts)[i])
		}
	}
	return are
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

// notFiltering is what is wrong with a filter. A wrong boolean filters nothing.
func (f *Field) notFiltering(s string) (message string, ignored bool) {
	if f.OneOf != nil {
		return NotAmong(s), false
	}
	of := f.kind
	if n, is := of.(interface{ inner() kind }); is {
		of = n.inner()
	}
	switch of.(type) {
	case flag:
		return "", true
	case reference:
		return NoSuchChoice, false
	case identifier:
		return "Enter a valid UUID.", false
	case moment:
		return "Enter a valid date/time.", false
	}
	return "Enter a number.", false
}
