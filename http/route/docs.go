package route

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oasdiff/yaml"

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

// A description is the API's document in the forms in which it is served.
type description struct{ json, yaml, page form }

func (t *Table) describe() description {
	document := formOf(t.encode)
	return description{
		json: document,
		yaml: formOf(func() []byte {
			text, err := yaml.JSONToYAML(document.plain())
			if err != nil {
				panic(fmt.Sprintf("route: our own document is no JSON: %v", err))
			}
			return text
		}),
		page: formOf(func() []byte { return t.reference(document.plain()) }),
	}
}

// A form is a text and what gzip makes of it. Each is made when it is first asked for:
// that takes tenths of a second.
type form struct{ plain, zipped func() []byte }

func formOf(text func() []byte) form {
	plain := sync.OnceValue(text)
	return form{plain, sync.OnceValue(func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(plain()) // a buffer takes everything
		_ = z.Close()
		return b.Bytes()
	})}
}

// answer is the form as the caller takes it: compressed, if that is possible.
func (f form) answer(c Call, media string) *Document {
	d := &Document{Type: media, Cache: "no-cache", Header: http.Header{"Vary": {"Accept-Encoding"}}}
	if !takesGzip(c.Header.Values("Accept-Encoding")) {
		d.Body = f.plain()
		return d
	}
	d.Body = f.zipped()
	d.Header.Set("Content-Encoding", "gzip")
	return d
}

// Compressed serves a document that holds no secret, and is the same for all: compressed once,
// to callers who take that. Pages with tokens are never compressed (docs/security.md,
// "Compression").
func Compressed(d Document) func(context.Context, Call) (*Document, error) {
	f := formOf(func() []byte { return d.Body })
	return func(_ context.Context, c Call) (*Document, error) {
		shown, sent := d, f.answer(c, d.Type)
		shown.Body = sent.Body
		for name, values := range d.Header {
			sent.Header[name] = values
		}
		if shown.Header = sent.Header; sent.Header.Get("Content-Encoding") != "" {
			shown.ETag += "-gzip"
		}
		return &shown, nil
	}
}

// tagged is the answer with an ETag of what is sent.
func (d *Document) tagged() *Document {
	d.ETag = strings.Trim(hashTag(d.Body, false), `"`)
	return d
}

// encode writes the document, when all routes are known.
func (t *Table) encode() []byte {
	var b bytes.Buffer
	writeLines(&b, t.Document())
	return b.Bytes()
}

// folded are the objects of the document whose members have a line each.
var folded = []string{"components", "headers", "paths", "responses", "schemas", "webhooks"}

// writeLines writes an object of the document with each member on a line: a path, a schema.
func writeLines(b *bytes.Buffer, object map[string]any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strconv.Quote(name) + ":")
		if members, is := object[name].(map[string]any); is && slices.Contains(folded, name) {
			writeLines(b, members)
			continue
		}
		if err := encoder.Encode(object[name]); err != nil {
			panic(fmt.Sprintf("route: describe the API: %v", err)) // a default of a field is no JSON
		}
		b.Truncate(b.Len() - 1) // without the end of the line
	}
	b.WriteString("\n}")
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
func (t *Table) JSON() []byte { return t.description.json.plain() }

func (t *Table) showDocument(_ context.Context, c Call) (*Document, error) {
	format := c.Param("format")
	if format == "" {
		format = preferred(c.Header.Values("Accept"))
	}
	switch format {
	case "json":
		return t.description.json.answer(c, "application/json").tagged(), nil
	case "yaml":
		return t.description.yaml.answer(c, "application/yaml").tagged(), nil
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

func (t *Table) showDocs(_ context.Context, c Call) (*Document, error) {
	return t.description.page.answer(c, "text/html; charset=utf-8"), nil
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

// docsFile is a file of the page.
func docsFile(path, summary, media string, body []byte) Route {
	tag := strings.Trim(hashTag(body, false), `"`)
	file := Document{Type: media + "; charset=utf-8", Body: body, Cache: "public, max-age=300", ETag: tag}
	return File(path, summary, Compressed(file)).Sending(media, nil).Tagged()
}
