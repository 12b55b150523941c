package route

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
)

// Document is the OpenAPI document of all routes. It panics if a declaration
// makes no sense.
func (t *Table) Document() map[string]any {
	paths, schemes, tags, bodies := map[string]any{}, map[string]any{}, []any{}, t.bodies()
	for i := range t.areas {
		tags = append(tags, map[string]any{"name": t.areas[i].Name, "description": t.areas[i].About})
	}
	for _, e := range t.endpoints {
		item := map[string]any{}
		for _, method := range slices.Sorted(maps.Keys(e.methods)) { // the first to have a schema names it
			r := e.methods[method]
			op := r.operation(e, bodies)
			t.options.Examples[r.operationID()].exemplify(op)
			item[strings.ToLower(method)] = op
			r.Access.describe(schemes)
		}
		paths[e.plain] = item
	}
	document := map[string]any{
		"openapi": "3.1.0",
		"info":    t.info(),
		"servers": []any{map[string]any{"url": "/"}},
		"tags":    tags, "paths": paths,
		"components": map[string]any{"securitySchemes": schemes, "schemas": map[string]any(bodies), "headers": answerHeaders},
	}
	if len(t.options.Webhooks) > 0 {
		document["webhooks"] = t.webhooks()
	}
	return document
}

func (t *Table) info() map[string]any {
	info := map[string]any{"title": t.options.Title, "version": t.options.Version}
	if t.options.License != "" {
		info["license"] = map[string]any{"name": t.options.License, "identifier": t.options.License}
	}
	return info
}

// commonSchemas are those that no route declares.
var commonSchemas = schemas{
	"PageNumber": map[string]any{"anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "string", "enum": []string{"last"}}}},
	"Error": map[string]any{
		"type": "object", "required": []string{"detail"},
		"properties": map[string]any{
			"detail": map[string]any{"type": "string", "description": "What is wrong, for people."},
			"code":   map[string]any{"type": "string", "description": "What is wrong, for programs, where it is not plain from the status."},
		},
	},
	"FieldErrors": map[string]any{
		"type":        "object",
		"description": "What is wrong with each field. Rules between fields speak as non_field_errors; items of a list are named by their place.",
		"additionalProperties": map[string]any{"anyOf": []any{
			map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
			map[string]any{"type": "object"},
		}},
	},
	"Invalid": map[string]any{"anyOf": []any{schemaRef("FieldErrors"), schemaRef("Error")}},
	"InvalidQuery": map[string]any{"anyOf": []any{schemaRef("FieldErrors"), schemaRef("Error"), map[string]any{
		"type": "array", "items": map[string]any{"type": "string"}, "description": "What is wrong with the search.",
	}}},
}

// limitHeaders are those of every answer to a call that was counted.
var limitHeaders = []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}

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

// operation is one route in the document.
func (r *Route) operation(e *endpoint, bodies schemas) map[string]any {
	op := map[string]any{
		"operationId": r.operationID(), "summary": r.Summary, "description": r.description(), "tags": []string{e.area.Name},
		"responses": r.responses(bodies), "security": []any{},
	}
	if parameters := r.parameters(); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if r.Access.Scheme != "" {
		op["security"] = r.Access.requirements(r.Method)
	}
	if r.Request.Fields != nil {
		op["requestBody"] = map[string]any{"content": jsonOf(bodies.request(r))}
	}
	if r.raw {
		op["requestBody"] = map[string]any{"content": map[string]any{"*/*": map[string]any{"schema": map[string]any{}}}}
	}
	return op
}

func (r *Route) operationID() string {
	if r.Name != "" {
		return r.Name
	}
	words := strings.FieldsFunc(plainPath(r.Path), func(c rune) bool { return strings.ContainsRune("/{}-.", c) })
	return strings.ToLower(r.Method) + "_" + strings.Join(words, "_")
}

func jsonOf(schema map[string]any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func (r *Route) parameters() (all []any) {
	for _, v := range pathVariable.FindAllStringSubmatch(r.Path, -1) {
		all = append(all, map[string]any{"name": v[1] + v[3], "in": "path", "required": true, "schema": pathSchema(v[2])})
	}
	if r.Answer.Paged {
		all = append(all,
			pageParameter,
			parameter("query", "page_size", "integer", fmt.Sprintf("Records on a page: %d, at most %d.", pageSize, pageSizeMax)))
	}
	for _, p := range r.Params {
		all = append(all, map[string]any{"name": p.Field.Name, "in": "query", "description": p.When, "schema": p.schema(), "explode": false})
	}
	for _, h := range r.Heads {
		all = append(all, map[string]any{"name": h.Field.Name, "in": "header", "description": h.When, "schema": h.Field.Schema(field.Patch)})
	}
	if r.keep != "" && r.Access.Scheme != "" {
		all = append(all, parameter("header", "Idempotency-Key", "string", "Makes a repeat of the request safe; remembered for "+string(r.keep)+"."))
	}
	if r.Find != nil && r.Method != http.MethodGet {
		all = append(all, parameter("header", "If-Match", "string", "The ETag that the record must still have."))
	}
	return all
}

// schema is that of the field, which the parameter itself explains.
func (p Param) schema() map[string]any {
	schema := p.Field.Schema(field.Patch)
	delete(schema, "description")
	return schema
}

var pageParameter = map[string]any{"name": "page", "in": "query", "description": "Number of the page, or \"last\".", "schema": schemaRef("PageNumber")}

func pathSchema(shape string) map[string]any {
	switch shape {
	case "int":
		return map[string]any{"type": "integer", "format": "int64"}
	case "uuid":
		return map[string]any{"type": "string", "format": "uuid"}
	case "":
		return map[string]any{"type": "string"}
	default:
		return map[string]any{"type": "string", "pattern": "^(" + shape + ")$"}
	}
}

func parameter(in, name, kind, about string) map[string]any {
	return map[string]any{"name": name, "in": in, "description": about, "schema": map[string]any{"type": kind}}
}

// statuses are all that the route may answer with besides success, and when.
func (r *Route) statuses() map[int]string {
	all := map[int]string{http.StatusInternalServerError: "A fault of ours.", http.StatusServiceUnavailable: "Something that we need does not answer."}
	when := func(holds bool, status int, about string) {
		if holds {
			all[status] = about
		}
	}
	json, takes, secured := r.Show == nil, r.Request.Fields != nil, r.Access.Scheme != ""
	when(r.Method == http.MethodGet && r.hasVersion(), http.StatusNotModified, "Unchanged since If-None-Match.")
	when(takes, http.StatusBadRequest, "The body or a field is wrong.")
	when(r.Answer.Paged && len(r.Params) > 0, http.StatusBadRequest, "A filter or the search is wrong.")
	when(secured, http.StatusUnauthorized, "The credentials are missing or wrong.")
	when(secured && (r.Access.Admit != nil || r.Bar != nil || r.Access.isForged(r.Method)), http.StatusForbidden, "The caller may not do this.")
	when(json || strings.Contains(r.Path, "{"), http.StatusNotFound, "There is no such thing, or format, for this caller.")
	when(json, http.StatusNotAcceptable, "The answer would be JSON.")
	when(secured && r.keep != "", http.StatusConflict, "Not in the present state, or a request with this key is running.")
	when(secured && r.keep == "" && r.Method != http.MethodGet, http.StatusConflict, "Not in the present state.")
	when(r.Find != nil && r.Method != http.MethodGet, http.StatusPreconditionFailed, "The record is not the one that If-Match names.")
	when(takes || r.raw, http.StatusRequestEntityTooLarge, "The body is too large.")
	when(json && takes, http.StatusUnsupportedMediaType, "The body is not application/json.")
	when(secured && r.keep != "", http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another request.")
	when(r.Access.Limit != nil, http.StatusTooManyRequests, "Too many calls.")
	for _, f := range r.Fails {
		all[f.Status] = f.When
	}
	return all
}

func (r *Route) responses(bodies schemas) map[string]any {
	all := map[string]any{strconv.Itoa(r.Status): r.success(bodies)}
	if other := *r; r.also != 0 {
		other.Status = r.also
		all[strconv.Itoa(r.also)] = other.success(bodies)
	}
	for status, when := range r.statuses() {
		answer := map[string]any{"description": when, "headers": r.failureHeaders(status)}
		if content := r.failure(status, bodies); content != nil {
			answer["content"] = content
		}
		all[strconv.Itoa(status)] = answer
	}
	return all
}

// failure is the body of a refusal.
func (r *Route) failure(status int, bodies schemas) map[string]any {
	switch {
	case status < http.StatusBadRequest:
		return nil
	case status == r.also:
		return r.content(bodies)
	case r.page && status == http.StatusNotFound: // a path that no route matches is refused as JSON
		content := jsonOf(schemaRef("Error"))
		maps.Copy(content, r.sends)
		return content
	case r.page:
		return r.sends
	case status == http.StatusBadRequest && !r.raw:
		return jsonOf(schemaRef(r.mistakes()))
	default:
		return jsonOf(schemaRef("Error"))
	}
}

// mistakes names what a body may be that says what is wrong with a request.
func (r *Route) mistakes() string {
	if r.Answer.Paged {
		return "InvalidQuery"
	}
	return "Invalid"
}

func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

func headerRefs(names ...string) map[string]any {
	all := map[string]any{}
	for _, name := range names {
		all[name] = map[string]any{"$ref": "#/components/headers/" + name}
	}
	return all
}

func (r *Route) failureHeaders(status int) map[string]any {
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
	case http.StatusSeeOther:
		names = append(names, "Location")
	}
	if r.Access.Limit != nil && status != http.StatusUnauthorized && status != http.StatusNotAcceptable { // those two are not counted
		names = append(names, limitHeaders...)
	}
	if r.Request.Fields != nil && status >= http.StatusBadRequest && status != http.StatusUnauthorized && status != http.StatusNotAcceptable {
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
	if r.keep != "" && r.Access.Scheme != "" {
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
	return r.leadsOn() || r.Method == http.MethodPost && (r.Status == http.StatusCreated || r.Status == http.StatusAccepted || r.also != 0)
}

// leadsOn tells whether success is a redirect.
func (r *Route) leadsOn() bool { return r.Status >= http.StatusMultipleChoices }

// hasVersion tells whether a successful answer has an ETag.
func (r *Route) hasVersion() bool { return r.hashed || r.tagged || r.Find != nil }

// content is the body of a successful answer.
func (r *Route) content(bodies schemas) map[string]any {
	switch {
	case r.leadsOn():
		return nil
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
