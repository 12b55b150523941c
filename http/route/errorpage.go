package route

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

//go:embed error.html
var errorHTML string

var errorTemplate = template.Must(template.New("error").Parse(errorHTML))

// isForPeople tells whether a refusal is shown as a page: on pages, and to browsers at
// paths that belong to no API. Below the prefixes of APIs all refusals are JSON.
func (x *exchange) isForPeople() bool {
	switch {
	case x.route != nil:
		return x.route.page
	case x.endpoint != nil && !x.endpoint.first.page, x.t.isOfAPI(x.r.URL.Path):
		return false
	}
	x.w.Header().Add("Vary", "Accept")
	return strings.Contains(strings.ToLower(strings.Join(x.r.Header.Values("Accept"), ",")), "text/html")
}

// isOfAPI tells whether a path, which may be unknown, lies below an API.
func (t *Table) isOfAPI(path string) bool {
	return strings.Contains(path+"/", "/api/") || slices.ContainsFunc(t.areas, func(a Area) bool {
		return a.Prefix != "" && strings.HasPrefix(path, a.Prefix)
	})
}

// errorPage shows a refusal to people.
func (x *exchange) errorPage(r *Refusal) *Document {
	detail := r.Detail
	if r.fields != nil {
		detail = r.fields.Error()
	}
	if x.t.options.ErrorPage != nil {
		return x.t.options.ErrorPage(x.call, r.Status, detail)
	}
	var b bytes.Buffer
	if err := errorTemplate.Execute(
		&b, map[string]any{"Status": r.Status, "Title": http.StatusText(r.Status), "Detail": detail},
	); err != nil {
		b.WriteString(http.StatusText(r.Status))
	}
	return &Document{Status: r.Status, Type: "text/html; charset=utf-8", Body: b.Bytes(), Cache: "no-store"}
}
