//go:build system

package browser_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/http/reference"
	"hostpanel/http/samplecode/samplecodetest"
	"hostpanel/paneltest"
)

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
			fill := strings.NewReplacer(reference.Token, s.Known["ana"], reference.APIKey, s.Known["key"], "bread.example",
				language+".example")
			for operation, part := range map[string]string{
				"plan_list": `"slug":"hosting-s"`, "me_read": `"ana@example.com"`,
				"order_create": `"order_number":"ORD-`, "database_list": `"results":[`,
			} {
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
