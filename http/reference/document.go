// Package reference shows the API to people: it writes one page from the OpenAPI
// document, which is complete without scripts (docs/adr/0029-api-reference.md).
package reference

import (
	"encoding/json"
	"slices"
	"strings"
)

// The parts of an OpenAPI document that the page shows.
type (
	document struct {
		Info struct {
			Title, Version string
			License        struct{ Name string }
		}
		Tags       []tag
		Paths      map[string]map[string]*operation
		Webhooks   map[string]map[string]*operation
		Components struct {
			Schemas         map[string]*schema
			Responses       map[string]response
			SecuritySchemes map[string]securityScheme
		}
	}
	tag struct{ Name, Description string }

	operation struct {
		OperationID, Summary, Description string
		Tags                              []string
		Parameters                        []parameter
		RequestBody                       struct{ Content map[string]media }
		Responses                         map[string]response
		Security                          []map[string][]string
	}
	parameter struct {
		Name, In, Description string
		Required              bool
		Schema                *schema
	}
	response struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]media
	}
	media struct {
		Schema  *schema
		Example json.RawMessage
	}
	securityScheme struct{ Type, In, Name, Scheme, Description string }

	schema struct {
		Ref                  string `json:"$ref"`
		Type                 any
		Format, Description  string
		Enum                 []any
		Default              any
		Items                *schema
		Properties           map[string]*schema
		Required             []string
		AnyOf, AllOf         []*schema
		ReadOnly, WriteOnly  bool
		MaxLength            *int
		Minimum, Maximum     *json.Number
		AdditionalProperties any
	}
)

func read(text []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	for _, item := range d.Paths {
		for _, op := range item {
			for status, r := range op.Responses {
				if name, shared := strings.CutPrefix(r.Ref, "#/components/responses/"); shared {
					op.Responses[status] = d.Components.Responses[name]
				}
			}
		}
	}
	return &d, nil
}

// refersTo is the name of the schema that another one refers to.
func refersTo(s *schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// resolved is the schema itself.
func (d *document) resolved(s *schema) *schema {
	if name := refersTo(s); name != "" {
		return d.Components.Schemas[name]
	}
	return s
}

// methods are those of a path in the order in which the page shows them.
var methods = []string{"get", "post", "put", "patch", "delete"}

// media types, the one that programs take first.
var preferred = []string{"application/json", "text/event-stream", "application/yaml", "text/html", "*/*"}

// first is the content that the page shows.
func first(content map[string]media) (kind string, m media, known bool) {
	for _, kind := range preferred {
		if m, known := content[kind]; known {
			return kind, m, true
		}
	}
	kinds := make([]string, 0, len(content))
	for kind := range content {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	if len(kinds) == 0 {
		return "", media{}, false
	}
	return kinds[0], content[kinds[0]], true
}
