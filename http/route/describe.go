package route

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// description explains the route in the API document: in its own words, or in
// those for all routes that work alike.
func (r *Route) description() string {
	if r.About != "" {
		return r.About
	}
	sentences := append([]string{r.working()}, r.conditions()...)
	if r.Access.Scheme != "" {
		sentences = append(sentences, "Who may call it: "+r.Access.Rule+".")
	} else {
		sentences = append(sentences, "It needs no credentials.")
	}
	return strings.Join(sentences, " ")
}

// working is what the route does with its request and its answer.
func (r *Route) working() string {
	switch {
	case r.Show != nil:
		return "Sends " + strings.Join(slices.Sorted(maps.Keys(r.sends)), " or ") + "."
	case r.Method == http.MethodGet:
		return r.reading()
	default:
		return r.writing()
	}
}

// reading is what the answer to a GET shows.
func (r *Route) reading() string {
	switch {
	case r.Follow != nil:
		return "A stream of server-sent events."
	case r.Answer.Many && r.Answer.Paged:
		return "Shows all records as an array. With page or page_size, it shows one page of them."
	case r.Answer.Paged:
		return "Shows one page of the records. The links next and previous lead to other pages."
	case r.Answer.Many:
		return "Shows all records as an array."
	default:
		return "Shows the record as it is now."
	}
}

// writing is what becomes of the fields that are sent, or what is answered.
func (r *Route) writing() string {
	switch {
	case r.Method == http.MethodPut:
		return "Replaces all fields. A field that is left out gets its default."
	case r.Method == http.MethodPatch:
		return "Changes the fields that are sent. Other fields stay as they are."
	case r.Status == http.StatusCreated:
		return "Answers with the new record. Location is its URL."
	case r.Status == http.StatusAccepted:
		return "The work goes on after the answer. Location, if there is one, is the URL that shows its progress."
	case r.Status == http.StatusNoContent:
		return "The answer has no body."
	default:
		return "Answers with the record as it is afterwards."
	}
}

// conditions are what request headers change.
func (r *Route) conditions() (all []string) {
	if r.Method == http.MethodGet && r.hasVersion() {
		all = append(all, "With If-None-Match, the answer to an unchanged ETag is 304.")
	}
	if r.Method != http.MethodGet && r.Find != nil {
		all = append(all, "With If-Match, only the version of that ETag is changed.")
	}
	if r.takesKey() {
		all = append(all, "With an Idempotency-Key, a repeat gets the first answer and changes nothing.")
	}
	return all
}
