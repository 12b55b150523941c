package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

func TestAccountsAreKeptFromTheCommandLine(t *testing.T) {
	h := newHome(t)
	r := h.start()
	d := h.demo()
	create := func(input string, more ...string) (string, string, int) {
		return h.answering(input, append([]string{"user", "create", "--password-stdin"}, more...)...)
	}
	if out, complaint, code := create("correct horse\nand more\n", "Eva@Example.com", "--name", "Eva", "--tenant", "1", "--role", "admin"); code != done || !strings.Contains(out, "has an account") {
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
		if out, complaint, code := create("correct horse\n", wrong...); code != failed || out != "" || !strings.Contains(complaint, want) {
			t.Errorf("%v ended with %d: %s%s", wrong, code, out, complaint)
		}
	}
	for _, wrong := range [][]string{{"--role", "admin"}, {"--send-link"}} {
		if _, complaint, code := create("", append(wrong, "new@example.com")...); code != usage {
			t.Errorf("%v ended with %d: %s", wrong, code, complaint)
		}
	}
	r.ask(200, "POST", "/api/token/", passwordLogin("eva@example.com", "correct horse"), "Content-Type", asJSON)
	before := r.signIn(d.TenantAdmin)
	if _, complaint, code := h.answering("another horse\n", "user", "passwd", d.TenantAdmin.Username, "--password-stdin"); code != done {
		t.Fatalf("%d: %s", code, complaint)
	}
	r.ask(401, "GET", "/api/me/", "", "Authorization", "Bearer "+before.field(t, "access"))
	r.signIn(login{Username: d.TenantAdmin.Username, Password: "another horse"})

	h.must("user", "create", "flo@example.com", "--send-link", "--superuser")
	eventually(t, "the link is mailed", patience, func() bool { return len(lettersTo(t, h.dir, "flo@example.com")) == 1 })
	h.accountsAreShown()
	h.accountsAreErased(r)
	r.stop()
}

func (h home) accountsAreShown() {
	t := h.t
	t.Helper()
	if out := h.must("user", "list"); !strings.Contains(out, "Eva") || !strings.Contains(out, "everything") {
		t.Error(out)
	}
	var found []userLine
	if err := json.Unmarshal([]byte(h.must("user", "list", "--search", "flo@", "--json")), &found); err != nil || len(found) != 1 || !found[0].IsSuperuser || found[0].HasPassword {
		t.Errorf("%+v, %v", found, err)
	}
	var eva userLine
	if err := json.Unmarshal([]byte(h.must("user", "show", "EVA@example.com", "--json")), &eva); err != nil || len(eva.Memberships) != 1 || eva.Memberships[0].Role != "admin" {
		t.Errorf("%+v, %v", eva, err)
	}
	if out := h.must("user", "show", "eva@example.com"); !strings.Contains(out, "1 Demo (admin)") {
		t.Error(out)
	}
	if out := h.must("history", fmt.Sprintf("user-%d", eva.ID)); !strings.Contains(out, "system:console") {
		t.Error(out)
	}
}

func (h home) accountsAreErased(r *running) {
	t := h.t
	t.Helper()
	if _, complaint, code := h.answering("eva@example.com\n", "user", "erase", "eva@example.com"); code != usage || !strings.Contains(complaint, "--yes") {
		t.Errorf("erased without a terminal or --yes: %d %s", code, complaint)
	}
	h.must("user", "erase", "eva@example.com", "--yes")
	r.ask(401, "POST", "/api/token/", passwordLogin("eva@example.com", "correct horse"), "Content-Type", asJSON)
	h.must("user", "erase", "flo@example.com", "--yes")
	_, complaint, code := h.command("user", "erase", h.demo().Superuser.Username, "--yes")
	if code != failed || !strings.Contains(complaint, "The last active superuser cannot be removed.") {
		t.Errorf("the last superuser: %d %s", code, complaint)
	}
	if _, complaint, code := h.command("user", "show", "eva@example.com"); code != failed || !strings.Contains(complaint, "nobody has an account") {
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

// A desk is a terminal with its user.
type desk struct {
	console
	person *os.File
	shown  *safeBuffer
}

// newDesk opens a pseudo-terminal.
func newDesk(t *testing.T) desk {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number, unlock int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := &safeBuffer{}
	go func() { _, _ = io.Copy(shown, person) }()
	t.Cleanup(func() { _, _ = end.Close(), person.Close() })
	return desk{console{out: end, err: end, in: end}, person, shown}
}

// types waits for a question and answers it.
func (d desk) types(t *testing.T, question, text string) {
	eventually(t, "the question "+question, patience, func() bool { return strings.Contains(d.shown.String(), question) })
	if _, err := d.person.WriteString(text + "\n"); err != nil {
		t.Error(err)
	}
}

// whispers is types once nothing shows that is typed.
func (d desk) whispers(t *testing.T, question, text string) {
	eventually(t, "the terminal is quiet for "+question, patience, func() bool {
		var state syscall.Termios
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.in.(*os.File).Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&state)))
		return errno == 0 && state.Lflag&syscall.ECHO == 0 && strings.Contains(d.shown.String(), question)
	})
	d.types(t, question, text)
}

func TestAPasswordIsAskedForTwiceAndNotShown(t *testing.T) {
	for second, want := range map[string]string{"correct horse": "", "correct house": "the two passwords differ"} {
		d := newDesk(t)
		go func() {
			d.whispers(t, "Password: ", "correct horse")
			d.whispers(t, "Once more: ", second)
		}()
		got, err := passwordInput{}.read(t.Context(), d.console, func(string) error { return nil })
		if fmt.Sprint(err) != cmp.Or(want, "<nil>") || err == nil && got != "correct horse" {
			t.Errorf("%q, %v", got, err)
		}
		if strings.Contains(d.shown.String(), "horse") || strings.Contains(d.shown.String(), "house") {
			t.Errorf("the password shows: %q", d.shown.String())
		}
	}
}

func TestWhoIsAskedMayAlsoGoAway(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.hidden(ctx, "Password: "); err == nil || !strings.Contains(err.Error(), "nothing was done") {
		t.Error(err)
	}
}

func TestWhatCannotBeUndoneIsConfirmed(t *testing.T) {
	for typed, agrees := range map[string]bool{"ana@example.com": true, "Ana@Example.com": true, "yes": false, "": false} {
		d := newDesk(t)
		go d.types(t, "again to go on: ", typed)
		if err := d.confirmed(t.Context(), "ana@example.com"); (err == nil) != agrees {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
