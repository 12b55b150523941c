package main

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
)

// What the engine refuses for good is parked, and told to the tenant, until an
// operator retries it.
func TestAParkedRunIsFoundAndGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	token := r.ask(200, "POST", "/api/token/", passwordLogin(d.TenantAdmin.Username, d.TenantAdmin.Password), "Content-Type", asJSON).field(t, "access")
	as := []string{"Authorization", "Bearer " + token, "Content-Type", asJSON}
	h.orderFault(faults.Fault{Call: faults.Create, Kind: "site", What: faults.Refuse})

	if made := r.ask(201, "POST", hostingAPI+"sites/", `{"domain":"parked.example"}`, as...); made.field(t, "sync_status") != "error" || made.field(t, "sync_error") == "" {
		t.Errorf("the tenant is not told: %s", made.body)
	}
	eventually(t, "the run is parked", patience, func() bool { return strings.Contains(h.must("runs", "list", "--status", "parked"), "engine:site-1/1") })
	if shown := h.must("runs", "show", "engine:site-1/1"); !strings.Contains(shown, "push") || !strings.Contains(shown, "parked") {
		t.Errorf("the run is shown as\n%s", shown)
	}
	h.must("runs", "retry", "engine:site-1/1", "--reason", "the disk is empty again")
	h.awaitSynced(r, 1, as)
	if _, complaint, code := h.command("runs", "retry", "engine:site-1/1", "--reason", "once more"); code != console.Failed || !strings.Contains(complaint, "not parked") {
		t.Errorf("a run that is done was let go on: %d %s", code, complaint)
	}
	if out := h.must("runs", "rebuild", "--reason", "to be sure"); !strings.Contains(out, "0 runs rebuilt") {
		t.Errorf("rows that are right were written: %s", out)
	}
	if _, complaint, code := h.command("incidents", "requeue", uuid.NewString(), "--reason", "try"); code != console.Failed || !strings.Contains(complaint, "No Incident") {
		t.Errorf("an incident that is not there: %d %s", code, complaint)
	}
	h.must("incidents", "list", "--all")
	if _, complaint, code := h.command("runs", "show", "engine:site-9/1"); code != console.Failed || !strings.Contains(complaint, "no run") {
		t.Errorf("a run that is not there: %d %s", code, complaint)
	}
	r.stop()
}

// awaitSynced waits until the engine has a new site, and has been seen to have it: what the
// engine shows of it changes no more.
func (h home) awaitSynced(r *running, site int64, headers []string) {
	h.t.Helper()
	eventually(h.t, "the engine has the site", patience, func() bool {
		return r.ask(200, "GET", fmt.Sprintf("%ssites/%d/", hostingAPI, site), "", headers...).field(h.t, "sync_status") == "synced"
	})
	about := fmt.Sprint("site-", site)
	eventually(h.t, "the run is done", patience, func() bool { return strings.Contains(h.must("runs", "list", "--about", about), "done") })
}

// orderFault makes a call of the sandbox engine go wrong.
func (h home) orderFault(f faults.Fault) {
	h.t.Helper()
	cfg, err := config.New(config.Settings{DataDir: h.dir, DatabaseURL: strings.TrimPrefix(h.at[0], "DATABASE_URL="), SecretKey: programtest.SecretKey, Payments: kong.Plugins{&test.Settings{Payments: "on"}}}, false)
	must(h.t, err)
	p, err := program.Open(h.t.Context(), cfg, redact.NewLog(os.Stderr, slog.LevelError), program.Reading)
	must(h.t, err)
	defer p.Close()
	_, err = faults.For(p.Pool, "engine").Order(h.t.Context(), f)
	must(h.t, err)
}
