//go:build unix

package postgres

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hostpanel/eventstore/clock"
)

// A tempDir is the folder of a volatile cluster. Its process holds a lock on
// the file "alive" in it.
type tempDir struct {
	path  string
	alive *os.File
}

const (
	tempPattern = "hostpanel-volatile-*"
	tempYouth   = time.Minute // a folder without the file may be one in the making

	memoryFolder = "/dev/shm"
	memoryNeeded = 2 << 30 // bytes
)

// tempRoot is in memory where there is plenty, unless TMPDIR says otherwise: a
// cluster has a thousand files, and making them is what takes the time on a
// disk. Links are followed, as servers are known by their real paths.
func tempRoot() string {
	root := os.TempDir()
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memoryFolder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= memoryNeeded {
		root = memoryFolder
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		return real
	}
	return root
}

func newTempDir() (*tempDir, error) {
	path, err := os.MkdirTemp(tempRoot(), tempPattern)
	if err != nil {
		return nil, err
	}
	// The lock is taken before the file has its name, so no other process finds it
	// free.
	draft := filepath.Join(path, "alive.new")
	alive, err := lock(draft, syscall.LOCK_EX)
	if err == nil {
		err = os.Rename(draft, filepath.Join(path, "alive"))
	}
	return &tempDir{path, alive}, err
}

func (d *tempDir) remove() {
	_ = os.RemoveAll(d.path)
	unlock(&d.alive)
}

// reapTempDirs deletes what dead processes have left, their servers included.
func reapTempDirs() {
	paths, _ := filepath.Glob(filepath.Join(tempRoot(), tempPattern)) // the pattern is well formed
	for _, path := range paths {
		if isOurs(path) && isDead(path) {
			data := filepath.Join(path, "postgres")
			if n, err := readNote(data); err == nil && n != nil {
				_ = (&server{pid: n.pid, data: data}).stop(crash)
			}
			_ = os.RemoveAll(path)
		}
	}
}

func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	return int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}

func isDead(path string) bool {
	alive, err := os.Open(filepath.Join(path, "alive"))
	if err != nil {
		info, err := os.Stat(path)
		return err == nil && clock.Since(info.ModTime()) > tempYouth
	}
	defer func() { _ = alive.Close() }()
	return flock(alive, syscall.LOCK_EX) == nil
}
