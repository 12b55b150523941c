//go:build system

package program_test

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
	"hostpanel/tests/processtest"
)

// A restore that is killed while it loads leaves nothing. One that is killed later leaves
// what no program works on, and what the next restore takes away.
func TestAKilledRestoreServesNothing(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	from := filepath.Join(t.TempDir(), "backup")
	h.Must("backup", "--out", from)
	url := eventstoretest.Database(t, "empty", nil)
	h.At = processtest.DatabaseAt(url)
	owner := eventstoretest.Owner(t, url)
	killedAt := func(lock string) {
		t.Helper()
		conn, err := owner.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), `select pg_advisory_lock(hashtext($1))`, lock)
		must(t, err)
		r := h.Launch("restore", "--without-erasures", "--from", from)
		processtest.Eventually(t, "the restore waits", func() bool {
			var waits bool
			err := conn.QueryRow(t.Context(),
				`select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid `+
					`from pg_database where datname = current_database()))`).Scan(&waits)
			return err == nil && waits
		})
		r.End(syscall.SIGKILL)
		_, err = conn.Exec(t.Context(), `select pg_advisory_unlock_all()`)
		must(t, err)
	}
	tables := func() (n int) {
		must(t, owner.QueryRow(t.Context(),
			`select count(*) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`).Scan(&n))
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
		if out, complaint, code := h.Command(args...); code != console.Usage ||
			!strings.Contains(complaint, "did not come to its end") {
			t.Errorf("%v ends with %d: %s%s", args, code, out, complaint)
		}
	}
	h.Must("restore", "--without-erasures", "--from", from)
	if told := h.Must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
}

// Every command of the page about backups runs as it is written.
func TestTheCommandsOfTheBackupPageRun(t *testing.T) {
	t.Parallel()
	h, dir := processtest.NewHome(t), t.TempDir()
	h.Env = []string{"HOSTPANEL_ERASURES_COPY=" + dir + "/elsewhere/erasures"}
	for _, name := range []string{"backup", "elsewhere"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	r := h.Start()
	processtest.Eventually(t, "a checkpoint is signed", func() bool {
		_, _, code := h.Command("log", "checkpoint")
		return code == console.Done
	})
	r.Stop()
	path, err := processtest.Binary()
	must(t, err)
	text, err := os.ReadFile("../../docs/backup.md")
	must(t, err)
	script := "set -euo pipefail\ncreatedb() { :; }\ndropdb() { :; }\nhostpanel() { " + path + ` "$@" --data-dir ` +
		h.Dir + "; }\n"
	blocks := strings.Split(string(text), "```sh\n")[1:]
	for _, block := range blocks {
		commands, _, _ := strings.Cut(block, "```")
		script += commands
		if strings.Contains(commands, "hostpanel backup") { // an erasure makes the list newer than the backup
			script += "hostpanel user create eva@customer.example --send-link\nhostpanel user erase eva@customer.example --yes\n"
		}
	}
	script = strings.NewReplacer("/backup/", dir+"/backup/", "/elsewhere/", dir+"/elsewhere/", "2026-11-22", "$(date +%F)",
		"/var/lib/hostpanel/", h.Dir+"/",
		"postgres://hostpanel@/hostpanel", "'"+eventstoretest.Database(t, "empty",
			nil)+"'", "postgres:///rehearsal", "'"+eventstoretest.Database(t, "empty", nil)+"'").Replace(script)
	cmd := h.Prepare()
	cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-c", script}
	if out, err := cmd.CombinedOutput(); err != nil || len(blocks) < 5 || strings.Count(string(out), "restored: ") != 2 {
		t.Errorf("%v:\n%s\n%s", err, script, out)
	}
}

// A backup that is older than an erasure shows no erased person: the list of erasures is
// applied before anything is served, and a restore asks for one that is newer.
func TestARestoreErasesAgainWhoWasErased(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r, d := h.Start(), h.Demo()
	placed := r.Ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(processtest.Ordered, d.Plans.Hosting,
		"eva@customer.example", "eva.example"), "X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON)
	r.Ask(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	r.AwaitActive(placed.Field(t, "order_id"), d.APIKey, processtest.Patience)
	from := filepath.Join(t.TempDir(), "backup")
	h.Must("backup", "--out", from)
	h.Must("user", "erase", "eva@customer.example", "--yes")
	r.Stop()

	other, url := processtest.OwnHome(t), eventstoretest.Database(t, "empty", nil)
	other.At = processtest.DatabaseAt(url)
	if out, complaint, code := other.Command("restore", "--from", from); code != console.Usage ||
		!strings.Contains(complaint, "no list of erasures newer than the backup") {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	found := func() (in []string) {
		t.Helper()
		owner := eventstoretest.Owner(t, url)
		var tables []string
		must(t, owner.QueryRow(t.Context(), `select array_agg(relname::text) from pg_class where relkind = 'r' and
			relnamespace = 'public'::regnamespace
			and relname <> 'invoices'`).Scan(&tables)) // those are kept for as long as the law says
		for _, name := range tables {
			var n int
			must(t, owner.QueryRow(t.Context(),
				`select count(*) from `+name+` t where t::text ilike '%eva@customer%' or t::text like '%Ana Example%'`).Scan(&n))
			if n > 0 {
				in = append(in, name)
			}
		}
		return in
	}
	other.Must("restore", "--from", from, "--without-erasures")
	if len(found()) == 0 {
		t.Error("the test finds nothing, also where there is something")
	}

	url = eventstoretest.Database(t, "empty", nil)
	other.At = processtest.DatabaseAt(url)
	if told := other.Must("restore", "--from", from, "--erasures",
		filepath.Join(h.Dir, "erasures")); !strings.Contains(told, "erased again: ") {
		t.Error(told)
	}
	if in := found(); len(in) > 0 {
		t.Errorf("erased texts are in %v", in)
	}
	if told := other.Must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
}

// The legal period of a year ends after the backup. A process on the restored database
// destroys the keys of that year again, though nothing else goes on in recovery mode.
func TestARestoreForgetsTheBuyersOfAYearThatIsOver(t *testing.T) {
	t.Parallel()
	h, from := processtest.NewHome(t), filepath.Join(t.TempDir(), "backup")
	r, d := h.Start(), h.Demo()
	placed := r.Ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(processtest.Ordered, d.Plans.Hosting,
		"eva@customer.example", "eva.example"), "X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON)
	r.Ask(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	r.AwaitActive(placed.Field(t, "order_id"), d.APIKey, processtest.Patience)
	h.Must("backup", "--out", from)
	r.Stop()

	other, url := processtest.OwnHome(t), eventstoretest.Database(t, "empty", nil)
	other.At, other.Env = processtest.DatabaseAt(url), []string{"HOSTPANEL_FISCAL_YEARS=1"}
	demo, err := os.ReadFile(filepath.Join(h.Dir, "demo.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(other.Dir, "demo.json"), demo, 0o600))
	other.Must("restore", "--from", from, "--without-erasures")
	owner := eventstoretest.Owner(t, url)
	count := func(sql string) (n int) {
		t.Helper()
		must(t, owner.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	const keys, named = `select count(*) from subject_keys where year is not null and ` +
		`wrapped <> ''`, `select count(*) from invoices where customer_name <> ''`
	if count(keys) == 0 || count(named) == 0 {
		t.Fatal("the backup has no invoice with a buyer")
	}
	now := time.Now().UTC()
	other.Must("sandbox", "clock", fmt.Sprintf("%dd", 2+int(time.Date(now.Year()+2, 1, 1, 0, 0, 0, 0,
		time.UTC).Sub(now).Hours()/24)))
	other.Start()
	processtest.Eventually(t, "the keys of the year are destroyed", func() bool { return count(keys) == 0 })
	if n := count(named); n != 0 {
		t.Errorf("%d invoices show their buyer", n)
	}
	if told := other.Must("recovery", "status", "--json"); !strings.Contains(told, `"on": true`) {
		t.Error(told)
	}
}
