//go:build system

package program_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/tests/processtest"
)

// What the engine refuses for good is parked, and told to the tenant, until an
// operator retries it.
func TestAParkedRunIsFoundAndGoesOn(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	token := r.Ask(200, "POST", "/api/token/", processtest.PasswordLogin(d.TenantAdmin.Username, d.TenantAdmin.Password),
		"Content-Type", processtest.AsJSON).Field(t, "access")
	as := []string{"Authorization", "Bearer " + token, "Content-Type", processtest.AsJSON}
	orderFault(h, faults.Fault{Call: faults.Create, Kind: "site", What: faults.Refuse})

	if made := r.Ask(201, "POST", hostingAPI+"sites/", `{"domain":"parked.example"}`, as...); made.Field(t,
		"sync_status") != "error" || made.Field(t, "sync_error") == "" {
		t.Errorf("the tenant is not told: %s", made.Body)
	}
	processtest.Eventually(t, "the run is parked", func() bool {
		return strings.Contains(h.Must("runs", "list", "--status",
			"parked"), "engine:site-1/1")
	})
	if shown := h.Must("runs", "show", "engine:site-1/1"); !strings.Contains(shown, "push") ||
		!strings.Contains(shown, "parked") {
		t.Errorf("the run is shown as\n%s", shown)
	}
	h.Must("runs", "retry", "engine:site-1/1", "--reason", "the disk is empty again")
	awaitSynced(h, r, 1, as)
	if _, complaint, code := h.Command("runs", "retry", "engine:site-1/1", "--reason",
		"once more"); code != console.Failed || !strings.Contains(complaint, "not parked") {
		t.Errorf("a run that is done was let go on: %d %s", code, complaint)
	}
	if out := h.Must("runs", "rebuild", "--reason", "to be sure"); !strings.Contains(out, "0 runs rebuilt") {
		t.Errorf("rows that are right were written: %s", out)
	}
	if _, complaint, code := h.Command("incidents", "requeue", uuid.NewString(), "--reason",
		"try"); code != console.Failed || !strings.Contains(complaint, "No Incident") {
		t.Errorf("an incident that is not there: %d %s", code, complaint)
	}
	h.Must("incidents", "list", "--all")
	if _, complaint, code := h.Command("runs", "show", "engine:site-9/1"); code != console.Failed ||
		!strings.Contains(complaint, "no run") {
		t.Errorf("a run that is not there: %d %s", code, complaint)
	}
	r.Stop()
}

// awaitSynced waits until the engine has a new site, and has been seen to have it: what the
// engine shows of it changes no more.
func awaitSynced(h processtest.Home, r *processtest.Process, site int64, headers []string) {
	h.T.Helper()
	processtest.Eventually(h.T, "the engine has the site", func() bool {
		return r.Ask(200, "GET", fmt.Sprintf("%ssites/%d/", hostingAPI, site), "", headers...).Field(h.T,
			"sync_status") == "synced"
	})
	about := fmt.Sprint("site-", site)
	processtest.Eventually(h.T, "the run is done", func() bool {
		return strings.Contains(h.Must("runs", "list", "--about",
			about), "done")
	})
}

// orderFault makes a call of the sandbox engine go wrong.
func orderFault(h processtest.Home, f faults.Fault) {
	h.T.Helper()
	cfg, err := config.New(config.Settings{
		DataDir: h.Dir, DatabaseURL: strings.TrimPrefix(h.At[0], "DATABASE_URL="),
		SecretKey: programtest.SecretKey, Payments: kong.Plugins{&test.Settings{Payments: "on"}},
	}, false)
	must(h.T, err)
	p, err := program.Open(h.T.Context(), cfg, redact.NewLog(os.Stderr, slog.LevelError), program.Reading)
	must(h.T, err)
	defer p.Close()
	_, err = faults.For(p.Pool, "engine").Order(h.T.Context(), f)
	must(h.T, err)
}
