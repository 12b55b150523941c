//go:build system && unix

package postgres

import (
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watching runs Watch, and returns its end.
func watching(t *testing.T, c *Cluster) <-chan error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	ended := make(chan error, 1)
	restarted := func() {
		if c.mu.TryLock() {
			t.Error("the server counts as running before its connections are made anew")
			c.mu.Unlock()
		}
	}
	go func() { ended <- c.Watch(ctx, slog.New(slog.DiscardHandler), restarted) }()
	return ended
}

// kill ends the server as a fault would, and waits for another one.
func (c *Cluster) killServer(t *testing.T) {
	t.Helper()
	before := c.pid()
	must(t, syscall.Kill(before, syscall.SIGKILL))
	awaitRun(t, c, before)
}

// pid is the process of the server, also while that is watched.
func (c *Cluster) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.pid
}

func awaitRun(t *testing.T, c *Cluster, notThis int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if c.pid() != notThis && c.Running() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not run again")
		}
	}
}

func TestAServerThatIsKilledIsRestartedAtItsAddress(t *testing.T) {
	c := start(t, Options{Dir: madeDir(t), Serve: true})
	ended := watching(t, c)
	url := c.URL()
	run(t, url, makePayments)
	run(t, url, twoPayments)
	for range restartsMost {
		c.killServer(t)
		expect(t, url, countPayments, "2")
	}
	must(t, syscall.Kill(c.pid(), syscall.SIGKILL))
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "has ended 4 times") {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it is restarted for ever")
	}
	if c.Running() {
		t.Error("it says that the server runs")
	}
}

func TestOfTwoProcessesOneRestartsTheServer(t *testing.T) {
	dir := madeDir(t)
	serve := start(t, Options{Dir: dir, Serve: true})
	worker := start(t, Options{Dir: dir, Existing: true})
	watching(t, serve)
	watching(t, worker)
	before := serve.pid()
	must(t, syscall.Kill(before, syscall.SIGKILL))
	awaitRun(t, serve, before)
	awaitRun(t, worker, before)
	if one, other := serve.pid(), worker.pid(); one != other || serve.URL() != worker.URL() {
		t.Errorf("one uses process %d, the other %d", one, other)
	}
}

func TestAServerThatIsToldToStopIsNotRestarted(t *testing.T) {
	c := start(t, Options{Dir: madeDir(t), Serve: true})
	ended := watching(t, c)
	must(t, c.Stop())
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if c.Running() {
		t.Error("it runs")
	}
}
