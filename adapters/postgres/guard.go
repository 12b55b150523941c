//go:build unix

package postgres

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

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
