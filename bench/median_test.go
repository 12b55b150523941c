package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The run in the middle counts, by its ratio where there is one. Of two runs it is the worse.
// Lines that are called alike are told apart.
func TestTheRunInTheMiddleIsPrinted(t *testing.T) {
	var files []string
	for _, results := range [][]Result{
		{
			{Section: "log", Name: "append", Value: 900, Unit: "/s", Ratio: 0.7, Peer: "INSERT", Bar: 0.6},
			{Section: "log", Name: "append", Value: 900, Unit: "/s", Ratio: 7, Peer: "River"},
		},
		{
			{Section: "log", Name: "append", Value: 300, Unit: "/s", Ratio: 0.5, Peer: "INSERT", Bar: 0.6},
			{Section: "sagas", Name: "run", Value: 3, Unit: "ms", Bar: 2.5, AtMost: true},
		},
		{
			{Section: "sagas", Name: "run", Value: 2, Unit: "ms", Bar: 2.5, AtMost: true},
			{Section: "sagas", Name: "run", Value: 9, Unit: "ms"},
			{Section: "log", Name: "append", Value: 100, Unit: "/s", Ratio: 0.65, Peer: "INSERT", Bar: 0.6},
		},
	} {
		file := filepath.Join(t.TempDir(), "run.json")
		text, err := json.Marshal(Record{Results: results})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var out strings.Builder
	if err := median(Options{Out: &out}, files); err != nil {
		t.Fatal(err)
	}
	printed := strings.Join(strings.Fields(out.String()), " ")
	want := "log append 100.0 /s 0.65 x INSERT (bar: at least 0.60; reached) of 0.50, 0.65, 0.70 " +
		"append 900.0 /s 7.00 x River of 7.00 " +
		"sagas run 3.00 ms (bar: at most 2.50; MISSED) of 2.00, 3.00 run 9.00 ms of 9.00"
	if printed != want {
		t.Errorf("it prints\n%s\nnot\n%s", printed, want)
	}
}
