//go:build system

package program_test

import (
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// besides has an engine with a client of its own, and a home whose settings
// name it.
func besides(t *testing.T) (processtest.Home, *ispconfigtest.Engine) {
	t.Helper()
	fake := ispconfigtest.Start(t)
	ticking(t, fake)
	h := processtest.NewHome(t)
	h.Env = []string{
		"ISPCONFIG_URL=" + fake.URL, "ISPCONFIG_USERNAME=" + ispconfigtest.User, "ISPCONFIG_PASSWORD=" +
			ispconfigtest.Password, "ISPCONFIG_SERVER_ID=1",
	}
	return h, fake
}

// leftOn are the tables that a check has left rows in.
func leftOn(fake *ispconfigtest.Engine) (tables []string) {
	for _, table := range []string{
		"client", "web_domain", "web_database", "web_database_user", "dns_soa", "dns_rr",
		"mail_domain", "mail_user", "ftp_user", "cron",
	} {
		if len(fake.Rows(table, "sys_perm_user", "riud")) > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}

func TestAnEngineIsTriedWithoutLeavingATrace(t *testing.T) {
	t.Parallel()
	h, fake := besides(t)
	told := h.Must("engine", "check", "--yes", "--throw-away", "--only", "made")
	for _, line := range []string{
		"held      every kind is made, found, listed and removed",
		"held      what was made without an answer is found and made once", "0 failed",
	} {
		if !strings.Contains(told, line) {
			t.Errorf("no %q in\n%s", line, told)
		}
	}
	if left := leftOn(fake); left != nil {
		t.Errorf("left in %v", left)
	}
	told = h.Must("engine", "check", "--yes", "--only", "answer")
	if !strings.Contains(told, "not tried what was made without an answer is found and made once: answers cannot be lost here") {
		t.Error(told)
	}
}

// An engine that refuses something fails the checks that need it, says why, and
// keeps nothing.
func TestAnEngineThatFailsIsToldInWords(t *testing.T) {
	t.Parallel()
	h, fake := besides(t)
	fake.Order(ispconfigtest.Fault{Function: "mail_user_add", What: ispconfigtest.Permission})
	told, _, code := h.Command("engine", "check", "--yes", "--only", "read back")
	if code != console.Failed || !strings.Contains(told, "failed    what is true of an object is read back") ||
		!strings.Contains(told, "engine_permission") {
		t.Errorf("%d: %s", code, told)
	}
	if left := leftOn(fake); left != nil {
		t.Errorf("left in %v", left)
	}
	if strings.Contains(told, ispconfigtest.Password) {
		t.Errorf("the password is told: %s", told)
	}
}

func TestNoEngineIsTriedUnasked(t *testing.T) {
	t.Parallel()
	h, fake := besides(t)
	if _, complaint, code := h.Command("engine", "check"); code != console.Usage ||
		!strings.Contains(complaint, "--yes") || fake.Calls("login") > 0 {
		t.Errorf("%d, %d calls: %s", code, fake.Calls("login"), complaint)
	}
}
