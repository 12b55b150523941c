//go:build system

package program_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// Read tables are built anew under a panel that serves: what it shows is the
// same afterwards, and no mail is sent a second time.
func TestReadTablesAreBuiltAnewWhileThePanelServes(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	sell(r, d, "en", "ana@customer.example", "sold.test")
	processtest.Eventually(t, "the welcome mail is sent", func() bool { return len(outbox(t, h)) == 1 })
	admin := append(asUser(r, d.TenantAdmin), "Content-Type", processtest.AsJSON)
	made := r.Ask(201, "POST", hostingAPI+"sites/", `{"domain":"rebuilt.test"}`, admin...)
	awaitSynced(h, r, int64(made.Number(t, "id")), admin)
	before := r.Ask(200, "GET", hostingAPI+"sites/", "", admin...).Body

	var listed []struct {
		Name, Status string
		Head         int64
		LagEvents    int64 `json:"lag_events"`
	}
	if err := json.Unmarshal([]byte(h.Must("projections", "list", "--json")), &listed); err != nil || len(listed) < 8 {
		t.Fatalf("%v: %+v", err, listed)
	}
	for _, p := range listed {
		if p.Status != "live" || p.LagEvents != 0 || p.Head == 0 {
			t.Errorf("%+v", p)
		}
		if said := h.Must("projections", "rebuild", p.Name); said != p.Name+" is built anew\n" {
			t.Error(said)
		}
	}
	if after := r.Ask(200, "GET", hostingAPI+"sites/", "", admin...).Body; after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	sell(r, d, "en", "bo@customer.example", "later.test") // when its mail has come, one that is repeated has, too
	processtest.Eventually(t, "the next welcome mail is sent", func() bool { return len(outbox(t, h)) > 1 })
	if mails := outbox(t, h); len(mails) != 2 {
		t.Errorf("two orders brought %d mails: %v", len(mails), mails)
	}
	if said := h.Must("projections", "check", "orders", "resources"); !strings.HasPrefix(said,
		"orders, resources: every row is what the log says, up to event ") {
		t.Error(said)
	}
	var all struct {
		Names     []string
		Position  int64
		Different int64
	}
	if err := json.Unmarshal([]byte(h.Must("projections", "rebuild", "--check", "--rate", "100000", "--json")),
		&all); err != nil || len(all.Names) != len(listed) || all.Position == 0 || all.Different != 0 {
		t.Errorf("%v: %+v", err, all)
	}
	if _, complaint, code := h.Command("projections", "rebuild", "nonsense"); code != console.Failed ||
		!strings.Contains(complaint, `There is no read table "nonsense".`) {
		t.Errorf("%d: %s", code, complaint)
	}
	if out := h.Must("projections", "list"); !strings.Contains(out, "resources") || !strings.Contains(out, "live") {
		t.Error(out)
	}
	r.Stop()
}

func outbox(t *testing.T, h processtest.Home) []string {
	t.Helper()
	mails, err := filepath.Glob(filepath.Join(h.Dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	return mails
}
