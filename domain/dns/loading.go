package dns

import (
	"slices"
	"strings"
)

// names are what a zone knows, by full name. A name that only stands above
// another one has no types.
type names struct {
	origin string
	types  map[string][]string
	served bool // by a name server at the apex that can be reached
}

func namesOf(origin string, records []Record) names {
	n := names{origin: origin, types: map[string][]string{}}
	for _, r := range records {
		n.add(r.Name, r.Type)
		for name := above(r.Name); len(name) > len(origin); name = above(name) {
			n.add(name)
		}
	}
	n.served = slices.ContainsFunc(records, func(r Record) bool { return n.atApex(r) && n.reaches(r.Data, false) })
	return n
}

func (n names) add(name string, types ...string) { n.types[name] = append(n.types[name], types...) }

func (n names) atApex(r Record) bool { return r.Type == NS && r.Name == n.origin }

// keepsFromLoading is why name servers refuse a zone with the record, or "".
// They want each mail host and each name server of the zone that is in it to
// have an address there. Where no name server has one, the zone cannot be right
// in any way, and they shall say so.
func (n names) keepsFromLoading(r Record) string {
	switch {
	case CheckOwner(r.Type, r.Name, n.origin) != nil:
		return "no host has this name"
	case r.Type == MX && !n.reaches(r.Data, true), n.atApex(r) && n.served && !n.reaches(r.Data, false):
		return r.Data + " has no address"
	}
	return ""
}

// reaches tells whether a name leads to an address, as far as the zone knows: by
// itself, by a wildcard, or, where that may be, by an alias. What is not in
// the zone, or handed on, others have to know.
func (n names) reaches(name string, alias bool) bool {
	if name == "." || !n.within(name) {
		return true
	}
	types, known := n.types[name]
	for up := name; !known && up != n.origin; {
		up = above(up)
		if _, known = n.types[up]; known || up == n.origin {
			types, known = n.types["*."+up], true
		}
	}
	return slices.Contains(types, A) || slices.Contains(types, AAAA) || alias && slices.Contains(types, CNAME)
}

// within tells whether the zone itself answers for a name.
func (n names) within(name string) bool {
	for ; name != n.origin; name = above(name) {
		if !strings.HasSuffix(name, "."+n.origin) || slices.Contains(n.types[name], NS) {
			return false
		}
	}
	return true
}

// above is the name that this one is part of.
func above(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	return rest
}
