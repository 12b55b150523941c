package route

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"hostpanel/domain/field"
)

// parseQuery reads a query as Python's parse_qsl does, and so Django: ";" is a
// character like others, and a "%" that begins no escape is itself. Bytes that
// are no UTF-8 become U+FFFD, which no record has.
func parseQuery(raw string) url.Values {
	query := url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			query.Add(unescaped(name), unescaped(value))
		}
	}
	return query
}

func unescaped(s string) string {
	var text []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if code, err := hex.DecodeString(s[min(i+1, len(s)):min(i+3, len(s))]); c == '%' && err == nil && len(code) == 1 {
			c, i = code[0], i+2
		} else if c == '+' {
			c = ' '
		}
		text = append(text, c)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// isText tells what Postgres takes as a text: UTF-8 without a null character.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// areTexts tells whether all names and values of a form are texts. Browsers
// send no others.
func areTexts(form url.Values) bool {
	for name, values := range form {
		if !isText(name) || slices.ContainsFunc(values, func(s string) bool { return !isText(s) }) {
			return false
		}
	}
	return true
}

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
