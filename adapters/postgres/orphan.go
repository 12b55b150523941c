//go:build unix

package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hangLimit is how long a server that calls itself ready may be silent before
// it counts as hung, and eviction how a hung one is ended.
var (
	hangLimit = 10 * time.Second
	eviction  = farewell{{syscall.SIGQUIT, 7 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}
)

// found is the server that runs here already: another command's, or one whose
// panel was killed. It is nil when there is none, or none of use. A silent one
// is ended if no other process uses it.
func (c *Cluster) found(ctx context.Context) (*server, error) {
	note, err := readNote(c.home.data())
	if err != nil || note == nil {
		return nil, err
	}
	if !isPostmaster(note.pid, c.home.data()) {
		return nil, nil // the number may be another process's by now
	}
	s := &server{pid: note.pid, data: c.home.data()}
	err = c.join(ctx, s)
	if err == nil || ctx.Err() != nil || hopeless(err) || !c.mayEvict() {
		return s, err
	}
	return nil, s.stop(eviction)
}

func (c *Cluster) mayEvict() bool {
	if c.options.Volatile {
		return true
	}
	alone, err := c.locks.alone()
	return err == nil && alone
}

// join waits for the server as long as it may take: a ready one answers soon,
// one that recovers needs its time.
func (c *Cluster) join(ctx context.Context, s *server) error {
	short, cancel := context.WithTimeout(ctx, hangLimit)
	defer cancel()
	ready, err := s.introduce(short)
	if err != nil {
		return err
	}
	if ready {
		return c.ready(short, s)
	}
	return c.ready(ctx, s)
}

// introduce reads the server's address from its note, and whether it is ready. A server
// that has just started adds its address a moment after its process.
func (s *server) introduce(ctx context.Context) (ready bool, err error) {
	for {
		note, err := readNote(s.data)
		if err != nil {
			return false, err
		}
		if note == nil || note.pid != s.pid || s.gone() {
			return false, errors.New("the server has ended")
		}
		if note.address.host != "" {
			s.address = note.address
			return note.ready, nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return false, fmt.Errorf("the server does not say where it answers: %w", err)
		}
	}
}

// A note is what a postmaster writes down about itself.
type note struct {
	pid     int
	address address
	ready   bool
}

func notePath(data string) string { return filepath.Join(data, "postmaster.pid") }

// readNote reads postmaster.pid: the process, the folder, the start, the port,
// the socket's folder, the address, the shared memory, and the state, a line
// each. There is none (nil) where no server runs or ended badly.
func readNote(data string) (*note, error) {
	text, err := os.ReadFile(notePath(data))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 8)...)
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return &note{}, nil // cut short by a crash of the machine
	}
	port, _ := strconv.Atoi(lines[3])
	at := address{host: lines[4], port: port}
	if at.host == "" {
		at.host = lines[5]
	}
	return &note{pid: pid, address: at, ready: strings.HasPrefix(lines[7], "ready")}, nil
}

// clearNotes removes what a server that is no more has left. The next one would
// believe its number, were it another process's or a zombie's; whether sessions
// of the dead one still run it finds out by their shared memory.
func (h home) clearNotes() error {
	socket := filepath.Join(h.data(), socketName)
	for _, path := range []string{notePath(h.data()), socket, socket + ".lock"} {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// isPostmaster says whether the process is a server of this folder. A zombie
// has no command line, so it is none.
func isPostmaster(pid int, data string) bool {
	if pid <= 0 {
		return false
	}
	line := commandLine(pid)
	return bytes.Contains(line, []byte("postgres")) && bytes.Contains(line, []byte(data))
}

// commandLine reads /proc, or asks ps where there is no such thing.
func commandLine(pid int) []byte {
	if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return line
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	line, _ := exec.CommandContext(ctx, "ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return line
}
