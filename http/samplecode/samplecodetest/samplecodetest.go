// Package samplecodetest runs programs that pages show as samples.
package samplecodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A language is how a program is run: the program that runs it, the arguments before the
// file, and the name of the file. Without a file the code is the last argument.
type language struct {
	needs, runs string
	arguments   []string
	file        string
}

var languages = map[string]language{
	"curl":       {"curl", "sh", []string{"-c"}, ""},
	"javascript": {"node", "node", nil, "call.mjs"},
	"go":         {"go", "go", []string{"run"}, "main.go"},
	"python":     {"python3", "python3", nil, "call.py"},
}

// Knows tells whether programs in a language can be run.
func Knows(name string) bool { _, known := languages[name]; return known }

// Run runs a program as it stands, and returns what it said. It skips the test where the
// machine lacks the language: all tests need Go alone, and `.ci/run` installs the others.
func Run(t *testing.T, name, code string) (said string) {
	t.Helper()
	l := languages[name]
	if _, err := exec.LookPath(l.needs); err != nil {
		t.Skip(l.needs + " is not installed; .ci/run installs it")
	}
	last := code
	if l.file != "" {
		last = filepath.Join(t.TempDir(), l.file)
		if err := os.WriteFile(last, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), l.runs, append(l.arguments[:len(l.arguments):len(l.arguments)], last)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, code)
	}
	return string(out)
}
