package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A fieldRow is a field of a body, a record or a query. Link names the record that
// the field has, if that is shown elsewhere.
type fieldRow struct {
	Name, Type, About, Link string
	Required                bool
}

// fields are those of a schema; those that a caller has to send come first.
func (d *document) fields(s *schema) (all []fieldRow) {
	s = d.resolved(s)
	if s == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, d.field(name, s.Properties[name], slices.Contains(s.Required, name)))
	}
	slices.SortStableFunc(all, func(a, b fieldRow) int { return order(b.Required) - order(a.Required) })
	return all
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

func (d *document) field(name string, s *schema, required bool) fieldRow {
	return fieldRow{Name: name, Type: d.typeOf(s), About: s.about(), Link: linked(s), Required: required}
}

func (s *schema) about() string {
	if s == nil {
		return ""
	}
	return s.Description
}

// linked is the record that a field holds one or several of.
func linked(s *schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return refersTo(s)
	}
	return linked(s.Items)
}

// typeOf tells what a value may be: "integer or null", "a | b", "list of Plan".
func (d *document) typeOf(s *schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return refersTo(s)
	case len(s.Enum) > 0:
		return choices(s.Enum)
	case s.Items != nil:
		return "list of " + d.typeOf(s.Items)
	case len(s.AnyOf) > 0:
		return d.oneOf(s.AnyOf)
	}
	return strings.TrimSpace(strings.Join([]string{plainType(s), s.bounds()}, " "))
}

func (d *document) oneOf(all []*schema) string {
	var parts []string
	for _, one := range all {
		if text := d.typeOf(one); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " or ")
}

func choices(all []any) string {
	parts := make([]string, len(all))
	for i, one := range all {
		if parts[i] = fmt.Sprint(one); one == nil {
			parts[i] = "null"
		}
	}
	return strings.Join(parts, " | ")
}

func plainType(s *schema) string {
	name := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Type), " ", " or "), "[]")
	if s.Type == nil {
		name = "any"
	}
	if s.Format != "" && s.Format != "int64" {
		name += " (" + s.Format + ")"
	}
	return name
}

// bounds are the limits of a value, and what it is when it is not sent.
func (s *schema) bounds() string {
	var all []string
	if s.Minimum != nil {
		all = append(all, "≥ "+s.Minimum.String())
	}
	if s.Maximum != nil {
		all = append(all, "≤ "+s.Maximum.String())
	}
	if s.MaxLength != nil {
		all = append(all, fmt.Sprintf("≤ %d characters", *s.MaxLength))
	}
	if s.Default != nil && fmt.Sprint(s.Default) != "" {
		all = append(all, fmt.Sprintf("= %v", s.Default))
	}
	return strings.Join(all, ", ")
}
