//go:build system && unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheServerOfAKilledServeIsTakenOver(t *testing.T) {
	dir := madeDir(t)
	killed := startPanel(t, Options{Dir: dir, Serve: true})
	run(t, killed.url, makePayments)
	run(t, killed.url, twoPayments)
	killed.kill()
	next := start(t, Options{Dir: dir, Serve: true})
	if next.server.pid != killed.server.pid {
		t.Errorf("process %d was not taken over, %d was started", killed.server.pid, next.server.pid)
	}
	expect(t, next.URL(), countPayments, "2")
	must(t, next.Stop())
	if !killed.server.gone() {
		t.Error("the server was taken over, but not ended")
	}
}

func TestACrashOfATakenOverServerKeepsWhatWasCommitted(t *testing.T) {
	dir := madeDir(t)
	killed := startPanel(t, Options{Dir: dir, Serve: true})
	run(t, killed.url, makePayments)
	killed.kill()
	next := start(t, Options{Dir: dir, Serve: true})
	run(t, next.URL(), twoPayments)
	must(t, next.Crash(t.Context()))
	expect(t, next.URL(), countPayments, "2")
}

func TestAHungServerOfAKilledServeIsReplaced(t *testing.T) {
	patience(t, 200*time.Millisecond)
	dir := madeDir(t)
	killed := startPanel(t, Options{Dir: dir, Serve: true})
	run(t, killed.url, makePayments)
	run(t, killed.url, twoPayments)
	killed.kill()
	signal(t, killed.server, syscall.SIGSTOP)
	next := start(t, Options{Dir: dir, Serve: true})
	if next.server.pid == killed.server.pid {
		t.Error("a hung server was taken over")
	}
	expect(t, next.URL(), countPayments, "2")
}

func TestAHungServerInUseIsNotReplaced(t *testing.T) {
	patience(t, 200*time.Millisecond)
	dir := madeDir(t)
	serve := startPanel(t, Options{Dir: dir, Serve: true})
	signal(t, serve.server, syscall.SIGSTOP)
	refused(t, Options{Dir: dir}, context.DeadlineExceeded, "does not answer")
	signal(t, serve.server, syscall.SIGCONT)
	expect(t, serve.url, "select '1'", "1")
}

func patience(t *testing.T, d time.Duration) {
	hang, evict := hangLimit, eviction
	t.Cleanup(func() { hangLimit, eviction = hang, evict })
	hangLimit, eviction = d, farewell{{syscall.SIGQUIT, d}, {syscall.SIGKILL, 5 * time.Second}}
}

// A server that starts writes down its process first, and where it answers a moment later.
func TestAServerThatHasJustBegunToStartIsTakenOver(t *testing.T) {
	dir := madeDir(t)
	killed := startPanel(t, Options{Dir: dir, Serve: true})
	killed.kill()
	path := notePath(killed.server.data)
	whole, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	must(t, os.WriteFile(path, []byte(strings.Join(lines[:4], "")), 0o600))
	s := &server{pid: killed.server.pid, data: killed.server.data}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.introduce(over); !errors.Is(err, context.Canceled) || s.address != (address{}) {
		t.Errorf("a server without an address answers at %v, %v", s.address, err)
	}
	var next *Cluster
	begun := make(chan error, 1)
	go func() {
		next, err = Start(t.Context(), Options{Dir: dir, Serve: true})
		begun <- err
	}()
	eventually(t, "the next start has its turn", func() bool {
		f, err := lock(home{dir: filepath.Dir(killed.server.data)}.turnLock(), syscall.LOCK_EX)
		unlock(&f)
		return errors.Is(err, errLocked)
	})
	must(t, os.WriteFile(path, whole, 0o600))
	must(t, <-begun)
	if next.server.pid != killed.server.pid {
		t.Errorf("process %d was not taken over, %d was started", killed.server.pid, next.server.pid)
	}
	must(t, next.Stop())
}

func TestANoteOfADeadServerDoesNotHinderTheNext(t *testing.T) {
	for what, pid := range map[string]int{"a process that has ended": 1 << 22, "another process by now": os.Getpid()} {
		t.Run(what, func(t *testing.T) {
			dir := madeDir(t)
			killed := startPanel(t, Options{Dir: dir, Serve: true})
			run(t, killed.url, makePayments)
			killed.kill()
			signal(t, killed.server, syscall.SIGKILL)
			eventually(t, "the end of the server", killed.server.gone)
			must(t, os.WriteFile(notePath(killed.server.data), fmt.Appendf(nil, "%d\n%s\n", pid, killed.server.data), 0o600))
			next := start(t, Options{Dir: dir, Serve: true})
			expect(t, next.URL(), countPayments, "0")
		})
	}
}

func TestAStartThatWasCutShortIsBegunAnew(t *testing.T) {
	dir := dataDir(t)
	must(t, os.MkdirAll(filepath.Join(dir, "postgres.new", "base"), 0o700))
	c := start(t, Options{Dir: dir, Serve: true})
	run(t, c.URL(), "create table works ()")
	if isThere(c.home.unfinished()) {
		t.Error("the unfinished cluster is still there")
	}
}

func TestAVolatileClusterDiesWithItsProcess(t *testing.T) {
	p := startPanel(t, Options{Volatile: true})
	p.kill()
	eventually(t, "the end of the server", p.server.gone)
	eventually(t, "the end of its folder", func() bool { return !isThere(filepath.Dir(p.server.data)) })
}

func TestAVolatileClusterIsGoneAfterItsEnd(t *testing.T) {
	c := start(t, Options{Volatile: true})
	expect(t, c.URL(), "select current_setting('fsync')", "off")
	must(t, c.Stop())
	if !c.server.gone() || isThere(c.home.dir) {
		t.Error("something is left of it")
	}
}

func TestWhatDeadTestsLeftIsCleanedUpAtTheNextStart(t *testing.T) {
	dead, err := newTempDir()
	must(t, err)
	must(t, os.Chmod(dead.path, 0o711))
	left := start(t, Options{Dir: dead.path, Volatile: true})
	living := start(t, Options{Volatile: true})
	unlock(&dead.alive)
	start(t, Options{Volatile: true})
	eventually(t, "the end of what was left", func() bool { return left.server.gone() && !isThere(dead.path) })
	expect(t, living.URL(), "select '1'", "1")
}
