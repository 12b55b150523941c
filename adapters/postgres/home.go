//go:build unix

package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The owner of everything in the cluster, and the panel's database.
const (
	role     = "hostpanel"
	database = "hostpanel"
)

// A home is the data directory with the paths in it that are ours. The binaries
// for throw-away clusters stand elsewhere, to be there for the next one.
type home struct{ dir, binaries string }

func (h home) data() string         { return filepath.Join(h.dir, "postgres") }
func (h home) unfinished() string   { return filepath.Join(h.dir, "postgres.new") }
func (h home) passwordFile() string { return filepath.Join(h.dir, "postgres.password") }
func (h home) log() string          { return filepath.Join(h.dir, "postgres.log") }
func (h home) serveLock() string    { return filepath.Join(h.dir, "postgres.serve") }
func (h home) usersLock() string    { return filepath.Join(h.dir, "postgres.users") }
func (h home) turnLock() string     { return filepath.Join(h.dir, "postgres.turn") }

func (h home) everything() []string {
	return []string{h.data(), h.unfinished(), h.passwordFile(), h.log()}
}

// mustExist refuses a directory without a cluster, and changes nothing in it.
func mustExist(dir string) error {
	major, err := home{dir: dir}.major()
	if err == nil && major == 0 {
		err = ErrNoCluster
	}
	return err
}

// openHome makes the data directory. Where it runs as root, the server's user
// must pass through, so the directory is opened for passing, not for reading.
func openHome(dir string) (home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return home{dir: dir}, err
	}
	if err := os.MkdirAll(abs, directoryMode()); err != nil {
		return home{dir: abs}, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return home{dir: dir}, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return home{dir: abs}, err
	}
	if mode := info.Mode().Perm(); isRoot() && mode&0o011 != 0o011 {
		err = os.Chmod(abs, mode|0o011)
	}
	return home{abs, filepath.Join(abs, "postgres.bin")}, err
}

func directoryMode() os.FileMode {
	if isRoot() {
		return 0o711
	}
	return 0o700
}

// password returns the cluster's password, and makes one for a new cluster.
// initdb reads it from the file, so the file is the server's user's.
func (h home) password(o owner) (string, error) {
	text, err := os.ReadFile(h.passwordFile())
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	major, err2 := h.major()
	if !os.IsNotExist(err) || err2 != nil || major != 0 {
		return "", errors.Join(err, err2) // the password of an old cluster cannot be made up
	}
	return h.newPassword(o, rand.Text())
}

func (h home) newPassword(o owner, password string) (string, error) {
	draft := h.passwordFile() + ".new"
	if err := os.WriteFile(draft, []byte(password+"\n"), 0o600); err != nil {
		return "", err
	}
	if err := o.own(draft); err != nil {
		return "", err
	}
	return password, os.Rename(draft, h.passwordFile())
}

// major is the version of PostgreSQL that wrote the cluster; 0: there is none.
func (h home) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var major int
	_, err = fmt.Sscan(string(text), &major)
	return major, err
}

// create makes the cluster where there is none. It grows under another name, so
// one that stands under its own is whole.
func (c *Cluster) create(ctx context.Context) error {
	major, err := c.home.major()
	if err != nil || major != 0 {
		return err
	}
	b, err := c.binaries(ctx)
	if err != nil {
		return err
	}
	draft := c.home.unfinished()
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	c.begins(Creating)
	if err := c.fill(ctx, b, draft); err != nil {
		return fmt.Errorf("make the cluster: %w", err)
	}
	return os.Rename(draft, c.home.data())
}

func (c *Cluster) fill(ctx context.Context, b binaries, draft string) error {
	if c.options.Volatile {
		return c.fillFromTemplate(ctx, b, draft)
	}
	return c.initdb(ctx, b, draft)
}
