package paneltest

import (
	"strings"

	"golang.org/x/net/html"
)

const GuidePath = "/storefront/integration/"

// Samples are the programs that a page shows in one language.
func (b *Browser) Samples(language string) (all []string) {
	for _, code := range Elements(b.Page, "code") {
		if Attribute(code, "data-sample") == language {
			all = append(all, RawText(code))
		}
	}
	return all
}

func RawText(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

// Snippet is what the guide tells websites to put into their pages.
func (b *Browser) Snippet() string {
	for _, code := range Elements(b.Page, "code") {
		if Attribute(code, "id") == "snippet" {
			return RawText(code)
		}
	}
	return ""
}
