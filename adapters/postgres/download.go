//go:build unix

package postgres

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// fetchable are the versions that the repository of binaries has for sure. A
// new cluster takes the one that the panel is tested with.
var fetchable = map[int]embedded.PostgresVersion{
	0: embedded.V15, 15: embedded.V15, 16: embedded.V16, 17: embedded.V17, 18: embedded.V18,
}

// fetch brings the binaries of a version into the data directory. They appear
// under their final name when they are whole.
func (c *Cluster) fetch(ctx context.Context, major int) (binaries, error) {
	version, known := fetchable[major]
	if !known {
		return binaries{}, fmt.Errorf("there are no binaries of version %d to fetch", major)
	}
	if err := c.makeRoom(); err != nil {
		return binaries{}, err
	}
	scratch, err := os.MkdirTemp(c.home.binaries, "fetch-")
	if err != nil {
		return binaries{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	c.begins(Fetching)
	if err := download(ctx, scratch, version, c.options.Repository); err != nil {
		return binaries{}, err
	}
	target := filepath.Join(c.home.binaries, string(version))
	if err := install(filepath.Join(scratch, "binaries"), target); err != nil {
		return binaries{}, err
	}
	return inspect(ctx, filepath.Join(target, "bin"))
}

func (c *Cluster) makeRoom() error {
	if err := os.MkdirAll(c.home.binaries, 0o755); err != nil {
		return err
	}
	if !isOurs(c.home.binaries) {
		return fmt.Errorf("%s belongs to another user of the system", c.home.binaries)
	}
	return os.Chmod(c.home.binaries, 0o755) // whatever the umask is
}

// sharedBinaries is where throw-away clusters of one user share binaries.
func sharedBinaries() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("hostpanel-postgres-%d", os.Geteuid()))
}

func install(from, to string) error {
	if err := openForAll(from); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// openForAll lets the server's user read what a strict umask kept to us.
func openForAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		readable := info.Mode().Perm() & 0o500
		return os.Chmod(path, info.Mode().Perm()|readable>>3|readable>>6)
	})
}

// download fetches and unpacks the binaries into scratch/binaries. The library
// cannot fetch without starting a server, and cannot start one as root. So it
// is given a data directory that looks like a cluster but is none: it fetches,
// unpacks, fails to start, and that failure is the sign that all went well.
func download(ctx context.Context, scratch string, version embedded.PostgresVersion, repository string) error {
	decoy := filepath.Join(scratch, "decoy")
	if err := os.Mkdir(decoy, 0o700); err != nil {
		return err
	}
	major, _, _ := strings.Cut(string(version), ".")
	if err := os.WriteFile(filepath.Join(decoy, "PG_VERSION"), []byte(major+"\n"), 0o600); err != nil {
		return err
	}
	config := embedded.DefaultConfig().Version(version).Port(0).Logger(io.Discard).DataPath(decoy).
		RuntimePath(filepath.Join(scratch, "runtime")).BinariesPath(filepath.Join(scratch, "binaries")).CachePath(
		filepath.Join(scratch, "archives"),
	)
	if repository != "" {
		config = config.BinaryRepositoryURL(strings.TrimSuffix(repository, "/"))
	}
	done := make(chan error, 1)
	go func() { done <- embedded.NewDatabase(config).Start() }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err != nil && !strings.HasPrefix(err.Error(), "could not start postgres using") {
			return err
		}
		return nil
	}
}
