package ispconfig

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A wish is an object as the panel wants it, with what the engine has to be
// told about it.
type wish struct {
	hosting.EngineObject
	server int64 // that it shall be on
	group  int64 // of the owner
	site   row   // that it belongs to
	zone   row
	mail   row   // settings of the mail server
	user   int64 // of a database
	today  string
}

func (w *wish) text(name string) (s string) {
	_ = json.Unmarshal(w.Values[name], &s) // absent and null are ""
	return s
}

func (w *wish) flag(name string) (is bool) {
	_ = json.Unmarshal(w.Values[name], &is)
	return is
}

func (w *wish) number(name string) (n int64) {
	_ = json.Unmarshal(w.Values[name], &n)
	return n
}

func (w *wish) has(name string) bool { return len(w.Values[name]) > 0 }

// A column is one column of the engine's tables: what the panel writes into it
// and how the panel reads it.
type column struct {
	name    string
	wish    func(*wish) any            // text or number; nil: not sent
	show    func(row) (string, any)    // the panel's field and its value
	fields  []string                   // of the panel, that it follows from
	changes bool                       // an update sends it where it differs
	always  bool                       // an update sends it even if it does not differ, as it is stored
	secret  func(*wish) (string, bool) // instead of wish: never read back
}

// fixed is a column that the panel has no field for.
func fixed(name string, value any) column {
	return column{name: name, wish: func(*wish) any { return value }}
}

// given is a column that follows from more than one field.
func given(name string, value func(*wish) any) column { return column{name: name, wish: value} }

// natural is the column that holds the object's name.
func natural(name string) column {
	return column{name: name, wish: func(w *wish) any { return w.Name }}
}

func text(name, field string) column {
	return column{
		name: name, fields: []string{field},
		wish: func(w *wish) any { return w.text(field) },
		show: func(r row) (string, any) { return field, r[name] },
	}
}

func number(name, field string) column {
	return column{
		name: name, fields: []string{field},
		wish: func(w *wish) any { return w.number(field) },
		show: func(r row) (string, any) { return field, r.number(name) },
	}
}

func flag(name, field string) column {
	return column{
		name: name, fields: []string{field},
		wish: func(w *wish) any { return yes(w.flag(field)) },
		show: func(r row) (string, any) { return field, r.on(name) },
	}
}

// megabytes is a limit that the engine counts in MB. It takes zero for no limit
// at all, so zero is never sent.
func megabytes(name, field string) column {
	return column{
		name: name, fields: []string{field},
		wish: func(w *wish) any {
			if mb := w.number(field); mb > 0 {
				return mb
			}
			return int64(hosting.Unlimited)
		},
		show: func(r row) (string, any) { return field, r.number(name) },
	}
}

// secret is a column that is written and never read.
func secret(name, field string) column {
	return column{name: name, changes: true, fields: []string{field}, secret: func(w *wish) (string, bool) {
		value := w.Secrets[field]
		return value, value != ""
	}}
}

func changing(c column) column { c.changes = true; return c }
func always(c column) column   { c.always = true; return c }

// from names the fields that a column follows from.
func (c column) from(fields ...string) column { c.fields, c.changes = fields, true; return c }

// shows tells how a column is read.
func (c column) shows(field string, value func(row) any) column {
	c.show = func(r row) (string, any) { return field, value(r) }
	return c
}

// The engine's flags are "y" and "n" and nothing else: what looks like a flag
// elsewhere is stored as "n" or as nothing.
func yes(is bool) string {
	if is {
		return "y"
	}
	return "n"
}

// stored is a value as the engine will show it.
func stored(value any) string { return fmt.Sprint(value) }

// same compares a stored value with a wanted one. DNS rows show their flags in
// capitals.
func same(have string, want any) bool {
	w := stored(want)
	return have == w || len(have) == 1 && strings.EqualFold(have, w)
}

// first are the columns of a new row.
func (r *resource) first(w *wish) members {
	var all members
	for _, c := range r.columns {
		if c.secret != nil {
			if value, sent := c.secret(w); sent {
				all = append(all, member{c.name, value})
			}
		} else if value := c.wish(w); value != nil {
			all = append(all, member{c.name, value})
		}
	}
	return all
}

// difference are the columns of an update: what differs, and with it what has
// to be repeated lest the engine changes it. Nothing differs: nothing.
func (r *resource) difference(w *wish, have row) members {
	var repeated, differing members
	for _, c := range r.columns {
		switch value, differs := c.differs(w, have); {
		case differs:
			differing = append(differing, member{c.name, value})
		case c.always:
			repeated = append(repeated, member{c.name, have[c.name]})
		}
	}
	if len(differing) == 0 {
		return nil
	}
	return append(repeated, differing...)
}

func (c column) differs(w *wish, have row) (value any, differs bool) {
	if !c.changes || !w.touches(c.fields) {
		return nil, false
	}
	if c.secret != nil {
		return c.secret(w)
	}
	value = c.wish(w)
	return value, value != nil && !same(have[c.name], value)
}

// touches tells whether a change is about any of the fields.
func (w *wish) touches(fields []string) bool {
	if len(w.Changed) == 0 || len(fields) == 0 {
		return true
	}
	for _, f := range fields {
		for _, c := range w.Changed {
			if f == c {
				return true
			}
		}
	}
	return false
}

// shown are the panel's fields as the row says them.
func (r *resource) shown(have row) field.Values {
	all := field.Values{}
	for _, c := range r.columns {
		if c.show == nil {
			continue
		}
		if name, value := c.show(have); name != "" {
			all[name], _ = json.Marshal(value) // text, numbers and flags have no errors
		}
	}
	return all
}

// speakable refuses what the engine would store as something else.
func (w *wish) speakable(r *resource) error {
	texts := []string{w.Name, w.Ref}
	for _, raw := range w.Values {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			texts = append(texts, s)
		}
	}
	for _, s := range texts {
		if strings.ContainsFunc(s, func(c rune) bool { return c > 0xFFFF || c == '\u0000' || c == unicode.ReplacementChar }) {
			return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("a %s with a character that the engine cannot store", w.Kind))
		}
	}
	if !r.canonical(w.Name) {
		return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("a %s whose name is not as the engine stores it", w.Kind))
	}
	for _, field := range []string{"name", "company_name", "contact_name"} {
		if strings.ContainsAny(w.text(field), "<>") {
			return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("a %s with a tag in %s", w.Kind, field))
		}
	}
	return nil
}

// canonical tells whether a name is as the engine stores it, which is the only
// form that it finds: ASCII, domains in lower case.
func (r *resource) canonical(name string) bool {
	return r.anyName || (!r.lower || strings.ToLower(name) == name) &&
		!strings.ContainsFunc(name, func(c rune) bool { return c < '!' || c > '~' || c == '%' })
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
