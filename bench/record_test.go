package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page shows the newest run that is named by its date alone. `make benchmarks` writes it.
func TestThePageShowsTheNewestRun(t *testing.T) {
	whole, err := filepath.Glob("runs/????-??-??.json")
	if err != nil || len(whole) == 0 {
		t.Fatalf("%v, %v", whole, err)
	}
	var want strings.Builder
	if err := printPage(&want, slices.Max(whole)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/generated/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != want.String() {
		t.Error("docs/generated/benchmarks.md is not of the newest run: make benchmarks")
	}
}

// Every file of runs/ is a record, in the form in which one is written.
func TestEveryFileOfRunsIsARecord(t *testing.T) {
	files, err := filepath.Glob("runs/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		r, err := readRecord(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(filepath.Base(file), r.Date) || r.Date == "" || r.Machine == "" || len(r.Results) == 0 {
			t.Errorf("%s has the date %q, the machine %q and %d results", file, r.Date, r.Machine, len(r.Results))
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var written strings.Builder
		if err := r.write(&written); err != nil || written.String() != string(text) {
			t.Errorf("%s differs from how it would be written: %v", file, err)
		}
	}
}
