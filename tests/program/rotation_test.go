//go:build system

package program_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/sealing"
	"hostpanel/tests/processtest"
)

// The way that docs/operations.md tells, gone for real: a new key in front of
// the old one, a restart, and everything from before still opens.
func TestTheSecretKeyIsExchangedWithoutLosingAnything(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	body := fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	headers := []string{
		"X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON, "Idempotency-Key",
		"before-the-exchange",
	}
	placed := r.Ask(201, "POST", "/storefront/api/orders/", body, headers...)
	id := placed.Field(t, "order_id")
	r.Ask(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	r.AwaitActive(id, d.APIKey, processtest.Patience)
	link := processtest.LinkIn(t, processtest.OnlyMail(t, h.Dir, placed.Field(t, "order_number")))
	before := r.SignIn(d.Superuser)
	r.Stop()

	old, err := os.ReadFile(filepath.Join(h.Dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	h.Env = []string{"HOSTPANEL_SECRET_KEY=" + sealing.NewSecretKey() + "," + strings.TrimSpace(string(old))}
	r = h.Start()
	if again := r.Ask(201, "POST", "/storefront/api/orders/", body, headers...); again.Field(t, "order_id") != id {
		t.Errorf("the same request made another order: %s", again.Body)
	}
	r.Ask(200, "GET", link, "")
	r.Ask(200, "GET", "/api/me/", "", "Authorization", "Bearer "+before.Field(t, "access"))
	r.Ask(200, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, before.Field(t, "refresh")), "Content-Type",
		processtest.AsJSON)
	after := r.SignIn(d.Superuser)
	if a, b := processtest.KidOf(before), processtest.KidOf(after); a == b || a == "" {
		t.Errorf("new tokens should be signed with the new key, not %s as before (%s)", b, a)
	}
	if out := h.Must("history", "order-"+id); !strings.Contains(out, "Ana Example orders") {
		t.Errorf("the customer's name does not open any more:\n%s", out)
	}
	if out := h.Must("verify"); !strings.HasPrefix(out, "intact: ") {
		t.Errorf("verify says %s", out)
	}
	r.Stop()
}

// With another secret key no command works on the database, and nothing is written.
func TestAnotherSecretKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	before := h.Must("verify")
	wrong := h
	wrong.Env = []string{"HOSTPANEL_SECRET_KEY=" + sealing.NewSecretKey()}
	for _, command := range [][]string{
		{"serve", "--demo", "--listen", "127.0.0.1:0"},
		{"serve", "--listen", "127.0.0.1:0"},
		{"worker"},
		{"migrate"},
		{"user", "list"},
	} {
		out, complaint, code := wrong.Command(command...)
		if code != console.Usage || !strings.Contains(complaint, "wrong secret key: this process has the key") ||
			!strings.Contains(complaint, "docs/security.md") || strings.Contains(out, "ready") {
			t.Errorf("%v ended with %d:\n%s%s", command, code, out, complaint)
		}
	}
	out, _, code := wrong.Command("secrets", "check")
	if code != console.Failed || !strings.Contains(out, "missing") || !strings.Contains(out, "hostpanel secrets forget") {
		t.Errorf("check ended with %d:\n%s", code, out)
	}
	if after := h.Must("verify"); after != before {
		t.Errorf("the log was %s, and is %s", before, after)
	}
	if out := h.Must("secrets", "check"); !strings.Contains(out, "Nothing is to be done") {
		t.Error(out)
	}
}

// The key in the data directory: it is never made anew, and each step of its
// replacement lets the panel start.
func TestTheKeyOfTheOwnPostgresIsReplacedStepByStep(t *testing.T) {
	t.Parallel()
	h := processtest.OwnHome(t)
	h.Start().Stop()
	path := filepath.Join(h.Dir, "secret.key")
	old, err := os.ReadFile(path)
	must(t, err)

	must(t, os.Remove(path))
	_, complaint, code := h.Command("serve", "--demo", "--listen", "127.0.0.1:0")
	if _, err := os.Stat(path); code != console.Usage || !strings.Contains(complaint, "secret.key is missing") ||
		err == nil {
		t.Errorf("without the key serve ended with %d (%v):\n%s", code, err, complaint)
	}
	must(t, os.WriteFile(path, old, 0o600))

	for _, step := range []string{"Step 1 of 3", "Step 2 of 3"} {
		if out := h.Must("secrets", "rotate"); !strings.Contains(out, step) {
			t.Errorf("rotate says %s", out)
		}
		h.Start().Stop()
	}
	if _, complaint, code := h.Command("secrets", "rotate"); code != console.Failed {
		t.Errorf("the old key was removed at once: %s", complaint)
	}
	r := h.Start()
	r.SignIn(h.Demo().Superuser)
	r.Stop()
	fresh, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, old, 0o600))
	if _, complaint, code := h.Command("serve", "--demo", "--listen", "127.0.0.1:0"); code != console.Usage {
		t.Errorf("with the old key serve ended with %d:\n%s", code, complaint)
	}
	must(t, os.WriteFile(path, fresh, 0o600))
}
