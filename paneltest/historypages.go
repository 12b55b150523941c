package paneltest

import (
	"strings"
)

// Past is the part of a page with the history of its record.
func Past(text string) string {
	_, after, _ := strings.Cut(text, `<section id="past"`)
	part, _, _ := strings.Cut(after, "</section>")
	return part
}
