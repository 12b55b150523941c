package ispconfig

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// An object in its desired state, with the further values that the engine needs
// for it.
type wish struct {
	hosting.EngineObject
	server    int64  // the server of the object
	reference string // of a client
	login     string // of a client, where its name is burned
	servers   Servers
	storage   int64 // the owner's limit in MB; 0: not known
	group     int64 // the group of the owner
	site      row   // the parent site
	zone      row
	mail      row   // the settings of the mail server
	user      int64 // the database user
	today     string
	shared    netip.Addr // for which the address `*` of a site stands; zero: any
	asked     bool       // only whether the form takes it
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

// A column is one column of the engine's tables: the value that the panel writes,
// and how the panel reads it.
type column struct {
	name    string
	wish    func(*wish) any            // text or number; nil: not sent
	show    func(row) (string, any)    // the panel's field and its value
	fields  []string                   // fields of the panel that determine it
	changes bool                       // an update sends it if it differs
	always  bool                       // an update also sends an equal value, as it is stored
	secret  func(*wish) (string, bool) // write-only value, never read back
	same    func(*wish, row) bool      // the row says what is desired; nil: the texts are equal
}

// fixed is a column with a constant value.
func fixed(name string, value any) column {
	return column{name: name, wish: func(*wish) any { return value }}
}

// given is a column that is computed from several fields.
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

// megabytes is a limit in MB. Zero means unlimited to the engine, so zero is never
// sent.
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

// from names the fields that determine a column.
func (c column) from(fields ...string) column { c.fields, c.changes = fields, true; return c }

// shows sets how a column is read.
func (c column) shows(field string, value func(row) any) column {
	c.show = func(r row) (string, any) { return field, value(r) }
	return c
}

// alike sets how a stored value is compared with the desired one, where both have
// several forms.
func (c column) alike(same func(*wish, row) bool) column { c.same = same; return c }

// yes encodes a flag as "y" or "n". The engine stores any other value as "n" or as
// an empty text.
func yes(is bool) string {
	if is {
		return "y"
	}
	return "n"
}

// stored is a value as the engine returns it.
func stored(value any) string { return fmt.Sprint(value) }

// same compares a stored value with the desired one. DNS rows have flags in
// capitals.
func same(have string, want any) bool {
	w := stored(want)
	return have == w || len(have) == 1 && strings.EqualFold(have, w)
}

// first returns the columns of a new row.
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

// difference returns the columns of an update: those that differ, and those that
// the engine would change if they were left out. It is empty without a difference.
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
	if c.same != nil {
		return value, value != nil && !c.same(w, have)
	}
	return value, value != nil && !same(have[c.name], value)
}

// touches tells whether a change concerns any of the fields.
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

// shown returns the panel's fields from a row.
func (r *resource) shown(have row) field.Values {
	all := field.Values{}
	for _, c := range r.columns {
		if c.show == nil {
			continue
		}
		name, value := c.show(have)
		if name == "" {
			continue
		}
		told, again := all[name]
		if all[name], _ = json.Marshal(value); again && string(told) != string(all[name]) { // text, numbers and flags have no errors
			all[name] = []byte("null") // its columns say different things
		}
	}
	return all
}

// canonical tells whether a name has the form that the engine stores and finds:
// ASCII, with domains in lower case.
func (r *resource) canonical(name string) bool {
	return r.anyName || (!r.lower || strings.ToLower(name) == name) &&
		!strings.ContainsFunc(name, func(c rune) bool { return c < '!' || c > '~' || c == '%' })
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
