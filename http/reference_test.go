package http_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/paneltest"
)

const referenceMost = 250_000 // bytes of all its files, compressed

// Every link of the page leads to something on it, and each call is there once.
func TestTheReferenceIsWholeWithoutScripts(t *testing.T) {
	t.Parallel()
	b := paneltest.Open(t).Browser(t)
	b.Get(paneltest.ReferencePath)
	ids := map[string]int{}
	for d := range b.Page.Descendants() {
		if id := paneltest.Attribute(d, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d parts have the id %s", n, id)
		}
	}
	for _, a := range paneltest.Elements(b.Page, "a") {
		if to, inside := strings.CutPrefix(paneltest.Attribute(a, "href"), "#"); inside && ids[to] == 0 {
			t.Errorf("#%s leads nowhere", to)
		}
	}
	text := paneltest.TextOf(b.Page)
	for _, part := range []string{
		"site.created", "certificate.expiring", "webhook", "Version",
		"Credentials: Authorization: Bearer", "No credentials.", "Too many calls.",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	for _, described := range operationsIn(t, b.Server.Document()) {
		if !slices.ContainsFunc(paneltest.Elements(b.Page, "details"), func(op *html.Node) bool {
			return paneltest.Attribute(op, "data-method") == described.method &&
				paneltest.Attribute(op, "data-path") == described.path
		}) {
			t.Errorf("%s %s is not on the page", described.method, described.path)
		}
	}
}
