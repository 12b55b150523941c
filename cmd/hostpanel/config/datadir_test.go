package config

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDataDirectoryIsWhereTheSystemKeepsData(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data/home")
	want := "/data/home/hostpanel"
	if os.Geteuid() == 0 {
		want = "/var/lib/hostpanel"
	}
	if got, err := dataDir(""); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := dataDir("mine"); err != nil || got != filepath.Join(here, "mine") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTheSecretKeyIsMadeOnceAndKeptPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := MakeDataDir(dir); err != nil {
		t.Fatal(err)
	}
	c := &Config{DataDir: dir}
	if _, err := c.Keyring(false); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a command should miss the key: %v", err)
	}
	first, err := c.Keyring(true)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Keyring(true)
	if err != nil || !bytes.Equal(first.Derive("test"), second.Derive("test")) {
		t.Errorf("the second start has another key: %v", err)
	}
	file, err := os.Stat(filepath.Join(dir, "secret.key"))
	if err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", file.Mode(), err)
	}
	folder, err := os.Stat(dir)
	if err != nil || folder.Mode().Perm()&0o066 != 0 {
		t.Errorf("the data directory: %v, %v", folder.Mode(), err)
	}
	c.secretKey = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	if set, err := c.Keyring(true); err != nil || bytes.Equal(set.Derive("test"), first.Derive("test")) {
		t.Errorf("a key that is set should win: %v", err)
	}
	c.secretKey = "too short"
	if _, err := c.Keyring(true); err == nil || strings.Contains(err.Error(), "too short") {
		t.Errorf("a bad key is refused, and not told: %v", err)
	}
}
