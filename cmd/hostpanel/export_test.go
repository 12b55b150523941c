package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hostpanel/cmd/hostpanel/console"
)

// An auditor takes the log away in a file. An export that was cut off within a line goes on
// and ends with the same bytes.
func TestTheLogIsExportedAndACutExportGoesOn(t *testing.T) {
	p, _ := demoForCommands(t)
	head, _, err := p.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	export := func(code int, want, file string, flags ...string) []byte {
		t.Helper()
		name := filepath.Join(dir, file)
		tells(t, want, code, "export", append([]string{"--out", name}, flags...)...)
		data, _ := os.ReadFile(name)
		return data
	}
	whole := export(console.Done, "more events", "log.jsonl")
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	if int64(len(lines)) != head {
		t.Fatalf("%d lines of %d events", len(lines), head)
	}
	for i, line := range lines {
		var event struct {
			Position int64
			Hash     string
		}
		if err := json.Unmarshal(line, &event); err != nil || event.Position != int64(i)+1 || len(event.Hash) != 64 {
			t.Fatalf("line %d: %v, %s", i+1, err, line)
		}
	}
	export(console.Failed, "file exists", "log.jsonl")
	for format, flags := range map[string][]string{"jsonl": nil, "csv": {"--format", "csv"}} {
		whole := export(console.Done, "more events", "whole."+format, flags...)
		for _, cut := range []int{0, 1, len(whole) / 3, len(whole) - 1, len(whole)} {
			if err := os.WriteFile(filepath.Join(dir, "cut."+format), whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			if again := export(console.Done, "more events", "cut."+format, append(flags, "--resume")...); !bytes.Equal(again, whole) {
				t.Errorf("%s cut at %d of %d goes on to %d bytes", format, cut, len(whole), len(again))
			}
		}
	}
	table, err := csv.NewReader(bytes.NewReader(export(console.Done, "more events", "tenant.csv", "--format", "csv", "--tenant", "1"))).ReadAll()
	if err != nil || len(table) < 2 || table[1][5] != "1" {
		t.Errorf("%v, %v", table, err)
	}
	if one := export(console.Done, "1 more events", "plan.jsonl", "--stream", "plan-1"); !bytes.Contains(one, []byte(`"stream":"plan-1"`)) {
		t.Errorf("%s", one)
	}
	export(console.Done, " 0 more events", "none.jsonl", "--to", "2020-01-01")
}
