package main

import (
	"strings"
	"testing"
)

func TestALineSaysWhetherItsBarIsReached(t *testing.T) {
	var out strings.Builder
	r := run{Options: Options{Out: &out}}
	r.report(Result{Section: "log", Name: "append", Value: 300, Unit: "/s", Ratio: 3, Peer: "INSERT", Bar: 1.5})
	r.report(Result{Section: "log", Name: "append", Value: 100, Unit: "/s", Ratio: 1, Peer: "INSERT", Bar: 1.5})
	r.report(Result{Section: "sagas", Name: "p50", Value: 12, Unit: "ms", Bar: 10, AtMost: true})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range map[int]string{1: "at least 1.50; reached", 2: "at least 1.50; MISSED", 5: "at most 10.0; MISSED"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, want %q in it", i, lines[i], want)
		}
	}
}
