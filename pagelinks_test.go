package panel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	pageLink  = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)(?:,\s+"([^"]+)")?`)
	bold      = regexp.MustCompile(`(?m)^\*\*([^*]+)\.\*\*`)
	unslugged = regexp.MustCompile(`[^\w\- ]`)
)

// A link of a page leads to a file, and to a heading of it where one is named:
// [orders.md](orders.md), "Money".
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text := readPage(t, page)
		for _, link := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			target, slug, section := filepath.Join(filepath.Dir(page), link[1]), link[2], strings.Join(strings.Fields(link[3]), " ")
			if link[1] == "" {
				target = page
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if slug == "" && section == "" || !strings.HasSuffix(target, ".md") {
				continue
			}
			if !slices.ContainsFunc(headings(readPage(t, target)), func(h string) bool {
				return h == section || strings.ReplaceAll(unslugged.ReplaceAllString(strings.ToLower(h), ""), " ", "-") == slug
			}) {
				t.Errorf("%s: %s has no heading %q", page, target, section+slug)
			}
		}
	}
}

// headings are those of a page, and the bold words that begin its paragraphs.
func headings(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimSpace(strings.TrimLeft(line, "#")))
		}
	}
	for _, b := range bold.FindAllStringSubmatch(text, -1) {
		all = append(all, b[1])
	}
	return all
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
