//go:build system

package program_test

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

	"hostpanel/adapters/loopbacktest"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// The data directory holds nothing that a command needs beside a database and
// a key that are set.
func TestACommandOnADatabaseOfItsOwnNeedsNoDataDirectory(t *testing.T) {
	h := processtest.NewHome(t)
	h.Dir = filepath.Join(t.TempDir(), "nothing")
	h.Must("orders", "list")
	if _, err := os.Stat(h.Dir); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
}

func TestAnAddressThatIsTakenIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = taken.Close() }()
	h := processtest.NewHome(t)
	_, complaint, code := h.Command("serve", "--demo", "--listen", taken.Addr().String())
	if code != console.Failed || !strings.Contains(complaint, "another program listens on "+taken.Addr().String()) ||
		strings.Contains(complaint, "bind:") {
		t.Errorf("it ends with %d: %s", code, complaint)
	}
}

func TestAStartWarnsOfAMailServerThatIsAway(t *testing.T) {
	away := loopbacktest.Refused(t)
	h := processtest.NewHome(t)
	h.Env = []string{"SMTP_URL=smtp://me:canary@" + away}
	r := h.Start()
	processtest.Eventually(t, "the log warns", func() bool {
		return strings.Contains(r.Stderr(),
			"mails are not taken now")
	})
	r.Ask(200, "GET", "/readyz", "")
	r.Stop()
	if said := r.Stderr(); !strings.Contains(said, away) || strings.Contains(said, "canary") {
		t.Errorf("it says: %s", said)
	}
}

// A fresh demo is well, also while it is served and beside its own Postgres.
func TestTheDoctorFindsAFreshDemoWell(t *testing.T) {
	h := processtest.OwnHome(t)
	r := h.Start()
	for range 2 {
		if out := h.Must("doctor"); strings.Count(out, "ok ") < 12 || strings.Contains(out, "\nwarning") {
			t.Errorf("it says:\n%s", out)
		}
		r.Stop()
	}
}

// worked is what the figures say once a step of a run is done.
var worked = regexp.MustCompile(`(?m)^hostpanel_saga_steps_total [1-9]`)

// The embedded server is restarted when it is killed, and orders go on. One that
// ends again and again ends the program, so that its supervisor restarts all.
func TestAKilledPostgresIsRestartedUntilItIsHopeless(t *testing.T) {
	h := processtest.OwnHome(t)
	r := h.Start()
	key := h.Demo().APIKey
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program says:\n%s", r.Stderr())
		}
	})
	processtest.Eventually(t, "runs are worked on", func() bool {
		a, err := processtest.Call(t.Context(), "GET", r.Base+"/metrics", "")
		return err == nil && worked.MatchString(a.Body)
	})
	for range 3 {
		before := killPostmaster(t, h.Dir)
		processtest.Eventually(t, "the server runs again", func() bool {
			now := postmaster(h.Dir)
			return now != 0 &&
				now != before
		})
		for _, path := range []string{"/healthz", "/readyz"} {
			processtest.Eventually(t, path+" is 200", func() bool {
				a, err := processtest.Call(t.Context(), "GET", r.Base+path, "")
				return err == nil && a.Status == 200
			})
		}
		r.Ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", key)
	}
	killPostmaster(t, h.Dir)
	select {
	case <-r.Ended:
	case <-time.After(processtest.Patience):
		t.Fatal("the program goes on without its database")
	}
	if code := r.Cmd.ProcessState.ExitCode(); code != console.Failed ||
		!strings.Contains(r.Stderr(), "has ended 4 times") {
		t.Errorf("it ends with %d", code)
	}
	again := h.Start()
	again.Ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", key)
	again.Stop()
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
