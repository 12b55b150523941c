package panel_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const adaptersOfProviders = "adapters/payments"

// namingProviders is the file outside of its adapter that may name a payment
// provider: the list of all.
const namingProviders = "cmd/hostpanel/config/payments.go"

// otherTests are the files in which "test" is no payment provider: the mode of
// an API key, the action that sends a test message, and the column of such orders.
var otherTests = []string{"domain/storefront/keytext.go", "http/hosting/webhookdeliveries.go", "projections/orders.go"}

func TestNoProviderIsNamedOutsideOfItsAdapter(t *testing.T) {
	names := providerNames(t)
	if !slices.Contains(names, "test") || len(names) < 3 {
		t.Fatalf("the providers are %q", names)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "test" }) // a word like others; see below
	named := regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)`)
	everyProgramFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") || helpsTests(path) ||
			strings.HasPrefix(path, adaptersOfProviders+"/") || path == namingProviders {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if name := named.FindString(line); name != "" {
				t.Errorf("%s:%d names the payment provider %s", path, i+1, name)
			}
		}
		for _, line := range testLiterals(t, path) {
			t.Errorf(`%s:%d says "test": the provider without money is known by order.Method.Test`, path, line)
		}
	})
}

// providerNames are the folders below adapters/payments.
func providerNames(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(adaptersOfProviders)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// testLiterals are the lines of a file where "test" stands as a value, and
// where the test provider is imported.
func testLiterals(t *testing.T, path string) (lines []int) {
	t.Helper()
	if slices.Contains(otherTests, filepath.ToSlash(path)) {
		return nil
	}
	file := parsed(t, path)
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if ok && (literal.Value == `"test"` || strings.HasSuffix(literal.Value, adaptersOfProviders+`/test"`)) {
			lines = append(lines, sources.Position(literal.Pos()).Line)
		}
		return true
	})
	return lines
}

// Each provider is listed once in the program.
func TestEveryProviderIsListed(t *testing.T) {
	text, err := os.ReadFile(namingProviders)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range providerNames(t) {
		if n := strings.Count(string(text), "&"+name+".Settings{}"); n != 1 {
			t.Errorf("%s lists %s.Settings %d times", namingProviders, name, n)
		}
	}
}
