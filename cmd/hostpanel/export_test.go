package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
)

// An auditor takes the log away in a file. An export that was cut off within a line goes on
// and ends with the same bytes.
func TestTheLogIsExportedAndACutExportGoesOn(t *testing.T) {
	p, _ := demoForCommands(t)
	head, _, err := p.Store.Reader().Head(t.Context())
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
			if again := export(console.Done, "more events", "cut."+format, append(flags, "--resume")...); !bytes.Equal(again,
				whole) {
				t.Errorf("%s cut at %d of %d goes on to %d bytes", format, cut, len(whole), len(again))
			}
		}
	}
	table, err := csv.NewReader(bytes.NewReader(export(console.Done, "more events", "tenant.csv", "--format", "csv",
		"--tenant", "1"))).ReadAll()
	if err != nil || len(table) < 2 || table[1][5] != "1" {
		t.Errorf("%v, %v", table, err)
	}
	if one := export(console.Done, "1 more events", "plan.jsonl", "--stream", "plan-1"); !bytes.Contains(one,
		[]byte(`"stream":"plan-1"`)) {
		t.Errorf("%s", one)
	}
	export(console.Done, " 0 more events", "none.jsonl", "--to", "2020-01-01")
}

// An auditor takes the tree away as files, in the layout in which it is served. A later
// call adds what is new, and leaves full tiles as they are.
func TestTheTransparencyLogIsExportedAsFiles(t *testing.T) {
	p, _ := demoForCommands(t)
	dir := filepath.Join(t.TempDir(), "log")
	exported := func() tree.Origin {
		t.Helper()
		if _, err := p.Sealer.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := p.Sealer.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tells(t, fmt.Sprintf("%s has the transparency log of %d events; its public key is %s", dir, o.Size, o.VKey),
			console.Done, "export", "--tiles", dir)
		if text, err := os.ReadFile(filepath.Join(dir, "checkpoint")); err != nil || string(text) != o.Checkpoint {
			t.Errorf("the checkpoint: %s %v", text, err)
		}
		return o
	}
	o := exported()
	_, err := p.Store.Execute(t.Context(), domain.Metadata{Actor: "test"},
		account.Deactivate{User: 2, At: p.Store.Clock().Now()})
	if err != nil {
		t.Fatal(err)
	}
	if later := exported(); later.Size <= o.Size {
		t.Fatal("nothing was sealed:", later.Size)
	} else {
		o = later
	}
	all := tlog.TilesOf(o.Size)
	for _, path := range all {
		if path.Level == 0 {
			all = append(all, tlog.TilePath{
				TileID: tlog.TileID{Level: tlog.EntriesLevel, Number: path.Number},
				Width:  path.Width,
			})
		}
	}
	for _, path := range all {
		data, err := os.ReadFile(filepath.Join(dir, "tile", path.String()))
		served, missing := p.Sagas.Audit.Tile(t.Context(), path.String())
		if err != nil || missing != nil || !bytes.Equal(data, served) {
			t.Errorf("%s: %d bytes, %v %v", path, len(data), err, missing)
		}
	}
	tells(t, "say what is written where", console.Usage, "export")
}
