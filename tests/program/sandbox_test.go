//go:build system

package program_test

import (
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// Who tries the panel lets the sandbox fail, sees how the panel takes it, and
// lets all be well again, without a line of SQL.
func TestFaultsOfASandboxAreOrderedAtTheConsole(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	as := []string{
		"Authorization", "Bearer " + r.SignIn(h.Demo().TenantAdmin).Field(t, "access"), "Content-Type",
		processtest.AsJSON,
	}
	h.Must("sandbox", "set", "refuse", "--call", "create", "--kind", "site", "--name", "bad.example", "--times", "2")
	h.Must("sandbox", "set", "timeout_after", "--call", "create", "--kind", "mailbox", "--delay", "1500ms")
	if listed := h.Must("sandbox", "list"); !strings.Contains(listed, "bad.example") || !strings.Contains(listed, "1.5s") {
		t.Errorf("the orders are listed as\n%s", listed)
	}
	if made := r.Ask(201, "POST", hostingAPI+"sites/", `{"domain":"bad.example"}`, as...); made.Field(t,
		"sync_status") != "error" {
		t.Errorf("the fault did not strike: %s", made.Body)
	}
	if listed := h.Must("sandbox", "list", "--json"); !strings.Contains(strings.Join(strings.Fields(listed), ""),
		`"times_left":1`) {
		t.Errorf("after one strike of two: %s", listed)
	}
	h.Must("sandbox", "clear", "--target", "compute")
	if listed := h.Must("sandbox", "list"); !strings.Contains(listed, "bad.example") {
		t.Error("orders of another sandbox were taken back")
	}
	h.Must("sandbox", "clear")
	if listed := h.Must("sandbox", "list"); strings.Contains(listed, "bad.example") {
		t.Errorf("orders that were taken back are listed:\n%s", listed)
	}
	if _, complaint, code := h.Command("sandbox", "set", "forget", "--call", "find"); code != console.Failed ||
		!strings.Contains(complaint, `no fault "forget"`) {
		t.Errorf("a fault that no look-up can have: %d %s", code, complaint)
	}
	r.Stop()
}
