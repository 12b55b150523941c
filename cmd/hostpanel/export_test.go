package main

import (
	"bytes"
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
