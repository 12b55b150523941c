// Package offline makes pages that are kept as files: they have no script, and need no
// network.
package offline

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"time"
)

//go:embed page.html
var frame string

// Page is the template of a page: content defines "title" and "content". Its functions
// are moment, of a time, and text, of JSON.
func Page(content string) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(template.FuncMap{
		"moment": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"text":   func(j json.RawMessage) string { return string(j) },
	}).Parse(frame)).Parse(content))
}
