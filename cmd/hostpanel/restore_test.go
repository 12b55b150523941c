package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/eventstoretest"
)

// A restore that is killed while it loads leaves nothing. One that is killed later leaves
// what no program works on, and what the next restore takes away.
func TestAKilledRestoreServesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	from := filepath.Join(t.TempDir(), "backup")
	h.must("backup", "--out", from)
	url := eventstoretest.Database(t, "empty", nil)
	h.at = databaseAt(url)
	owner := eventstoretest.Owner(t, url)
	killedAt := func(lock string) {
		t.Helper()
		conn, err := owner.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), `select pg_advisory_lock(hashtext($1))`, lock)
		must(t, err)
		r := h.launch("restore", "--without-erasures", "--from", from)
		eventually(t, "the restore waits", patience, func() bool {
			var waits bool
			err := conn.QueryRow(t.Context(), `select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))`).Scan(&waits)
			return err == nil && waits
		})
		r.end(syscall.SIGKILL)
		_, err = conn.Exec(t.Context(), `select pg_advisory_unlock_all()`)
		must(t, err)
	}
	tables := func() (n int) {
		must(t, owner.QueryRow(t.Context(), `select count(*) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`).Scan(&n))
		return n
	}
	killedAt("hostpanel migrations")
	if n := tables(); n != 0 {
		t.Errorf("%d tables are left", n)
	}
	killedAt("hostpanel projections")
	if tables() == 0 {
		t.Error("the restore was not killed behind its loading")
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"orders", "list"}} {
		if out, complaint, code := h.command(args...); code != console.Usage || !strings.Contains(complaint, "did not come to its end") {
			t.Errorf("%v ends with %d: %s%s", args, code, out, complaint)
		}
	}
	h.must("restore", "--without-erasures", "--from", from)
	if told := h.must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
}

// Every command of the page about backups runs as it is written.
func TestTheCommandsOfTheBackupPageRun(t *testing.T) {
	t.Parallel()
	h, dir := newHome(t), t.TempDir()
	h.env = []string{"HOSTPANEL_ERASURES_COPY=" + dir + "/elsewhere/erasures"}
	for _, name := range []string{"backup", "elsewhere"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	r := h.start()
	eventually(t, "a checkpoint is signed", patience, func() bool { _, _, code := h.command("log", "checkpoint"); return code == console.Done })
	r.stop()
	path, err := binary()
	must(t, err)
	text, err := os.ReadFile("../../docs/backup.md")
	must(t, err)
	script := "set -euo pipefail\ncreatedb() { :; }\ndropdb() { :; }\nhostpanel() { " + path + ` "$@" --data-dir ` + h.dir + "; }\n"
	blocks := strings.Split(string(text), "```sh\n")[1:]
	for _, block := range blocks {
		commands, _, _ := strings.Cut(block, "```")
		script += commands
		if strings.Contains(commands, "hostpanel backup") { // an erasure makes the list newer than the backup
			script += "hostpanel user create eva@customer.example --send-link\nhostpanel user erase eva@customer.example --yes\n"
		}
	}
	script = strings.NewReplacer("/backup/", dir+"/backup/", "/elsewhere/", dir+"/elsewhere/", "2026-11-22", "$(date +%F)", "/var/lib/hostpanel/", h.dir+"/",
		"postgres://hostpanel@/hostpanel", "'"+eventstoretest.Database(t, "empty", nil)+"'", "postgres:///rehearsal", "'"+eventstoretest.Database(t, "empty", nil)+"'").Replace(script)
	cmd := h.prepare(binary)
	cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-c", script}
	if out, err := cmd.CombinedOutput(); err != nil || len(blocks) < 5 || strings.Count(string(out), "restored: ") != 2 {
		t.Errorf("%v:\n%s\n%s", err, script, out)
	}
}

// A backup that is older than an erasure shows no erased person: the list of erasures is
// applied before anything is served, and a restore asks for one that is newer.
func TestARestoreErasesAgainWhoWasErased(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, d := h.start(), h.demo()
	placed := r.ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(ordered, d.Plans.Hosting, "eva@customer.example", "eva.example"), "X-API-Key", d.APIKey, "Content-Type", asJSON)
	r.ask(303, "POST", pathOf(t, placed.field(t, "payment_url")), "action=pay", "Content-Type", asForm)
	r.awaitActive(placed.field(t, "order_id"), d.APIKey, patience)
	from := filepath.Join(t.TempDir(), "backup")
	h.must("backup", "--out", from)
	h.must("user", "erase", "eva@customer.example", "--yes")
	r.stop()

	other, url := ownHome(t), eventstoretest.Database(t, "empty", nil)
	other.at = databaseAt(url)
	if out, complaint, code := other.command("restore", "--from", from); code != console.Usage || !strings.Contains(complaint, "no list of erasures newer than the backup") {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	found := func() (in []string) {
		t.Helper()
		owner := eventstoretest.Owner(t, url)
		var tables []string
		must(t, owner.QueryRow(t.Context(), `select array_agg(relname::text) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
			and relname <> 'invoices'`).Scan(&tables)) // those are kept for as long as the law says
		for _, name := range tables {
			var n int
			must(t, owner.QueryRow(t.Context(), `select count(*) from `+name+` t where t::text ilike '%eva@customer%' or t::text like '%Ana Example%'`).Scan(&n))
			if n > 0 {
				in = append(in, name)
			}
		}
		return in
	}
	other.must("restore", "--from", from, "--without-erasures")
	if len(found()) == 0 {
		t.Error("the test finds nothing, also where there is something")
	}

	url = eventstoretest.Database(t, "empty", nil)
	other.at = databaseAt(url)
	if told := other.must("restore", "--from", from, "--erasures", filepath.Join(h.dir, "erasures")); !strings.Contains(told, "erased again: ") {
		t.Error(told)
	}
	if in := found(); len(in) > 0 {
		t.Errorf("erased texts are in %v", in)
	}
	if told := other.must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
}

// The legal period of a year ends after the backup. A process on the restored database
// destroys the keys of that year again, though nothing else goes on in recovery mode.
func TestARestoreForgetsTheBuyersOfAYearThatIsOver(t *testing.T) {
	t.Parallel()
	h, from := newHome(t), filepath.Join(t.TempDir(), "backup")
	r, d := h.start(), h.demo()
	placed := r.ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(ordered, d.Plans.Hosting, "eva@customer.example", "eva.example"), "X-API-Key", d.APIKey, "Content-Type", asJSON)
	r.ask(303, "POST", pathOf(t, placed.field(t, "payment_url")), "action=pay", "Content-Type", asForm)
	r.awaitActive(placed.field(t, "order_id"), d.APIKey, patience)
	h.must("backup", "--out", from)
	r.stop()

	other, url := ownHome(t), eventstoretest.Database(t, "empty", nil)
	other.at, other.env = databaseAt(url), []string{"HOSTPANEL_FISCAL_YEARS=1"}
	demo, err := os.ReadFile(filepath.Join(h.dir, "demo.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(other.dir, "demo.json"), demo, 0o600))
	other.must("restore", "--from", from, "--without-erasures")
	owner := eventstoretest.Owner(t, url)
	count := func(sql string) (n int) {
		t.Helper()
		must(t, owner.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	const keys, named = `select count(*) from subject_keys where year is not null and wrapped <> ''`, `select count(*) from invoices where customer_name <> ''`
	if count(keys) == 0 || count(named) == 0 {
		t.Fatal("the backup has no invoice with a buyer")
	}
	now := time.Now().UTC()
	other.must("sandbox", "clock", fmt.Sprintf("%dd", 2+int(time.Date(now.Year()+2, 1, 1, 0, 0, 0, 0, time.UTC).Sub(now).Hours()/24)))
	other.start()
	eventually(t, "the keys of the year are destroyed", patience, func() bool { return count(keys) == 0 })
	if n := count(named); n != 0 {
		t.Errorf("%d invoices show their buyer", n)
	}
	if told := other.must("recovery", "status", "--json"); !strings.Contains(told, `"on": true`) {
		t.Error(told)
	}
}
