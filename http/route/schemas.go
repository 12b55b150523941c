package route

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hostpanel/domain/field"
)

// schemas are the bodies of the API document by name, so that clients that are
// generated from it have types with names (docs/api.md, "Generated clients").
// What the operation site_read shows is a Site, a page of them a SitePage; what
// site_create takes is a SiteCreate.
type schemas map[string]any

// bodies are those of all answers that show a record, and of refusals.
func (t *Table) bodies() schemas {
	all := maps.Clone(commonSchemas)
	for _, e := range t.endpoints {
		for _, method := range allowOrder {
			if r := e.methods[method]; r != nil && r.Answer.Fields != nil && r.showsRecords() {
				all.answer(r)
			}
		}
	}
	return all
}

// showsRecords tells the routes whose answers are named after what they show.
func (r *Route) showsRecords() bool {
	_, what := r.nounAndVerb()
	return what == "read" || what == "list"
}

// nounAndVerb take the operation's name apart: dns_zone and read.
func (r *Route) nounAndVerb() (noun, verb string) {
	name := r.operationID()
	at := strings.LastIndexByte(name, '_')
	if at < 0 {
		return name, ""
	}
	return name[:at], name[at+1:]
}

// request is what the route takes.
func (s schemas) request(r *Route) map[string]any {
	name := titled(r.operationID())
	s.put(name, r.Request.Fields().Schema(r.Request.Mode))
	return schemaRef(name)
}

// answer is what the route shows: a record, an array, or a page of them.
func (s schemas) answer(r *Route) map[string]any {
	name := s.record(r)
	one := schemaRef(name)
	many := map[string]any{"type": "array", "items": one}
	if r.Answer.Paged {
		s.put(name+"Page", pageOf(many))
	}
	switch {
	case r.Answer.Many && r.Answer.Paged:
		return map[string]any{"oneOf": []any{many, schemaRef(name + "Page")}}
	case r.Answer.Many:
		return many
	case r.Answer.Paged:
		return schemaRef(name + "Page")
	default:
		return one
	}
}

func pageOf(many map[string]any) map[string]any {
	link := map[string]any{"type": []any{"string", "null"}, "format": "uri"}
	return map[string]any{
		"type": "object", "required": []string{"count", "next", "previous", "results"},
		"properties": map[string]any{"count": map[string]any{"type": "integer"}, "next": link, "previous": link, "results": many},
	}
}

// record names one record that the route shows. Whatever looks the same as a
// record that has a route of its own is that record.
func (s schemas) record(r *Route) string {
	schema := r.Answer.Fields().Schema(field.Shown)
	noun, _ := r.nounAndVerb()
	if known, has := s[titled(noun)]; has && reflect.DeepEqual(known, any(schema)) {
		return titled(noun)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if reflect.DeepEqual(s[name], any(schema)) && !r.showsRecords() {
			return name
		}
	}
	name := titled(noun)
	if s[name] != nil {
		name = titled(r.operationID()) + "Answer"
	}
	s.put(name, schema)
	return name
}

// put adds a schema. Two of one name have to be the same.
func (s schemas) put(name string, schema map[string]any) {
	if known, has := s[name]; has && !reflect.DeepEqual(known, any(schema)) {
		panic(fmt.Sprintf("route: two bodies are called %s", name))
	}
	s[name] = schema
}

// titled is DnsZone for dns_zone.
func titled(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		first, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			b.WriteRune(unicode.ToUpper(first))
			b.WriteString(word[size:])
		}
	}
	return b.String()
}
