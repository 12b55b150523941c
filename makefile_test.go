package panel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command that runs tests by name: `-run 'TestA|TestB' ./package`.
var runsTests = regexp.MustCompile(`-run '?([\w|]+)'? (?:-args.*)?(\./\S+|\.)`)

// A test that a target names is in the package that it names: go test succeeds
// when nothing matches.
func TestTargetsOfTheMakefileNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := runsTests.FindAllStringSubmatch(string(text), -1)
	if len(found) < 5 {
		t.Fatalf("only %d targets name tests", len(found))
	}
	for _, run := range found {
		for name := range strings.SplitSeq(run[1], "|") {
			if !declaresTest(t, run[2], name) {
				t.Errorf("make names %s of %s, which does not exist", name, run[2])
			}
		}
	}
}

// declaresTest tells whether a folder has a test whose name begins so.
func declaresTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name) {
			return true
		}
	}
	return false
}
