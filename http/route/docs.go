package route

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"hostpanel/http/reference"
)

const (
	docsPrefix     = "/api/schema/"
	docsStylePath  = docsPrefix + "reference.css"
	docsScriptPath = docsPrefix + "reference.js"
)

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
			docsFile(docsStylePath, "The style of that page", "text/css", reference.Style).As("schema_style"),
			docsFile(docsScriptPath, "The script of that page", "text/javascript", reference.Script).As("schema_script"),
		},
	}
}

// A description is the API's document in the forms in which it is served. Each
// is made when it is first asked for: they take tenths of a second.
type description struct{ json, yaml, page, zipped func() []byte }

func (t *Table) describe() description {
	document := sync.OnceValue(t.encode)
	page := sync.OnceValue(func() []byte { return t.reference(document()) })
	return description{
		json: document, yaml: sync.OnceValue(func() []byte { return yamlOf(document()) }),
		page: page, zipped: sync.OnceValue(func() []byte { return zipped(page()) }),
	}
}

// encode writes the document, when all routes are known.
func (t *Table) encode() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(t.Document()); err != nil {
		panic(fmt.Sprintf("route: describe the API: %v", err)) // a default of a field is no JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (t *Table) reference(document []byte) []byte {
	page, err := reference.Page(document, reference.Settings{
		Server: t.options.PublicURL(), Document: docsPrefix, Style: docsStylePath, Script: docsScriptPath,
	})
	if err != nil {
		panic(fmt.Sprintf("route: describe the API: %v", err))
	}
	return page
}

// JSON is the OpenAPI document as the API serves it.
func (t *Table) JSON() []byte { return t.description.json() }

func (t *Table) showDocument(_ context.Context, c Call) (*Document, error) {
	format := c.Param("format")
	if format == "" {
		format = preferred(c.Header.Values("Accept"))
	}
	switch format {
	case "json":
		return written("application/json", t.description.json()), nil
	case "yaml":
		return written("application/yaml", t.description.yaml()), nil
	case "":
		return nil, notAcceptable
	default:
		return nil, unknownPath
	}
}

func written(media string, document []byte) *Document {
	return &Document{Type: media, Body: document, Cache: "no-cache", ETag: strings.Trim(hashTag(document, false), `"`)}
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

// showDocs sends the page, compressed where the browser takes that: it is large.
func (t *Table) showDocs(_ context.Context, c Call) (*Document, error) {
	page := &Document{Type: "text/html; charset=utf-8", Cache: "no-cache", Header: http.Header{"Vary": {"Accept-Encoding"}}}
	if takesGzip(c.Header.Values("Accept-Encoding")) {
		page.Body = t.description.zipped()
		page.Header.Set("Content-Encoding", "gzip")
	} else {
		page.Body = t.description.page()
	}
	return page, nil
}

// takesGzip tells whether a caller names gzip among the encodings that it takes.
func takesGzip(accepted []string) bool {
	for one := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(one, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.ContainsAny(weight, "123456789") // not q=0
		}
	}
	return false
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// docsFile is a file of the page.
func docsFile(path, summary, media string, body []byte) Route {
	tag := strings.Trim(hashTag(body, false), `"`)
	return File(path, summary, func(context.Context, Call) (*Document, error) {
		return &Document{Type: media + "; charset=utf-8", Body: body, Cache: "public, max-age=300", ETag: tag}, nil
	}).Sending(media, nil).Tagged()
}
