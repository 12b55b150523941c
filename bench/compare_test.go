package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func path(name string, statements, trips, commits int, processor float64) Path {
	return Path{Name: name, Least: Least{statements, trips, commits}, Processor: processor}
}

// What grows is named with its path, both numbers and the command that accepts it. What
// shrinks, and what grows within the slack, is no failure; nor is processor time.
func TestAPathThatCostsMoreFailsTheComparison(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counts.json")
	if err := save(file, []Path{path("read", 3, 1, 0, 0.5), path("write", 50, 30, 13, 10), path("gone", 1, 1, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	before, err := kept(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = compare(&out, file, before, []Path{path("read", 4, 1, 0, 0.5), path("write", 60, 37, 12, 30), path("new", 1, 1, 1, 1)})
	want := "paths cost more than " + file + " allows (make counts accepts the new numbers):\n" +
		"read: statements were 3, are 4\nwrite: round trips were 30, are 37\nnew: it is not in " + file + "\ngone: it was not counted now"
	if err == nil || err.Error() != want {
		t.Errorf("the comparison says:\n%v\nnot:\n%s", err, want)
	}
	for _, cell := range []string{"3 → 4", "13 → 12", "10.00 → 30.00 (3.00 x)"} {
		if !strings.Contains(out.String(), cell) {
			t.Errorf("%q is not in the table:\n%s", cell, out.String())
		}
	}
	if err := compare(&out, file, before, before); err != nil {
		t.Errorf("a run that equals the one before fails: %v", err)
	}
}

// What the program asks at all times does not count as its own, nor does a transaction
// around nothing else.
func TestTheBackgroundIsToldApart(t *testing.T) {
	w := wire{idle: map[string]bool{}, own: asked{}}
	enough := w.learn()
	look := transaction{w: &w}
	look.ask([]string{"select poll"})
	enough()
	for _, statements := range [][]string{
		{"begin"},
		{"select poll"},
		{"commit"},
		{"begin"},
		{"select poll", "insert one"},
		{"insert two"},
		{"commit"},
		{"update log_tiles"},
	} {
		look.ask(statements)
	}
	if l := w.soFar().with(0); l.Statements != 5 || l.Trips != 4 {
		t.Errorf("%d statements in %d trips are the program's own: %v", l.Statements, l.Trips, w.own)
	}
}

// The least is that of each statement, so that what only some operations meet is left out.
func TestTheLeastIsTakenOfEachStatement(t *testing.T) {
	one, two := asked{"a": {2, 1}, "b": {1, 1}}, asked{"a": {1, 1}, "c": {5, 5}}
	if l := one.least(two).with(1.6); l != (Least{1, 1, 2}) {
		t.Errorf("the least is %+v", l)
	}
}
