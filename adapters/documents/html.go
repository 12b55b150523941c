package documents

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"hostpanel/domain/billing/document"
)

//go:embed page.html
var page string

var pages = template.Must(template.New("page").Parse(page))

// HTML writes a document as a page in UTF-8 that needs no other file. It has no script, and
// prints on A4 or letter paper.
func HTML(d document.Document) ([]byte, error) {
	var out bytes.Buffer
	if err := pages.Execute(&out, sheetOf(d)); err != nil {
		return nil, fmt.Errorf("write document %s as a page: %w", d.Number, err)
	}
	return out.Bytes(), nil
}
