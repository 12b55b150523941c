package novnc

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The files are those of npm, byte for byte, and no others.
func TestTheFilesAreUnmodified(t *testing.T) {
	text, err := os.ReadFile("checksums.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(path)
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want[path] {
			t.Errorf("%s is not that of noVNC %s", path, Version)
		}
		delete(want, path)
		return err
	})
	if err != nil || len(want) > 0 {
		t.Errorf("missing: %v %v", want, err)
	}
}

// What the page and the Makefile name is this version.
func TestEachPlaceNamesTheSameVersion(t *testing.T) {
	for path, pattern := range map[string]string{
		"../../web/console.js": `novnc/([0-9.]+)/core/rfb.js`,
		"../../../Makefile":    `NOVNC = ([0-9.]+)`,
		"../../../NOTICE":      `noVNC ([0-9.]+)`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(pattern).FindSubmatch(text); found == nil || string(found[1]) != Version {
			t.Errorf("%s names %q", path, found)
		}
	}
}
