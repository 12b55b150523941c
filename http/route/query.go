package route

import (
	"net/http"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

// Filter reads the query into fields that describe filters, and returns those
// that were given.
func (c Call) Filter(s field.Set) (field.Set, error) { return s.Filter(c.Query) }

// Search returns the terms of "?search=": split at blanks and commas, unless
// double quotes keep them together. Every term has to be found.
func (c Call) Search() ([]string, error) {
	text := c.Param("search")
	if strings.IndexByte(text, 0) >= 0 {
		return nil, &Refusal{Status: http.StatusBadRequest, Slug: "invalid", list: []string{"Null characters are not allowed."}}
	}
	var terms []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 { // between quotes
			terms = append(terms, part)
			continue
		}
		terms = append(terms, strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })...)
	}
	return slices.DeleteFunc(terms, func(term string) bool { return term == "" }), nil
}

// An Order is one criterion by which a list is sorted.
type Order struct {
	Field      string
	Descending bool
}

// ordered are the fields by which every list can be sorted.
var ordered = []string{"id", "created_at", "updated_at"}

// Ordering returns what "?ordering=domain,-id" asks for. Names that the list
// does not know are dropped; without a known one the list has its own order.
func (c Call) Ordering(known ...string) []Order {
	var by []Order
	for name := range strings.SplitSeq(c.Param("ordering"), ",") {
		name, descending := strings.CutPrefix(strings.TrimSpace(name), "-")
		if slices.Contains(known, name) || slices.Contains(ordered, name) {
			by = append(by, Order{name, descending})
		}
	}
	return by
}
