package ispconfigtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed schema.json
var schemaText []byte

// A table is one of the engine's: its columns with their defaults, as the
// samples show them.
type table struct {
	name, key string
	columns   []string
	defaults  map[string]*string
	flags     map[string]bool
	rows      []*record
	next      int
}

type record struct{ values map[string]*string }

func (r *record) text(column string) string {
	if v := r.values[column]; v != nil {
		return *v
	}
	return ""
}

func (r *record) set(column, value string) { r.values[column] = &value }

func (r *record) copy() *record {
	c := &record{map[string]*string{}}
	for k, v := range r.values {
		c.values[k] = v
	}
	return c
}

func tables() map[string]*table {
	var schema map[string][][]any
	if err := json.Unmarshal(schemaText, &schema); err != nil {
		panic("ispconfigtest: schema.json: " + err.Error())
	}
	all := map[string]*table{}
	for name, columns := range schema {
		t := &table{name: name, defaults: map[string]*string{}, flags: map[string]bool{}, next: 1}
		for i, c := range columns {
			column := fmt.Sprint(c[0])
			if i == 0 {
				t.key = column
			}
			t.columns = append(t.columns, column)
			if c[1] != nil {
				t.defaults[column] = plain(c[1])
			}
			t.flags[column] = len(c) > 2
		}
		all[name] = t
	}
	all["dns_rr"].next = 100001
	return all
}

func (t *table) find(id int) *record {
	for _, r := range t.rows {
		if r.text(t.key) == strconv.Itoa(id) {
			return r
		}
	}
	return nil
}

func (t *table) has(column string) bool { return slices.Contains(t.columns, column) }

// put writes a value as MySQL would: a flag that is none is lost.
func (t *table) put(r *record, column string, value any) {
	v := plain(value)
	if v != nil {
		*v = filtered(t.name, column, *v)
	}
	if t.flags[column] {
		v = plain(asFlag(value))
		if strings.HasPrefix(t.name, "dns_") {
			v = plain(strings.ToUpper(*v))
		}
	}
	r.values[column] = v
}

func asFlag(value any) string {
	s, text := value.(string)
	switch {
	case text && (strings.EqualFold(s, "y") || strings.EqualFold(s, "n")):
		return s
	case text && s == "yes":
		return ""
	}
	return "n"
}

// insert makes a row of params and the defaults.
func (t *table) insert(params object, server string, group int) *record {
	r := &record{map[string]*string{}}
	for column, value := range t.defaults {
		r.values[column] = value
	}
	if strings.HasPrefix(t.name, "dns_") && params != nil {
		r.set("active", "N")
	}
	for _, p := range params {
		if t.has(p.name) && p.name != t.key {
			t.put(r, p.name, p.value)
		}
	}
	r.set(t.key, strconv.Itoa(t.next))
	t.next++
	if t.has("server_id") {
		r.set("server_id", server)
	}
	r.set("sys_userid", strconv.Itoa(group))
	r.set("sys_groupid", strconv.Itoa(group))
	t.rows = append(t.rows, r)
	return r
}

func (t *table) show(r *record) object {
	var o object
	for _, c := range t.columns {
		if v := r.values[c]; v != nil {
			o = append(o, pair{c, *v})
		} else {
			o = append(o, pair{c, nil})
		}
	}
	return o
}

// match carries out a filter: AND, without regard to case, LIKE where there is
// a per cent sign. A column that is not there, or a paging key before one that
// is, finds nothing.
func (t *table) match(filter object) (found []*record, unknown []string) {
	paged := false
	for _, p := range filter {
		switch {
		case strings.HasPrefix(p.name, "#"):
			paged = true
		case !t.has(p.name):
			unknown = append(unknown, p.name)
		case paged:
			return nil, nil
		}
	}
	if len(unknown) > 0 {
		return nil, unknown
	}
	for _, r := range t.rows {
		if matches(r, filter) {
			found = append(found, r)
		}
	}
	return found, nil
}

func matches(r *record, filter object) bool {
	for _, p := range filter {
		if strings.HasPrefix(p.name, "#") {
			continue
		}
		want := plain(p.value)
		if want == nil || !like(r.text(p.name), *want) {
			return false
		}
	}
	return true
}

func like(have, want string) bool {
	have, want = strings.ToLower(have), strings.ToLower(want)
	before, after, wild := strings.Cut(want, "%")
	if !wild {
		return have == want
	}
	return strings.HasPrefix(have, before) && strings.HasSuffix(have, strings.TrimSuffix(after, "%"))
}

func (t *table) remove(r *record) {
	t.rows = slices.DeleteFunc(t.rows, func(other *record) bool { return other == r })
}
