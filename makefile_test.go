package panel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command that runs tests by name, in a module: `-C module test -run 'TestA|TestB' ./package`.
var runsTests = regexp.MustCompile(`(?m)^(?:.*\$\(GO\) -C (\S+) )?.*-run '?([\w|]+)'? (?:-args.*)?(\./\S+|\.)`)

// A variable that no caller sets: `NAME = text`.
var variables = regexp.MustCompile(`(?m)^([A-Z]+) = (\S+)$`)

// A test that a target names is in the package that it names: go test succeeds
// when nothing matches.
func TestTargetsOfTheMakefileNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	made := string(text)
	for _, v := range variables.FindAllStringSubmatch(made, -1) {
		made = strings.ReplaceAll(made, "$("+v[1]+")", v[2])
	}
	found := runsTests.FindAllStringSubmatch(made, -1)
	if len(found) < 5 {
		t.Fatalf("only %d targets name tests", len(found))
	}
	for _, run := range found {
		folder := filepath.Join(run[1], run[3])
		for name := range strings.SplitSeq(run[2], "|") {
			if !declaresTest(t, folder, name) {
				t.Errorf("make names %s of %s, which does not exist", name, folder)
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
