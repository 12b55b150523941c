//go:build system && unix

package postgres

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func TestASecondServeIsRefusedAndNamesTheFirst(t *testing.T) {
	dir := madeDir(t)
	first := startPanel(t, Options{Dir: dir, Serve: true})
	refused(t, Options{Dir: dir, Serve: true}, ErrServed, dir, strconv.Itoa(first.cmd.Process.Pid))
	expect(t, first.url, "select '1'", "1")
	first.stop(t)
	start(t, Options{Dir: dir, Serve: true})
}

func TestACommandJoinsTheClusterThatIsServed(t *testing.T) {
	dir := madeDir(t)
	serve := start(t, Options{Dir: dir, Serve: true})
	command := start(t, Options{Dir: dir})
	if command.URL() != serve.URL() || command.server.pid != serve.server.pid {
		t.Errorf("the command uses %s, not %s", command.URL(), serve.URL())
	}
	must(t, command.Stop())
	expect(t, serve.URL(), "select '1'", "1")
	late := start(t, Options{Dir: dir})
	must(t, serve.Stop())
	if !serve.server.gone() {
		t.Error("the server outlives serve")
	}
	must(t, late.Stop())
}

func TestServeJoinsTheClusterOfACommandAndKeepsItWhenThatEnds(t *testing.T) {
	dir := madeDir(t)
	command := startPanel(t, Options{Dir: dir})
	serve := start(t, Options{Dir: dir, Serve: true})
	command.stop(t)
	expect(t, serve.URL(), "select '1'", "1")
	must(t, serve.Stop())
	if !serve.server.gone() {
		t.Error("the server outlives serve")
	}
}

func TestOfSeveralCommandsTheLastEndsTheCluster(t *testing.T) {
	dir := dataDir(t)
	commands := make([]*Cluster, 3)
	var all sync.WaitGroup
	for n := range commands { // at the same time: one starts it, the others join
		all.Go(func() { commands[n], _ = Start(t.Context(), Options{Dir: dir}) })
	}
	all.Wait()
	for n, c := range commands {
		if c == nil {
			t.Fatalf("command %d did not start", n)
		}
		expect(t, c.URL(), "select '1'", "1")
		must(t, c.Stop())
	}
	last := commands[len(commands)-1]
	if !last.server.gone() {
		t.Error("the server outlives the last command")
	}
}

func TestACrashKeepsWhatWasCommitted(t *testing.T) {
	c := start(t, Options{Dir: madeDir(t)})
	run(t, c.URL(), makePayments)
	run(t, c.URL(), twoPayments)
	before := c.server.pid
	must(t, c.Crash(t.Context()))
	if c.server.pid == before {
		t.Error("the server did not end")
	}
	expect(t, c.URL(), countPayments, "2")
}

func TestAClusterOfAnotherVersionIsNotTouched(t *testing.T) {
	dir := madeDir(t)
	c := start(t, Options{Dir: dir})
	must(t, c.Stop())
	version := filepath.Join(c.home.data(), "PG_VERSION")
	must(t, os.WriteFile(version, []byte("99\n"), 0o600))
	refused(t, Options{Dir: dir}, ErrMissing, "made by version 99", "postgresql-99")
	if !isThere(filepath.Join(c.home.data(), "global", "pg_control")) {
		t.Error("the cluster is gone")
	}
}
