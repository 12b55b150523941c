package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
)

func TestAccountsAreKeptFromTheCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	create := func(input string, more ...string) (string, string, int) {
		return h.answering(input, append([]string{"user", "create", "--password-stdin"}, more...)...)
	}
	if out, complaint, code := create("correct horse\nand more\n", "Eva@Example.com", "--name", "Eva", "--tenant", "1", "--role", "admin"); code != console.Done || !strings.Contains(out, "has an account") {
		t.Fatalf("%d: %s%s", code, out, complaint)
	}
	for want, wrong := range map[string][]string{
		"email: user with this email already exists.":                {"eva@example.com"},
		"email: Enter a valid email address.":                        {"eva"},
		`tenant: Invalid pk "99" - object does not exist.`:           {"new@example.com", "--tenant", "99"},
		`role: "owner" is not a valid choice.`:                       {"new@example.com", "--tenant", "1", "--role", "owner"},
		"language: Ensure this field has no more than 5 characters.": {"new@example.com", "--language", "espanol"},
		"password: The password is too similar to the username.":     {"correct@example.com"},
	} {
		if out, complaint, code := create("correct horse\n", wrong...); code != console.Failed || out != "" || !strings.Contains(complaint, want) {
			t.Errorf("%v ended with %d: %s%s", wrong, code, out, complaint)
		}
	}
	for _, wrong := range [][]string{{"--role", "admin"}, {"--send-link"}} {
		if _, complaint, code := create("", append(wrong, "new@example.com")...); code != console.Usage {
			t.Errorf("%v ended with %d: %s", wrong, code, complaint)
		}
	}
	r.ask(200, "POST", "/api/token/", passwordLogin("eva@example.com", "correct horse"), "Content-Type", asJSON)
	before := r.signIn(d.TenantAdmin)
	if _, complaint, code := h.answering("another horse\n", "user", "passwd", d.TenantAdmin.Username, "--password-stdin"); code != console.Done {
		t.Fatalf("%d: %s", code, complaint)
	}
	r.ask(401, "GET", "/api/me/", "", "Authorization", "Bearer "+before.field(t, "access"))
	r.signIn(serve.Login{Username: d.TenantAdmin.Username, Password: "another horse"})

	h.must("user", "create", "flo@example.com", "--send-link", "--superuser")
	eventually(t, "the link is mailed", patience, func() bool { return len(lettersTo(t, h.dir, "flo@example.com")) == 1 })
	h.accountsAreShown()
	h.accountsAreErased(r)
	r.stop()
}

// accountShown is what --json shows of an account.
type accountShown struct {
	ID          int64
	IsSuperuser bool `json:"is_superuser"`
	HasPassword bool `json:"has_password"`
	Memberships []struct{ Role string }
}

func (h home) accountsAreShown() {
	t := h.t
	t.Helper()
	if out := h.must("user", "list"); !strings.Contains(out, "Eva") || !strings.Contains(out, "everything") {
		t.Error(out)
	}
	var found []accountShown
	if err := json.Unmarshal([]byte(h.must("user", "list", "--search", "flo@", "--json")), &found); err != nil || len(found) != 1 || !found[0].IsSuperuser || found[0].HasPassword {
		t.Errorf("%+v, %v", found, err)
	}
	var eva accountShown
	if err := json.Unmarshal([]byte(h.must("user", "show", "EVA@example.com", "--json")), &eva); err != nil || len(eva.Memberships) != 1 || eva.Memberships[0].Role != "admin" {
		t.Errorf("%+v, %v", eva, err)
	}
	if out := h.must("user", "show", "eva@example.com"); !strings.Contains(out, "1 Demo (admin)") {
		t.Error(out)
	}
	var known struct {
		Account accountShown
		Events  []struct{ Type, Text string }
	}
	if err := json.Unmarshal([]byte(h.must("user", "export", "eva@example.com")), &known); err != nil || known.Account.ID != eva.ID || len(known.Events) == 0 {
		t.Errorf("%+v, %v", known, err)
	}
	if page := h.must("user", "export", "eva@example.com", "--html"); !strings.Contains(page, "<h1>What is known of Eva@example.com</h1>") || strings.Contains(page, "flo@") {
		t.Error(page)
	}
	if out := h.must("history", fmt.Sprintf("user-%d", eva.ID)); !strings.Contains(out, "system:console") {
		t.Error(out)
	}
}

func (h home) accountsAreErased(r *running) {
	t := h.t
	t.Helper()
	if _, complaint, code := h.answering("eva@example.com\n", "user", "erase", "eva@example.com"); code != console.Usage || !strings.Contains(complaint, "--yes") {
		t.Errorf("erased without a terminal or --yes: %d %s", code, complaint)
	}
	h.must("user", "erase", "eva@example.com", "--yes")
	r.ask(401, "POST", "/api/token/", passwordLogin("eva@example.com", "correct horse"), "Content-Type", asJSON)
	if len(lettersTo(t, h.dir, "flo@example.com")) == 0 {
		t.Fatal("flo has no mail that an erasure could delete")
	}
	h.must("user", "erase", "flo@example.com", "--yes")
	if left := lettersTo(t, h.dir, "flo@example.com"); len(left) != 0 {
		t.Errorf("mails to an erased person are left in the outbox: %v", left)
	}
	_, complaint, code := h.command("user", "erase", h.demo().Superuser.Username, "--yes")
	if code != console.Failed || !strings.Contains(complaint, "The last active superuser cannot be removed.") {
		t.Errorf("the last superuser: %d %s", code, complaint)
	}
	if _, complaint, code := h.command("user", "show", "eva@example.com"); code != console.Failed || !strings.Contains(complaint, "no account has") {
		t.Errorf("%d %s", code, complaint)
	}
}

// lettersTo are the mails in the outbox to an address.
func lettersTo(t *testing.T, dir, address string) (found []string) {
	t.Helper()
	files, err := os.ReadDir(dir + "/outbox")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".eml") && strings.Contains(readMail(t, dir+"/outbox/"+f.Name()).Header.Get("To"), address) {
			found = append(found, f.Name())
		}
	}
	return found
}
