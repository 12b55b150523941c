package css

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Customers read in docs/white-label.md which properties they may use.
func TestTheDocumentNamesTheProperties(t *testing.T) {
	text, err := os.ReadFile("../../docs/white-label.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "### Properties\n\n```\n")
	list, _, closed := strings.Cut(after, "```")
	if !closed || !slices.Equal(strings.Fields(list), properties) {
		t.Errorf("docs/white-label.md names\n%s\nwant\n%s", list, strings.Join(properties, " "))
	}
}

// It names the functions and states too.
func TestTheDocumentNamesWhatElseIsAllowed(t *testing.T) {
	text, err := os.ReadFile("../../docs/white-label.md")
	if err != nil {
		t.Fatal(err)
	}
	inWords := []string{"-gradient(", "matrix", "rotate", "scale", "skew", "translate", "perspective("}
	for _, name := range slices.Concat(functions, pseudoFunctions, pseudoClasses, pseudoElements, secretAttributes, positions) {
		described := slices.ContainsFunc(inWords, func(word string) bool { return strings.Contains(name, word) })
		if !described && !strings.Contains(string(text), name) {
			t.Errorf("docs/white-label.md does not name %s", name)
		}
	}
}
