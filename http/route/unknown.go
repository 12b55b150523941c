package route

import (
	"strings"

	"hostpanel/domain/field"
)

// unknownFields is the header of an answer that names the fields of the request which
// mean nothing here. They are ignored, and often misspelt.
const unknownFields = "X-Unknown-Fields"

const (
	unknownMost    = 10 // names in the header; "..." stands for the others
	unknownLongest = 40 // characters of a name
)

// names are what the fields of the route are called, in requests and answers. Clients
// send back what they were shown.
func (r *Route) names() map[string]bool {
	all := map[string]bool{}
	for _, set := range []field.Set{r.Request.Fields(), r.answerFields()} {
		for _, f := range set {
			all[f.Name] = true
			for _, alias := range f.Aliases {
				all[alias] = true
			}
		}
	}
	return all
}

// tellUnknown names the unknown fields of a request in its answer. Values are never
// shown, and names only as far as a header may hold them.
func (x *exchange) tellUnknown() {
	if x.route.known == nil || x.call.json.Kind != field.ObjectValue {
		return
	}
	known, unknown := x.route.known(), []string{}
	for _, member := range x.call.json.Items {
		if known[member.Name] {
			continue
		}
		if len(unknown) == unknownMost {
			unknown = append(unknown, "...")
			break
		}
		unknown = append(unknown, headerToken(member.Name))
	}
	if len(unknown) > 0 {
		x.w.Header().Set(unknownFields, strings.Join(unknown, ", "))
	}
}

// headerToken is a name with letters, digits, "_" and "-" alone, and not too long.
func headerToken(name string) string {
	token := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	if token == "" {
		return "_"
	}
	return token[:min(len(token), unknownLongest)]
}
