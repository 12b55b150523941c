package http_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/http/reference"
	"hostpanel/http/samplecode/samplecodetest"
	"hostpanel/paneltest"
)

const referenceMost = 250_000 // bytes of all its files, compressed

func TestTheReferenceIsSmall(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	w := s.Call("GET", paneltest.ReferencePath, "", "Accept-Encoding", "gzip")
	all := w.Body.Len() + len(reference.Style) + len(reference.Script)
	t.Logf("%d bytes", all)
	if all > referenceMost || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes of a page that is sent as %q", all, w.Header().Get("Content-Encoding"))
	}
}

// Each sample of an operation makes its call, when what a caller has stands in the
// places for it.
func TestSamplesOfTheReferenceRun(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).People(t).Start(t)
	server := httptest.NewServer(s.Server.Handler())
	defer server.Close()
	s.Public = server.URL
	b := s.Rewire(t).Browser(t)
	if w := b.Get(paneltest.ReferencePath); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	for _, language := range []string{"curl", "go", "python"} {
		t.Run(language, func(t *testing.T) {
			fill := strings.NewReplacer(reference.Token, s.Known["ana"], reference.APIKey, s.Known["key"], "bread.example", language+".example")
			for operation, part := range map[string]string{"plan_list": `"slug":"hosting-s"`, "me_read": `"ana@example.com"`, "order_create": `"order_number":"ORD-`, "database_list": `"results":[`} {
				code := fill.Replace(sampleOf(b, operation, language))
				if said := samplecodetest.Run(t, language, code); code == "" || !strings.Contains(said, part) {
					t.Errorf("%s: %s\n%s", operation, said, code)
				}
			}
		})
	}
}

// sampleOf is the program that the reference shows for an operation.
func sampleOf(b *paneltest.Browser, operation, language string) string {
	for _, part := range paneltest.Elements(b.Page, "div") {
		if paneltest.Attribute(part, "id") != operation {
			continue
		}
		for _, code := range paneltest.Elements(part, "pre") {
			if paneltest.Attribute(code, "data-sample") == language {
				return paneltest.RawText(code)
			}
		}
	}
	return ""
}

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
	for _, part := range []string{"site.created", "certificate.expiring", "webhook", "Version", "Credentials: Authorization: Bearer", "No credentials.", "Too many calls."} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	for _, described := range operationsIn(t, b.Server.Document()) {
		if !slices.ContainsFunc(paneltest.Elements(b.Page, "details"), func(op *html.Node) bool {
			return paneltest.Attribute(op, "data-method") == described.method && paneltest.Attribute(op, "data-path") == described.path
		}) {
			t.Errorf("%s %s is not on the page", described.method, described.path)
		}
	}
}
