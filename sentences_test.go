package panel_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainWords maps each word that comments and pages avoid to what stands in
// its place: the role that acts, or the term of docs/words.md.
var plainWords = map[string]string{
	"whoever":  "the role: the caller, the customer, an operator",
	"somebody": "the role: a user, another process",
	"nobody":   "the role: no user, no process",
	"anybody":  "the role: any user, any caller",
	"fact":     "event",
	"facts":    "events",
	"wish":     "desired state",
	"wishes":   "desired states",
	"moot":     "up to date",
	"rouse":    "resume",
	"glance":   "check",
	"dossier":  "order detail",
}

var avoided = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.Sorted(maps.Keys(plainWords)), "|") + `)\b`)

// The prose of every page wraps at 100 columns and uses plain words. Tables
// and code blocks wrap as they have to.
func TestPagesUsePlainWordsAndWrapAt100(t *testing.T) {
	for _, page := range pages(t) {
		for _, fault := range pageFaults(t, page) {
			t.Errorf("%s:%s", page, fault)
		}
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

var codeSpan = regexp.MustCompile("`[^`]*`")

func pageFaults(t *testing.T, page string) (faults []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			block = !block
		} else if !block {
			faults = append(faults, proseFaults(n, line)...)
		}
	}
	return faults
}

func proseFaults(n int, line string) (faults []string) {
	if width := utf8.RuneCountInString(line); width > 100 && !strings.HasPrefix(strings.TrimSpace(line), "|") {
		faults = append(faults, fmt.Sprintf("%d: %d columns, wrap at 100", n, width))
	}
	for _, word := range avoided.FindAllString(codeSpan.ReplaceAllString(line, ""), -1) {
		faults = append(faults, fmt.Sprintf("%d: %q, say %s", n, word, plainWords[strings.ToLower(word)]))
	}
	return faults
}

// Comments use plain words.
func TestCommentsUsePlainWords(t *testing.T) {
	everyGoFile(t, func(path string) {
		if path == "sentences_test.go" { // the list itself
			return
		}
		for _, fault := range commentFaults(t, path) {
			t.Error(fault)
		}
	})
}

func commentFaults(t *testing.T, path string) (faults []string) {
	t.Helper()
	file := parsed(t, path)
	for _, group := range file.Comments {
		for _, c := range group.List {
			for _, word := range avoided.FindAllString(c.Text, -1) {
				faults = append(faults, fmt.Sprintf("%s: %q, say %s", sources.Position(c.Pos()), word, plainWords[strings.ToLower(word)]))
			}
		}
	}
	return faults
}
