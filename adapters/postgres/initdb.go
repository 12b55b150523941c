//go:build unix

package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// initdb makes a cluster in folder: UTF-8, sorted by code point, letters of all
// languages known where the system can.
func (c *Cluster) initdb(ctx context.Context, b binaries, folder string, more ...string) error {
	err := c.initdbWith(ctx, b, folder, "C.UTF-8", more)
	if err != nil && strings.Contains(err.Error(), "locale") {
		return c.initdbWith(ctx, b, folder, "C", more)
	}
	return err
}

func (c *Cluster) initdbWith(ctx context.Context, b binaries, folder, locale string, more []string) error {
	if err := c.owner.makeFolder(folder); err != nil {
		return err
	}
	args := append([]string{
		"--pgdata", folder, "--username", role, "--pwfile", c.home.passwordFile(), "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", locale,
	}, more...)
	out, err := c.owner.command(exec.CommandContext(ctx, b.path("initdb"), args...)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (o owner) makeFolder(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return o.own(path)
}

// fillFromTemplate makes a volatile cluster: a copy of one that initdb made
// earlier for the same PostgreSQL, as that takes a tenth of the time. The copy
// has the password of the template.
func (c *Cluster) fillFromTemplate(ctx context.Context, b binaries, folder string) error {
	template, err := templateOf(b)
	if err != nil {
		return c.initdb(ctx, b, folder, "--no-sync")
	}
	if copyTree(filepath.Join(template, "postgres"), folder, c.owner.own) == nil && c.adoptPassword(template) == nil {
		return nil
	}
	if err := c.initdb(ctx, b, folder, "--no-sync"); err != nil {
		return err
	}
	_ = c.keepTemplate(folder, template) // without it the next start is slower, that is all
	return nil
}

// templateOf names the template for b in the user's cache.
func templateOf(b binaries) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(b.folder + " " + b.version))
	return filepath.Join(cache, "hostpanel", fmt.Sprintf("postgres-template-%d-%x", b.major, sum[:6])), nil
}

func (c *Cluster) adoptPassword(template string) error {
	text, err := os.ReadFile(filepath.Join(template, "password"))
	if err != nil {
		return err
	}
	c.password, err = c.home.newPassword(c.owner, strings.TrimSpace(string(text)))
	return err
}

// keepTemplate stores a copy under a name of its own first, so that others see
// the whole template or none; the second process discards its own.
func (c *Cluster) keepTemplate(folder, template string) error {
	if err := os.MkdirAll(filepath.Dir(template), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(template), "postgres-draft-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	keep := func(string) error { return nil }
	if err := copyTree(folder, filepath.Join(draft, "postgres"), keep); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(draft, "password"), []byte(c.password), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, template)
}

// copyTree copies the folders and files below from to the new folder to, and
// hands each to its owner.
func copyTree(from, to string, own func(string) error) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if err := copyEntry(path, target, d); err != nil {
			return err
		}
		return own(target)
	})
}

func copyEntry(from, to string, d fs.DirEntry) error {
	if d.IsDir() {
		return os.Mkdir(to, 0o700)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
