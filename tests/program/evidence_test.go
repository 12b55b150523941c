//go:build system

package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/tests/processtest"
)

// A pack that the program writes is checked by the small program for strangers. A changed
// byte in it is named.
func TestAPackIsCheckedByTheProgramForStrangers(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	p := programtest.Open(t, strings.TrimPrefix(h.At[0], "DATABASE_URL="), t.TempDir(), true)
	_, err := p.Sealer.Seal(t.Context())
	must(t, err)
	dir := t.TempDir()
	pack, verifier := filepath.Join(dir, "tenant.zip"), filepath.Join(dir, "hostpanel-verify")
	writes := func(want string, code int, flags ...string) {
		t.Helper()
		out, complaint, got := h.Command(append([]string{"evidence"}, flags...)...)
		if got != code || !strings.Contains(out+complaint, want) {
			t.Errorf("evidence %v ends with %d: %s%s", flags, got, out, complaint)
		}
	}
	writes("say of what", console.Usage, "--out", pack)
	writes("Not found.", console.Failed, "--out", pack, "--tenant", "999")
	writes("has evidence of tenant 1:", console.Done, "--out", pack, "--tenant", "1")
	writes("file exists", console.Failed, "--out", pack, "--tenant", "1")
	if out, err := exec.Command("go", "build", "-o", verifier,
		"hostpanel/cmd/hostpanel-verify").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checks := func(want string, code int, args ...string) {
		t.Helper()
		c := exec.Command(verifier, args...)
		out, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != code || !strings.Contains(string(out), want) {
			t.Errorf("hostpanel-verify %v ends with %v: %s", args, err, out)
		}
	}
	checks("events is as it was written, at its place in the log and at its time.", 0, pack)
	checks(`"status":"proven"`, 0, "-json", pack)
	unpacked := filepath.Join(dir, "unpacked")
	writes("has evidence of tenant 1:", console.Done, "--out", unpacked, "--tenant", "1")
	writes("file exists", console.Failed, "--out", unpacked, "--tenant", "1")
	checks("is as it was written", 0, unpacked)
	events, err := filepath.Glob(filepath.Join(unpacked, "events", "*.event"))
	if err != nil || len(events) == 0 {
		t.Fatalf("%v, %v", events, err)
	}
	data, err := os.ReadFile(events[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(events[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	checks("FAULT: event ", 1, unpacked)
	if err := os.WriteFile(filepath.Join(unpacked, "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checks("more does not belong to it", 2, unpacked)
	checks("no such file", 2, pack+"s")
}
