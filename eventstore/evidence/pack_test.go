package evidence_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"hostpanel/eventstore/evidence"
)

func somePack() evidence.Pack {
	return evidence.Pack{
		Manifest: evidence.Manifest{
			Format: evidence.Format, About: "tenant 3", MadeAt: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
			VKey: "log+1+x", Events: 2,
		},
		Policy: "log log+1+x\n",
		Events: []evidence.Event{
			{Position: 7, Bytes: []byte("seven"), Proof: "proof of seven"},
			{Position: 1_000_000, Bytes: []byte("a million"), Proof: "its proof"},
		},
		Keys:  []evidence.Key{{Position: 7, Pointer: "/name", Key: []byte("key")}},
		Story: []byte("<p>told</p>"),
	}
}

func zipped(t *testing.T, p evidence.Pack) *zip.Reader {
	t.Helper()
	var file, again bytes.Buffer
	must(t, errors.Join(p.Zip(&file), p.Zip(&again)))
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("equal packs give different bytes")
	}
	return opened(t, &file)
}

func opened(t *testing.T, file *bytes.Buffer) *zip.Reader {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	must(t, err)
	return z
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A pack is the same in each of its forms, however a stranger packs and unpacks it. The
// last one is how packs were written before: each file of an event by itself in the .zip.
func TestAPackIsTheSameInEachOfItsForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, unpacked := filepath.Join(dir, "folder"), filepath.Join(dir, "unpacked")
	must(t, somePack().Folder(folder))
	if err := somePack().Folder(folder); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder that exists is written to: %v", err)
	}
	file := zipped(t, somePack())
	must(t, os.CopyFS(unpacked, file))
	halfway := os.DirFS(unpacked)
	inner, err := zip.OpenReader(filepath.Join(unpacked, "events.zip"))
	must(t, err)
	both := filepath.Join(dir, "both")
	must(t, errors.Join(os.CopyFS(both, file), os.CopyFS(both, inner), inner.Close()))
	var flat bytes.Buffer
	z := zip.NewWriter(&flat)
	must(t, errors.Join(z.AddFS(os.DirFS(folder)), z.Close()))
	for what, form := range map[string]fs.FS{
		"a folder": os.DirFS(folder), "a .zip": file, "an unpacked .zip": halfway,
		"one whose events are unpacked too": os.DirFS(both), "a packed folder": opened(t, &flat),
	} {
		if p, err := evidence.Read(form); err != nil || !reflect.DeepEqual(p, somePack()) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
	for name, want := range map[string]string{"events/000000000007.event": "seven", "events/000001000000.tlog-proof": "its proof"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestWhatIsNoPackIsNotRead(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(dir string) error{
		"another event beside the packed ones": func(dir string) error {
			return errors.Join(
				os.Mkdir(filepath.Join(dir, "events"), 0o700),
				os.WriteFile(filepath.Join(dir, "events", "000000000007.event"), []byte("eight"), 0o600),
			)
		},
		"cut events": func(dir string) error { return os.Truncate(filepath.Join(dir, "events.zip"), 100) },
		"another form": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"format":"x"}`), 0o600)
		},
		"no manifest": func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) },
		"too much":    func(dir string) error { return os.Truncate(filepath.Join(dir, "policy"), 2<<30) },
		"more":        func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o600) },
	} {
		dir := filepath.Join(t.TempDir(), "pack")
		must(t, os.CopyFS(dir, zipped(t, somePack())))
		must(t, change(dir))
		if _, err := evidence.Read(os.DirFS(dir)); !errors.Is(err, evidence.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
