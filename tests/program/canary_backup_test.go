//go:build system

package program_test

import (
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/evidence"
	"hostpanel/tests/processtest"
)

// makesAPack writes an evidence pack of the whole log, once all of it is sealed, and
// unpacks it.
func (m *mine) makesAPack(name string) string {
	t := m.Home.T
	processtest.Eventually(t, "there is evidence of the whole log", func() bool {
		_, _, code := m.Command("evidence", "--from", "2020-01-01T00:00:00Z", "--out", name)
		return code == console.Done
	})
	files, err := zip.OpenReader(name)
	if err == nil {
		err = errors.Join(os.CopyFS(name+".unpacked", files), files.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name + ".unpacked"
}

// provesTheSame checks a pack that was made before people were erased.
func (m *mine) provesTheSame(pack string) {
	t := m.Home.T
	p, err := evidence.Read(os.DirFS(pack))
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Check(nil)
	if err != nil || len(report.Faults) > 0 || len(report.Events) == 0 {
		t.Errorf("%d events of a pack are proven, %d faults, %v", len(report.Events), len(report.Faults), err)
	}
	if told := m.Must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
}

// peopleAreInNoFile searches, after the erasure, the data directory, a new backup and a
// new evidence pack. The sandbox of the engine stands for a system outside.
func (m *mine) peopleAreInNoFile() {
	t := m.Home.T
	dir := t.TempDir()
	m.makesAPack(filepath.Join(dir, "pack.zip"))
	m.Must("backup", "--out", filepath.Join(dir, "packed"))
	m.unpack(filepath.Join(dir, "packed"), filepath.Join(dir, "backup"))
	var certain flock
	certain.add("name of an event", "subject.erased")
	if seen := certain.inFiles(t, dir); len(seen) < 2 { // in the backup and in the pack
		t.Errorf("what certainly stands in the files is found in %v", seen)
	}
	found := append(m.people.inFiles(t, m.Dir), m.people.inFiles(t, dir)...)
	for _, s := range distinct(found) {
		if !strings.Contains(s.place, "sandbox_engine.") {
			t.Errorf("%s stands in %s", s.canary, s.place)
		}
	}
}

// unpack writes the files of a backup without their compression.
func (m *mine) unpack(from, to string) {
	t := m.Home.T
	files := 0
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".gz") {
			return err
		}
		files++
		return errors.Join(os.MkdirAll(to, 0o700), unzip(path, filepath.Join(to, strings.TrimSuffix(entry.Name(), ".gz"))))
	})
	if err != nil || files < 10 {
		t.Fatalf("the backup has %d files, %v", files, err)
	}
}

func unzip(from, to string) error {
	packed, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	plain, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(plain, text) //nolint:gosec // a backup of the test's own
	return errors.Join(err, plain.Close())
}
