package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/wholefile"
)

// place checks where everything is kept.
func (c *Config) place(s Settings) (err error) {
	if c.DataDir, err = dataDir(s.DataDir); err != nil {
		return err
	}
	if c.ErasuresCopy = s.ErasuresCopy; c.ErasuresCopy == "" {
		return nil
	}
	if info, err := os.Stat(c.ErasuresCopy); !filepath.IsAbs(c.ErasuresCopy) || err == nil && info.IsDir() {
		return console.Misused("HOSTPANEL_ERASURES_COPY: %q is not the full path of a file such as /mnt/other/erasures", c.ErasuresCopy)
	}
	if filepath.Clean(c.ErasuresCopy) == c.ErasuresFile() {
		return console.Misused("HOSTPANEL_ERASURES_COPY is the file in the data directory: name one on another disk or machine")
	}
	return nil
}

// ErasuresFile is the list of erasures in the data directory.
func (c *Config) ErasuresFile() string { return filepath.Join(c.DataDir, "erasures") }

// dataDir is the absolute path of the data directory. Nothing is made yet.
func dataDir(setting string) (string, error) {
	if setting != "" {
		return filepath.Abs(setting)
	}
	if os.Geteuid() == 0 {
		return "/var/lib/hostpanel", nil
	}
	if home := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, "hostpanel"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", console.Misused("there is no home directory: set HOSTPANEL_DATA_DIR")
	}
	return filepath.Join(home, ".local", "share", "hostpanel"), nil
}

// MakeDataDir sees to it that the data directory is there, for us alone. For
// root, others may pass through it: Postgres runs as another user there.
func MakeDataDir(dir string) error {
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		return fmt.Errorf("keep the data directory private: %w", err)
	}
	return nil
}

// HasSecretKey tells whether the secret key is set, so that the data directory
// needs none.
func (c *Config) HasSecretKey() bool { return c.secretKey != "" }

// Keyring opens the secret keys: those that are set, else the one in the data
// directory. The first start makes it with create.
func (c *Config) Keyring(create bool) (*sealing.Keyring, error) {
	list := c.secretKey
	if list == "" {
		var err error
		if list, err = c.keptKey(create); err != nil {
			return nil, err
		}
	}
	keys, err := sealing.ParseKeyring(list)
	if err != nil {
		return nil, console.Misused("%w", err)
	}
	return keys, nil
}

// keptKey reads the key in the data directory, and makes it with create. Of two
// processes that make it at once, one finds the other's. A key is never made for
// a database that exists: another key has sealed what is in it.
func (c *Config) keptKey(create bool) (string, error) {
	path := filepath.Join(c.DataDir, "secret.key")
	text, err := os.ReadFile(path)
	if _, made := os.Stat(filepath.Join(c.DataDir, "postgres")); errors.Is(err, fs.ErrNotExist) && made == nil {
		return "", console.Misused("%s is missing, and the database beside it was sealed with the key in it. "+
			`Put the file back from your backup. If the key is lost for good, see "A lost key" in docs/security.md`, path)
	}
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := wholefile.Create(path, []byte(sealing.NewSecretKey()+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("keep a new secret key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", console.Misused(
			"there is no secret key in %s: name the data directory of your panel with --data-dir or "+
				"HOSTPANEL_DATA_DIR, or put the copy of its secret.key there",
			c.DataDir,
		)
	}
	if err != nil {
		return "", fmt.Errorf("read the secret key: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
