package route

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// limitHeaders are those of every answer to a call that was counted.
var limitHeaders = []string{
	"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}

var answerHeaders = map[string]any{
	"X-Request-ID":          textHeader("Names the request in our logs. Taken from the request if it has one."),
	"X-Error-Code":          textHeader("What is wrong, for programs."),
	"Retry-After":           numberHeader("Seconds until a repeat makes sense."),
	"Location":              textHeader("URL of the record."),
	"ETag":                  textHeader("Version of the record."),
	"WWW-Authenticate":      textHeader("Which credentials are asked for."),
	"RateLimit":             textHeader("What is left of the quota."),
	"RateLimit-Policy":      textHeader("The quota."),
	"X-RateLimit-Limit":     numberHeader("Calls of the quota."),
	"X-RateLimit-Remaining": numberHeader("Calls that are left of the quota."),
	"X-RateLimit-Reset":     numberHeader("Seconds until a call comes back to the quota."),
	"Idempotent-Replayed":   textHeader("\"true\" when the answer was given before."),
	unknownFields:           textHeader("Fields of the request that mean nothing here, by name: they were ignored."),
}

func textHeader(about string) map[string]any {
	return map[string]any{"description": about, "schema": map[string]any{"type": "string"}}
}

func numberHeader(about string) map[string]any {
	return map[string]any{"description": about, "schema": map[string]any{"type": "integer"}}
}

// An outcome is an answer besides success: its name among the responses that routes share,
// and when it comes. Without a name it is that of one route alone.
type outcome struct{ name, when string }

// outcomes are all that the route may answer with besides success, by status.
func (r *Route) outcomes() map[int]outcome {
	all := map[int]outcome{}
	when := func(holds bool, status int, name, about string) {
		if holds {
			all[status] = outcome{name, about}
		}
	}
	json, takes, secured, keyed := r.Show == nil, r.Request.Fields != nil, r.Access.Scheme != "", r.takesKey()
	gets := r.Method == http.MethodGet
	barred := r.Access.Admit != nil || r.Bar != nil || r.Access.isForged(r.Method)
	when(true, http.StatusInternalServerError, "InternalServerError", "A fault of ours.")
	when(true, http.StatusServiceUnavailable, "ServiceUnavailable", "Something that we need does not answer.")
	when(gets && r.hasVersion(), http.StatusNotModified, "NotModified", "Unchanged since If-None-Match.")
	when(takes, http.StatusBadRequest, "BadRequest", "The body or a field is wrong.")
	when(r.Answer.Paged && len(r.Params) > 0, http.StatusBadRequest, "BadQuery", "A filter or the search is wrong.")
	when(secured, http.StatusUnauthorized, "Unauthorized", "The credentials are missing or wrong.")
	when(secured && barred, http.StatusForbidden, "Forbidden", "The caller may not do this.")
	when(json || strings.Contains(r.Path, "{"), http.StatusNotFound, "NotFound",
		"There is no such thing, or format, for this caller.")
	when(json, http.StatusNotAcceptable, "NotAcceptable", "The answer would be JSON.")
	when(secured && !keyed && !gets, http.StatusConflict, "Conflict", "Not in the present state.")
	when(keyed, http.StatusConflict, "KeyConflict", "Not in the present state, or a request with this key is running.")
	when(r.Find != nil && !gets, http.StatusPreconditionFailed, "PreconditionFailed",
		"The record is not the one that If-Match names.")
	when(takes || r.raw, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "The body is too large.")
	when(json && takes, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "The body is not application/json.")
	when(keyed, http.StatusUnprocessableEntity, "KeyMismatch", "The Idempotency-Key belongs to another request.")
	when(r.Access.Limit != nil, http.StatusTooManyRequests, "TooManyRequests", "Too many calls.")
	for _, f := range r.Fails {
		when(true, f.Status, "", f.When)
	}
	return all
}

// takesKey tells whether the route looks at an Idempotency-Key.
func (r *Route) takesKey() bool { return r.keep != "" && r.Access.Scheme != "" }

// outcomes are the responses that routes share, by name.
type outcomes map[string]any

// put adds a response. Two of one name have to be the same.
func (all outcomes) put(name string, response map[string]any) map[string]any {
	if known, has := all[name]; has && !reflect.DeepEqual(known, any(response)) {
		panic(fmt.Sprintf("route: two responses are called %s", name))
	}
	all[name] = response
	return map[string]any{"$ref": "#/components/responses/" + name}
}

func (r *Route) responses(bodies schemas, shared outcomes) map[string]any {
	all := map[string]any{strconv.Itoa(r.Status): r.success(bodies)}
	if other := *r; r.also != 0 {
		other.Status = r.also
		all[strconv.Itoa(r.also)] = other.success(bodies)
	}
	for status, e := range r.outcomes() {
		counted, read := r.sees(status)
		answer := map[string]any{"description": e.when, "headers": outcomeHeaders(status, counted, read)}
		if content := r.failure(status, bodies); content != nil {
			answer["content"] = content
		}
		if e.name != "" && status != r.also {
			answer = shared.put(e.name+suffix(counted, read), answer)
		}
		all[strconv.Itoa(status)] = answer
	}
	return all
}

// suffix tells shared responses with headers of the quota and of the body from those without.
func suffix(counted, read bool) string {
	switch {
	case counted && read:
		return "WithQuotaAndFields"
	case counted:
		return "WithQuota"
	case read:
		return "WithFields"
	}
	return ""
}

// failure is the body of a refusal.
func (r *Route) failure(status int, bodies schemas) map[string]any {
	switch {
	case status < http.StatusBadRequest:
		return nil
	case status == r.also:
		return r.content(bodies)
	case status != http.StatusBadRequest || r.raw:
		return jsonOf(schemaRef("Error"))
	case r.Answer.Paged:
		return jsonOf(schemaRef("InvalidQuery"))
	default:
		return jsonOf(schemaRef("Invalid"))
	}
}

func headerRefs(names ...string) map[string]any {
	all := map[string]any{}
	for _, name := range names {
		all[name] = map[string]any{"$ref": "#/components/headers/" + name}
	}
	return all
}

// sees tells whether a call that ends so was counted, and whether its body was read.
func (r *Route) sees(status int) (counted, read bool) {
	if status == http.StatusUnauthorized || status == http.StatusNotAcceptable {
		return false, false
	}
	return r.Access.Limit != nil, r.Request.Fields != nil && status >= http.StatusBadRequest
}

func outcomeHeaders(status int, counted, read bool) map[string]any {
	names := []string{"X-Request-ID"}
	if status >= http.StatusBadRequest {
		names = append(names, "X-Error-Code")
	}
	switch status {
	case http.StatusUnauthorized:
		names = append(names, "WWW-Authenticate")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusConflict:
		names = append(names, "Retry-After") // a conflict may be with a request that is running
	case http.StatusNotModified, http.StatusPreconditionFailed:
		names = append(names, "ETag")
	}
	if counted {
		names = append(names, limitHeaders...)
	}
	if read {
		names = append(names, unknownFields)
	}
	return headerRefs(names...)
}

func (r *Route) success(bodies schemas) map[string]any {
	names := []string{"X-Request-ID"}
	if r.Access.Limit != nil {
		names = append(names, limitHeaders...)
	}
	if r.locates() {
		names = append(names, "Location")
	}
	if r.hasVersion() {
		names = append(names, "ETag")
	}
	if r.takesKey() {
		names = append(names, "Idempotent-Replayed")
	}
	if r.Request.Fields != nil {
		names = append(names, unknownFields)
	}
	answer := map[string]any{"description": http.StatusText(r.Status), "headers": headerRefs(names...)}
	if content := r.content(bodies); content != nil {
		answer["content"] = content
	}
	return answer
}

// locates tells whether a successful answer names a URL.
func (r *Route) locates() bool {
	made := r.Status == http.StatusCreated || r.Status == http.StatusAccepted || r.also != 0
	return made && r.Method == http.MethodPost
}

// hasVersion tells whether a successful answer has an ETag.
func (r *Route) hasVersion() bool { return r.hashed || r.tagged || r.Find != nil }

// content is the body of a successful answer.
func (r *Route) content(bodies schemas) map[string]any {
	switch {
	case r.sends != nil:
		return r.sends
	case r.Answer.Fields == nil, r.Status == http.StatusNoContent:
		return nil
	case r.Follow != nil:
		return eventsOf(bodies.answer(r))
	default:
		return jsonOf(bodies.answer(r))
	}
}

// eventsOf is a stream of events. What the data of each is, has no place in
// the schema of a text.
func eventsOf(data map[string]any) map[string]any {
	return map[string]any{eventStream: map[string]any{"schema": map[string]any{"type": "string"}, "x-event-data": data}}
}
