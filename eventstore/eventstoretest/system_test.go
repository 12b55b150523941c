//go:build system && unix

package eventstoretest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestAServerEndsAfterItsLastUserWasKilled(t *testing.T) {
	t.Parallel()
	r := ownRendezvous(t)
	first := join(t, r)
	second := join(t, r)
	if first.address != second.address {
		t.Errorf("two users have two servers, at %s and %s", first.address, second.address)
	}
	pid, data := serverOf(t, first.address)
	first.kill()
	time.Sleep(2 * r.linger) // longer than a server without users stays
	if n := count(t, second.address, "select 1"); n != 1 || gone(pid, data) {
		t.Error("the server has ended before its last user")
	}
	second.kill()
	eventually(t, "the server ends and leaves nothing", func() bool { return gone(pid, data) })
}

func TestUsersThatStartAtOnceHaveOneServer(t *testing.T) {
	t.Parallel()
	r := ownRendezvous(t)
	addresses := make([]string, 6)
	var all sync.WaitGroup
	for i := range addresses {
		all.Go(func() { addresses[i] = join(t, r).address })
	}
	all.Wait()
	for _, address := range addresses {
		if address != addresses[0] || !strings.HasPrefix(address, "postgres://") {
			t.Fatalf("not all have the same server: %q", addresses)
		}
	}
}

func TestAUserThatComesWhileAServerEndsFindsOne(t *testing.T) {
	t.Parallel()
	r := ownRendezvous(t)
	r.linger = time.Millisecond // a server ends at once
	for range 5 {
		u := join(t, r)
		if n := count(t, u.address, "select 1"); n != 1 {
			t.Error("the server does not answer")
		}
		u.kill()
	}
}

func TestAServerThatWasKilledIsReplaced(t *testing.T) {
	t.Parallel()
	r := ownRendezvous(t)
	before := join(t, r)
	pid, data := serverOf(t, before.address)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	after := join(t, r)
	if now, _ := serverOf(t, after.address); now == pid {
		t.Error("a dead server is in use")
	}
	eventually(t, "what the dead server has left goes", func() bool { return gone(pid, data) })
}

func TestAKilledSupervisorLeavesNoServer(t *testing.T) {
	t.Parallel()
	r := ownRendezvous(t)
	before := join(t, r)
	pid, data := serverOf(t, before.address)
	text, err := os.ReadFile(filepath.Join(r.folder, "lock"))
	must(t, err)
	supervisor, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	must(t, syscall.Kill(supervisor, syscall.SIGKILL))
	after := join(t, r)
	if now, _ := serverOf(t, after.address); now == pid {
		t.Error("a server without a supervisor is in use")
	}
	eventually(t, "the server ends and leaves nothing", func() bool { return gone(pid, data) })
}

func TestACrashOfAPrivateClusterLosesNothingThatWasCommitted(t *testing.T) {
	c := Private(t, map[string]string{"max_connections": "20"})
	must(t, run(t.Context(), c.URL(), "create table payments (n int); insert into payments select generate_series(1, 1000)"))
	before := c.URL()
	Restart(t, c)
	if c.URL() != before {
		t.Error("the cluster came back at another address")
	}
	if got := count(t, before, "select count(*) from payments"); got != 1000 {
		t.Errorf("%d of 1000 payments survived", got)
	}
	if got := count(t, before, "select current_setting('max_connections')::bigint"); got != 20 {
		t.Errorf("max_connections is %d", got)
	}
}

func TestWhatDeadRunsLeftIsDroppedAndWhatLivesIsKept(t *testing.T) {
	given := Private(t, nil).URL()
	dead, living := connected(t, given), connected(t, given)
	prepare := func(ctx context.Context, url string) error { return run(ctx, url, "create table plans (name text)") }
	left, err := dead.template("plans", prepare)
	must(t, err)
	kept, err := living.template("plans", prepare)
	must(t, err)
	dies(t, dead, given)

	connected(t, given)
	const names = "select count(*) from pg_database where datname = '%s'"
	if count(t, given, fmt.Sprintf(names, left.name)) != 0 {
		t.Error("what a dead run left is still there")
	}
	if count(t, given, fmt.Sprintf(names, kept.name)) != 1 {
		t.Error("the template of a living run was dropped")
	}
}

func TestRunsShareATemplateAndTakeOverDatabasesOfDeadOnes(t *testing.T) {
	given := Private(t, nil).URL()
	var prepared atomic.Int32
	prepare := func(ctx context.Context, url string) error {
		prepared.Add(1)
		return run(ctx, url, "create table plans (name text); insert into plans values ('basic')")
	}
	first, second := connected(t, given), connected(t, given)
	inFirst, err := first.prepared(digest("plans", nil), prepare)
	must(t, err)
	inSecond, err := second.prepared(digest("plans", nil), prepare)
	must(t, err)
	if prepared.Load() != 1 || inFirst.name != inSecond.name {
		t.Errorf("the template was prepared %d times", prepared.Load())
	}
	other, err := second.prepared(digest("plans", []string{"another schema"}), prepare)
	must(t, err)
	if prepared.Load() != 2 || other.name == inFirst.name {
		t.Error("two schemas have one template")
	}

	used, err := first.take(inFirst, false)
	must(t, err)
	must(t, run(t.Context(), first.url(used.name), "delete from plans; insert into plans values ('huge'), ('tiny')"))
	if d, err := second.adopt(inSecond); err != nil || d != nil {
		t.Error("a database of a living run was taken over", err)
	}
	dies(t, first, given)
	var d *database
	eventually(t, "a database of the dead run is taken over", func() bool { // once no client is left in it
		d, err = second.adopt(inSecond)
		return err != nil || d != nil
	})
	must(t, err)
	if count(t, second.url(d.name), "select count(*) from plans where name = 'basic'") != 1 || count(
		t, second.url(d.name), "select count(*) from plans",
	) != 1 {
		t.Error("the database has rows of the run before")
	}
}
