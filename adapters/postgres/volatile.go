//go:build unix

package postgres

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
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
)

// tempRoot follows links, as servers are known by their real paths.
func tempRoot() string {
	if path, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		return path
	}
	return os.TempDir()
}

func newTempDir() (*tempDir, error) {
	path, err := os.MkdirTemp(tempRoot(), tempPattern)
	if err != nil {
		return nil, err
	}
	// The lock is taken before the file has its name, so nobody finds it free.
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
		return err == nil && time.Since(info.ModTime()) > tempYouth
	}
	defer func() { _ = alive.Close() }()
	return flock(alive, syscall.LOCK_EX) == nil
}

// grave is what goes when a volatile cluster's process dies.
func (c *Cluster) grave() string {
	if c.temp != nil {
		return c.temp.path
	}
	return c.home.data()
}

// lastRites waits for a word from us. When the line breaks without one, our
// process has died: the server is ended and its folder deleted.
const lastRites = `read -r word && exit
kill -QUIT "$1"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -0 "$1" 2>/dev/null || break
  sleep 0.1
done
rm -rf -- "$2"`

// guard sees to it that a server dies with our process, even by kill -9, and on
// every Unix: a process that waits at the other end of a pipe. It returns how to
// dismiss it. Should it fail, the next start of a volatile cluster cleans up.
func guard(pid int, folder string) (dismiss func()) {
	cmd := exec.Command("/bin/sh", "-c", lastRites, "guard", strconv.Itoa(pid), folder) //nolint:noctx // it outlives us
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	line, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {}
	}
	return func() {
		_, _ = io.WriteString(line, "dismissed\n")
		_ = line.Close()
		_ = cmd.Wait()
	}
}
