//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/tests/processtest"
)

func TestAccountsAreKeptFromTheCommandLine(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	create := func(input string, more ...string) (string, string, int) {
		return h.Answering(input, append([]string{"user", "create", "--password-stdin"}, more...)...)
	}
	if out, complaint, code := create("correct horse\nand more\n", "Eva@Example.com", "--name", "Eva", "--tenant", "1",
		"--role", "admin"); code != console.Done || !strings.Contains(out, "has an account") {
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
		if out, complaint, code := create("correct horse\n", wrong...); code != console.Failed || out != "" ||
			!strings.Contains(complaint, want) {
			t.Errorf("%v ended with %d: %s%s", wrong, code, out, complaint)
		}
	}
	for _, wrong := range [][]string{{"--role", "admin"}, {"--send-link"}} {
		if _, complaint, code := create("", append(wrong, "new@example.com")...); code != console.Usage {
			t.Errorf("%v ended with %d: %s", wrong, code, complaint)
		}
	}
	r.Ask(200, "POST", "/api/token/", processtest.PasswordLogin("eva@example.com", "correct horse"), "Content-Type",
		processtest.AsJSON)
	before := r.SignIn(d.TenantAdmin)
	if _, complaint, code := h.Answering("another horse\n", "user", "passwd", d.TenantAdmin.Username,
		"--password-stdin"); code != console.Done {
		t.Fatalf("%d: %s", code, complaint)
	}
	r.Ask(401, "GET", "/api/me/", "", "Authorization", "Bearer "+before.Field(t, "access"))
	r.SignIn(serve.Login{Username: d.TenantAdmin.Username, Password: "another horse"})

	h.Must("user", "create", "flo@example.com", "--send-link", "--superuser")
	processtest.Eventually(t, "the link is mailed", func() bool {
		return len(lettersTo(t, h.Dir,
			"flo@example.com")) == 1
	})
	accountsAreShown(h)
	accountsAreErased(h, r)
	r.Stop()
}

// accountShown is what --json shows of an account.
type accountShown struct {
	ID          int64
	IsSuperuser bool `json:"is_superuser"`
	HasPassword bool `json:"has_password"`
	Memberships []struct{ Role string }
}

func accountsAreShown(h processtest.Home) {
	t := h.T
	t.Helper()
	if out := h.Must("user", "list"); !strings.Contains(out, "Eva") || !strings.Contains(out, "everything") {
		t.Error(out)
	}
	var found []accountShown
	if err := json.Unmarshal([]byte(h.Must("user", "list", "--search", "flo@", "--json")), &found); err != nil ||
		len(found) != 1 || !found[0].IsSuperuser || found[0].HasPassword {
		t.Errorf("%+v, %v", found, err)
	}
	var eva accountShown
	if err := json.Unmarshal([]byte(h.Must("user", "show", "EVA@example.com", "--json")), &eva); err != nil ||
		len(eva.Memberships) != 1 || eva.Memberships[0].Role != "admin" {
		t.Errorf("%+v, %v", eva, err)
	}
	if out := h.Must("user", "show", "eva@example.com"); !strings.Contains(out, "1 Demo (admin)") {
		t.Error(out)
	}
	var known struct {
		Account accountShown
		Events  []struct{ Type, Text string }
	}
	if err := json.Unmarshal([]byte(h.Must("user", "export", "eva@example.com")), &known); err != nil ||
		known.Account.ID != eva.ID || len(known.Events) == 0 {
		t.Errorf("%+v, %v", known, err)
	}
	if page := h.Must("user", "export", "eva@example.com", "--html"); !strings.Contains(page,
		"<h1>What is known of Eva@example.com</h1>") || strings.Contains(page, "flo@") {
		t.Error(page)
	}
	if out := h.Must("history", fmt.Sprintf("user-%d", eva.ID)); !strings.Contains(out, "system:console") {
		t.Error(out)
	}
}

func accountsAreErased(h processtest.Home, r *processtest.Process) {
	t := h.T
	t.Helper()
	if _, complaint, code := h.Answering("eva@example.com\n", "user", "erase", "eva@example.com"); code != console.Usage ||
		!strings.Contains(complaint, "--yes") {
		t.Errorf("erased without a terminal or --yes: %d %s", code, complaint)
	}
	h.Must("user", "erase", "eva@example.com", "--yes")
	r.Ask(401, "POST", "/api/token/", processtest.PasswordLogin("eva@example.com", "correct horse"), "Content-Type",
		processtest.AsJSON)
	if len(lettersTo(t, h.Dir, "flo@example.com")) == 0 {
		t.Fatal("flo has no mail that an erasure could delete")
	}
	h.Must("user", "erase", "flo@example.com", "--yes")
	if left := lettersTo(t, h.Dir, "flo@example.com"); len(left) != 0 {
		t.Errorf("mails to an erased person are left in the outbox: %v", left)
	}
	_, complaint, code := h.Command("user", "erase", h.Demo().Superuser.Username, "--yes")
	if code != console.Failed || !strings.Contains(complaint, "The last active superuser cannot be removed.") {
		t.Errorf("the last superuser: %d %s", code, complaint)
	}
	if _, complaint, code := h.Command("user", "show", "eva@example.com"); code != console.Failed ||
		!strings.Contains(complaint, "no account has") {
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
		if strings.HasSuffix(f.Name(), ".eml") && strings.Contains(processtest.ReadMail(t,
			dir+"/outbox/"+f.Name()).Header.Get("To"), address) {
			found = append(found, f.Name())
		}
	}
	return found
}
