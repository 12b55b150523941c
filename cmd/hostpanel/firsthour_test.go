package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
)

// A command in a folder without a panel says so, and leaves the folder as it
// was.
func TestACommandMakesNoPanel(t *testing.T) {
	h := ownHome(t)
	missing := filepath.Join(h.dir, "mistyped")
	for _, dir := range []string{h.dir, missing} {
		for _, args := range [][]string{
			{"orders", "list"},
			{"verify"},
			{"history", "order-1"},
			{"user", "list"},
			{"projections", "list"},
			{"runs", "list"},
			{"sandbox", "list"},
			{"webhooks", "list"},
			{"zone", "1"},
			{"worker"},
		} {
			code, out, complaint := told(t, append(args, "--data-dir", dir)...)
			if code != console.Usage || out != "" || !strings.Contains(complaint, dir) || !strings.Contains(complaint, "--data-dir") {
				t.Errorf("%v in %s ends with %d: %s%s", args, dir, code, out, complaint)
			}
		}
	}
	left, err := os.ReadDir(h.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// The data directory holds nothing that a command needs beside a database and
// a key that are set.
func TestACommandOnADatabaseOfItsOwnNeedsNoDataDirectory(t *testing.T) {
	h := newHome(t)
	h.dir = filepath.Join(t.TempDir(), "nothing")
	h.must("orders", "list")
	if _, err := os.Stat(h.dir); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
}

func TestAnAddressThatIsTakenIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = taken.Close() }()
	h := newHome(t)
	_, complaint, code := h.command("serve", "--demo", "--listen", taken.Addr().String())
	if code != console.Failed || !strings.Contains(complaint, "another program listens on "+taken.Addr().String()) || strings.Contains(complaint, "bind:") {
		t.Errorf("it ends with %d: %s", code, complaint)
	}
}

func TestMistakesOfTheDatabaseEndWithTwo(t *testing.T) {
	t.Setenv("HOSTPANEL_SECRET_KEY", programtest.SecretKey)
	for _, url := range []string{"mysql://me:canary@127.0.0.1/x", "postgres://me:canary@127.0.0.1:123456/x", "://canary"} {
		t.Setenv("DATABASE_URL", url)
		for _, command := range []string{"serve", "worker", "migrate", "verify"} {
			code, _, complaint := told(t, command, "--data-dir", t.TempDir())
			if code != console.Usage || !strings.Contains(complaint, "DATABASE_URL") || strings.Contains(complaint, "canary") {
				t.Errorf("%s with %s ends with %d: %s", command, url, code, complaint)
			}
		}
	}
}

func TestAStartWarnsOfAMailServerThatIsAway(t *testing.T) {
	away, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, away.Close())
	h := newHome(t)
	h.env = []string{"SMTP_URL=smtp://me:canary@" + away.Addr().String()}
	r := h.start()
	eventually(t, "the log warns", patience, func() bool { return strings.Contains(r.stderr(), "mails are not taken now") })
	r.ask(200, "GET", "/readyz", "")
	r.stop()
	if said := r.stderr(); !strings.Contains(said, away.Addr().String()) || strings.Contains(said, "canary") {
		t.Errorf("it says: %s", said)
	}
}

// A fresh demo is well, also while it is served and beside its own Postgres.
func TestTheDoctorFindsAFreshDemoWell(t *testing.T) {
	h := ownHome(t)
	r := h.start()
	for range 2 {
		if out := h.must("doctor"); strings.Count(out, "ok ") < 12 || strings.Contains(out, "\nwarning") {
			t.Errorf("it says:\n%s", out)
		}
		r.stop()
	}
}

// worked is what the figures say once a step of a run is done.
var worked = regexp.MustCompile(`(?m)^hostpanel_saga_steps_total [1-9]`)

// The embedded server is restarted when it is killed, and orders go on. One that
// ends again and again ends the program, so that its supervisor restarts all.
func TestAKilledPostgresIsRestartedUntilItIsHopeless(t *testing.T) {
	h := ownHome(t)
	r := h.start()
	key := h.demo().APIKey
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program says:\n%s", r.stderr())
		}
	})
	eventually(t, "runs are worked on", patience, func() bool {
		a, err := call(t.Context(), "GET", r.base+"/metrics", "")
		return err == nil && worked.MatchString(a.body)
	})
	for range 3 {
		before := killPostmaster(t, h.dir)
		eventually(t, "the server runs again", patience, func() bool { now := postmaster(h.dir); return now != 0 && now != before })
		for _, path := range []string{"/healthz", "/readyz"} {
			eventually(t, path+" is 200", patience, func() bool {
				a, err := call(t.Context(), "GET", r.base+path, "")
				return err == nil && a.status == 200
			})
		}
		r.ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", key)
	}
	killPostmaster(t, h.dir)
	select {
	case <-r.ended:
	case <-time.After(patience):
		t.Fatal("the program goes on without its database")
	}
	if code := r.cmd.ProcessState.ExitCode(); code != console.Failed || !strings.Contains(r.stderr(), "has ended 4 times") {
		t.Errorf("it ends with %d", code)
	}
	again := h.start()
	again.ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", key)
	again.stop()
}

// killPostmaster ends the server of a data directory as a fault would.
func killPostmaster(t *testing.T, dir string) int {
	t.Helper()
	pid := postmaster(dir)
	if pid <= 1 {
		t.Fatalf("no server runs in %s", dir)
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	return pid
}

// postmaster is the process of the server in a data directory; 0: none.
func postmaster(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return 0
	}
	return pid
}
