package route

import (
	"bytes"
	"context"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"hostpanel/domain/field"
)

const docsPrefix = "/api/schema/"

var object = map[string]any{"type": "object"}

// docs is the area in which the API describes itself.
func (t *Table) docs() Area {
	return Area{
		Name: "Documentation", About: "The API, described by itself.", Prefix: docsPrefix, Access: Open,
		Routes: []Route{
			File(docsPrefix, "OpenAPI document of all endpoints, as JSON or YAML", t.showDocument).As("schema").
				Sending("application/json", object).Sending("application/yaml", object).Tagged().
				Failing(http.StatusNotFound, "There is no such format.").
				Failing(http.StatusNotAcceptable, "The answer would be JSON or YAML."),
			View(http.MethodGet, docsPrefix+"swagger-ui/", "All endpoints on a page", t.showDocs).As("schema_page"),
		},
	}
}

// A description is the API's document in the forms in which it is served.
type description struct{ json, yaml, html []byte }

// describe writes the document, when all routes are known.
func (t *Table) describe() (d description) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(t.Document()); err != nil {
		panic(fmt.Sprintf("route: describe the API: %v", err)) // a default of a field is no JSON
	}
	d.json = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	d.yaml = yamlOf(d.json)
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, t.page()); err != nil {
		panic(fmt.Sprintf("route: describe the API: %v", err))
	}
	d.html = page.Bytes()
	return d
}

// JSON is the OpenAPI document as the API serves it.
func (t *Table) JSON() []byte { return t.described().json }

func (t *Table) showDocument(_ context.Context, c Call) (*Document, error) {
	format := c.Param("format")
	if format == "" {
		format = preferred(c.Header.Values("Accept"))
	}
	d := t.described()
	switch format {
	case "json":
		return &Document{Type: "application/json", Body: d.json, Cache: "no-cache", ETag: strings.Trim(hashTag(d.json, false), `"`)}, nil
	case "yaml":
		return &Document{Type: "application/yaml", Body: d.yaml, Cache: "no-cache", ETag: strings.Trim(hashTag(d.yaml, false), `"`)}, nil
	case "":
		return nil, notAcceptable
	default:
		return nil, unknownPath
	}
}

// preferred is the first of both formats that the caller takes.
func preferred(accepted []string) string {
	if strings.TrimSpace(strings.Join(accepted, "")) == "" {
		return "json"
	}
	for item := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		switch {
		case accepts([]string{item}, "application/json") && strings.TrimSpace(item) != "":
			return "json"
		case accepts([]string{item}, "application/yaml") && strings.TrimSpace(item) != "":
			return "yaml"
		}
	}
	return ""
}

//go:embed docs.html
var docsHTML string

var docsTemplate = template.Must(template.New("docs").Parse(docsHTML))

func (t *Table) showDocs(context.Context, Call) (*Document, error) {
	return &Document{Type: "text/html; charset=utf-8", Body: t.described().html, Styles: "'self' 'unsafe-inline'"}, nil
}

// What the page shows of an area, an operation and a field.
type (
	docsArea struct {
		Name, About string
		Operations  []docsOperation
	}
	docsOperation struct {
		Method, Path, Summary, About, Credentials string
		Request, Answer                           []docsField
		Parameters                                []any
		Status                                    int
		List                                      bool
		Fails                                     []Fail
	}
	docsField struct {
		Name, Type, About string
		Required          bool
	}
)

func (t *Table) page() map[string]any {
	var areas []docsArea
	for i := range t.areas {
		a := &t.areas[i]
		shown := docsArea{Name: a.Name, About: a.About}
		for _, e := range t.endpoints {
			for _, method := range allowOrder {
				if r := e.methods[method]; r != nil && e.area == a {
					shown.Operations = append(shown.Operations, r.onPage())
				}
			}
		}
		areas = append(areas, shown)
	}
	return map[string]any{"Title": t.options.Title, "Version": t.options.Version, "Areas": areas, "Document": docsPrefix}
}

func (r *Route) onPage() docsOperation {
	op := docsOperation{
		Method: r.Method, Path: plainPath(r.Path), Summary: r.Summary, About: r.About, Credentials: r.Access.Scheme,
		Parameters: r.parameters(), Status: r.Status, List: r.Answer.Many || r.Answer.Paged,
		Request: fieldsOnPage(r.Request), Answer: fieldsOnPage(r.Answer),
	}
	for _, status := range r.sortedStatuses() {
		op.Fails = append(op.Fails, Fail{status, r.statuses()[status]})
	}
	return op
}

func fieldsOnPage(s Shape) (all []docsField) {
	if s.Fields == nil {
		return nil
	}
	set := s.Fields()
	schema := set.Schema(s.Mode)
	properties, _ := schema["properties"].(map[string]any)
	for _, f := range set {
		if properties[f.Name] != nil {
			all = append(all, docsField{Name: f.Name, Type: typeOnPage(f.Schema(s.Mode)), About: f.About, Required: s.Mode != field.Shown && f.IsRequired()})
		}
	}
	return all
}

func typeOnPage(schema map[string]any) string {
	name := strings.Trim(strings.ReplaceAll(fmt.Sprint(schema["type"]), " ", " or "), "[]")
	if format, has := schema["format"].(string); has && format != "int64" {
		name += " (" + format + ")"
	}
	if choices, has := schema["enum"].([]string); has {
		name = strings.Join(choices, " | ")
	}
	if preset, has := schema["default"]; has {
		name += fmt.Sprintf(" = %v", preset)
	}
	return name
}
