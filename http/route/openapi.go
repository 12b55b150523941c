package route

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

// Document is the OpenAPI document of all routes but pages. It panics if a declaration
// makes no sense.
func (t *Table) Document() map[string]any {
	paths, schemes, tags, bodies, shared := map[string]any{}, map[string]any{}, []any{}, t.bodies(), outcomes{}
	used := map[string]bool{}
	for _, e := range t.endpoints {
		item := map[string]any{}
		for _, method := range slices.Sorted(maps.Keys(e.methods)) { // the first to have a schema names it
			r := e.methods[method]
			if r.showsPages() || r.Converse != nil { // generated clients speak HTTP alone
				continue
			}
			op := r.operation(e, bodies, shared)
			t.options.Examples[r.operationID()].exemplify(op)
			item[strings.ToLower(method)] = op
			r.Access.describe(schemes)
		}
		if len(item) > 0 {
			paths[e.plain], used[e.area.Name] = item, true
		}
	}
	for i := range t.areas {
		if used[t.areas[i].Name] {
			tags = append(tags, map[string]any{"name": t.areas[i].Name, "description": t.areas[i].About})
		}
	}
	document := map[string]any{
		"openapi": "3.1.0",
		"info":    t.info(),
		"servers": []any{map[string]any{"url": "/"}},
		"tags":    tags, "paths": paths,
		"components": map[string]any{
			"securitySchemes": schemes, "schemas": map[string]any(bodies),
			"headers": answerHeaders, "responses": map[string]any(shared),
		},
	}
	if len(t.options.Webhooks) > 0 {
		document["webhooks"] = t.webhooks()
	}
	return document
}

// showsPages tells whether people alone call the route: all that it sends are pages.
func (r *Route) showsPages() bool {
	_, is := r.sends["text/html"]
	return is && len(r.sends) == 1
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
	"PageNumber": map[string]any{"anyOf": []any{
		map[string]any{"type": "integer"}, map[string]any{"type": "string", "enum": []string{"last"}},
	}},
	"Error": map[string]any{
		"type": "object", "required": []string{"detail"},
		"properties": map[string]any{
			"detail": map[string]any{"type": "string", "description": "What is wrong, for people."},
			"code": map[string]any{
				"type": "string", "description": "What is wrong, for programs, where it is not plain from the status.",
			},
		},
	},
	"FieldErrors": map[string]any{
		"type": "object",
		"description": "What is wrong with each field. Rules between fields speak as non_field_errors; " +
			"items of a list are named by their place.",
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

// operation is one route in the document.
func (r *Route) operation(e *endpoint, bodies schemas, shared outcomes) map[string]any {
	op := map[string]any{
		"operationId": r.operationID(), "summary": r.Summary, "description": r.description(), "tags": []string{e.area.Name},
		"responses": r.responses(bodies, shared), "security": []any{},
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
		all = append(all, map[string]any{
			"name": p.Field.Name, "in": "query", "description": p.When, "schema": p.schema(), "explode": false,
		})
	}
	for _, h := range r.Heads {
		all = append(all, map[string]any{
			"name": h.Field.Name, "in": "header", "description": h.When, "schema": h.Field.Schema(field.Patch),
		})
	}
	if r.takesKey() {
		about := "Makes a repeat of the request safe; remembered for " + string(r.keep) + "."
		all = append(all, parameter("header", "Idempotency-Key", "string", about))
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

var pageParameter = map[string]any{
	"name": "page", "in": "query", "description": "Number of the page, or \"last\".", "schema": schemaRef("PageNumber"),
}

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

func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}
