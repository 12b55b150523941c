package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/sealing"
)

// The way that docs/operations.md tells, gone for real: a new key in front of
// the old one, a restart, and everything from before still opens.
func TestTheSecretKeyIsExchangedWithoutLosingAnything(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	body := fmt.Sprintf(ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	headers := []string{"X-API-Key", d.APIKey, "Content-Type", asJSON, "Idempotency-Key", "before-the-exchange"}
	placed := r.ask(201, "POST", "/storefront/api/orders/", body, headers...)
	id := placed.field(t, "order_id")
	r.ask(303, "POST", pathOf(t, placed.field(t, "payment_url")), "action=pay", "Content-Type", asForm)
	r.awaitActive(id, d.APIKey, patience)
	link := linkIn(t, onlyMail(t, h.dir, placed.field(t, "order_number")))
	before := r.signIn(d.Superuser)
	r.stop()

	old, err := os.ReadFile(filepath.Join(h.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	h.env = []string{"HOSTPANEL_SECRET_KEY=" + sealing.NewSecretKey() + "," + strings.TrimSpace(string(old))}
	r = h.start()
	if again := r.ask(201, "POST", "/storefront/api/orders/", body, headers...); again.field(t, "order_id") != id {
		t.Errorf("the same request made another order: %s", again.body)
	}
	r.ask(200, "GET", link, "")
	r.ask(200, "GET", "/api/me/", "", "Authorization", "Bearer "+before.field(t, "access"))
	r.ask(200, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, before.field(t, "refresh")), "Content-Type", asJSON)
	after := r.signIn(d.Superuser)
	if a, b := kidOf(before), kidOf(after); a == b || a == "" {
		t.Errorf("new tokens should be signed with the new key, not %s as before (%s)", b, a)
	}
	if out := h.must("history", "order-"+id); !strings.Contains(out, "Ana Example orders") {
		t.Errorf("the customer's name does not open any more:\n%s", out)
	}
	if out := h.must("verify"); !strings.HasPrefix(out, "intact: ") {
		t.Errorf("verify says %s", out)
	}
	r.stop()
}

// With another secret key no command works on the database, and nothing is written.
func TestAnotherSecretKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	before := h.must("verify")
	wrong := h
	wrong.env = []string{"HOSTPANEL_SECRET_KEY=" + sealing.NewSecretKey()}
	for _, command := range [][]string{{"serve", "--demo", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0"}, {"worker"}, {"migrate"}, {"user", "list"}} {
		out, complaint, code := wrong.command(command...)
		if code != console.Usage || !strings.Contains(complaint, "wrong secret key: this process has the key") || !strings.Contains(complaint, "docs/security.md") || strings.Contains(out, "ready") {
			t.Errorf("%v ended with %d:\n%s%s", command, code, out, complaint)
		}
	}
	out, _, code := wrong.command("secrets", "check")
	if code != console.Failed || !strings.Contains(out, "missing") || !strings.Contains(out, "hostpanel secrets forget") {
		t.Errorf("check ended with %d:\n%s", code, out)
	}
	if after := h.must("verify"); after != before {
		t.Errorf("the log was %s, and is %s", before, after)
	}
	if out := h.must("secrets", "check"); !strings.Contains(out, "Nothing is to be done") {
		t.Error(out)
	}
}

// The key in the data directory: it is never made anew, and each step of its
// replacement lets the panel start.
func TestTheKeyOfTheOwnPostgresIsReplacedStepByStep(t *testing.T) {
	t.Parallel()
	h := ownHome(t)
	h.start().stop()
	path := filepath.Join(h.dir, "secret.key")
	old, err := os.ReadFile(path)
	must(t, err)

	must(t, os.Remove(path))
	_, complaint, code := h.command("serve", "--demo", "--listen", "127.0.0.1:0")
	if _, err := os.Stat(path); code != console.Usage || !strings.Contains(complaint, "secret.key is missing") || err == nil {
		t.Errorf("without the key serve ended with %d (%v):\n%s", code, err, complaint)
	}
	must(t, os.WriteFile(path, old, 0o600))

	for _, step := range []string{"Step 1 of 3", "Step 2 of 3"} {
		if out := h.must("secrets", "rotate"); !strings.Contains(out, step) {
			t.Errorf("rotate says %s", out)
		}
		h.start().stop()
	}
	if _, complaint, code := h.command("secrets", "rotate"); code != console.Failed {
		t.Errorf("the old key was removed at once: %s", complaint)
	}
	r := h.start()
	r.signIn(h.demo().Superuser)
	r.stop()
	fresh, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, old, 0o600))
	if _, complaint, code := h.command("serve", "--demo", "--listen", "127.0.0.1:0"); code != console.Usage {
		t.Errorf("with the old key serve ended with %d:\n%s", code, complaint)
	}
	must(t, os.WriteFile(path, fresh, 0o600))
}

// signIn returns the pair of tokens of a sign-in.
func (r *running) signIn(who serve.Login) answer {
	r.t.Helper()
	return r.ask(200, "POST", "/api/token/", passwordLogin(who.Username, who.Password), "Content-Type", asJSON)
}

// kidOf names the key that signed an access token: its head tells.
func kidOf(a answer) string {
	head, _, _ := strings.Cut(a.body[strings.Index(a.body, "eyJ"):], ".")
	return head
}
