package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
)

// todays are calls whose answers are those of today in a view of the past, by design
// (docs/audit.md, "Going back in time").
var todays = []string{
	"/api/me/sessions/", "/api/schema/", "/operations/api/v1/users/", "/operations/api/v1/api-keys/", // who may look
	"/operations/api/v1/sagas/", "/operations/api/v1/webhook-inbox/", "/operations/api/v1/reconciliation/", // what is no event is not shown
	"/operations/api/v1/overview/", "/operations/api/v1/read-tables/", "/operations/api/v1/projections/", "/operations/api/v1/settings/", "/audit/log/checkpoint", "/audit/api/v1/", // of the process, and of the log, which an index follows
	"/operations/api/v1/mail-previews/", // composed of links with the view's own address
}

// lists are the calls of the APIs that show lists.
func lists(t *testing.T, r *running) (paths []string) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.ask(http.StatusOK, "GET", "/api/schema/", "").body), &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		_, reads := document.Paths[path]["get"]
		isToday := slices.ContainsFunc(todays, func(one string) bool { return strings.HasPrefix(path, one) })
		if reads && strings.Contains(path, "/api/") && !strings.Contains(path, "{") && !strings.HasSuffix(path, "/stream/") && !strings.HasPrefix(path, "/storefront/") && !isToday {
			paths = append(paths, path)
		}
	}
	return paths
}

// shown are the answers to calls, without the address of the panel.
func (r *running) shown(paths []string, bearer ...string) map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for _, path := range paths {
		a := r.ask(http.StatusOK, "GET", path, "", bearer...)
		all[path] = strings.ReplaceAll(a.body, r.base, "http://panel")
	}
	return all
}

// A moment is what was shown then.
type moment struct {
	at     time.Time
	shown  map[string]string
	orders string // as the command shows them
}

// photograph returns what is shown at a moment at which nothing changes.
func (r *running) photograph(h home, paths []string) (m moment) {
	r.t.Helper()
	var before, after map[string]string
	defer func() {
		for path := range before {
			if r.t.Failed() && before[path] != after[path] {
				r.t.Logf("%s\nbefore: %s\nafter:  %s", path, before[path], after[path])
			}
		}
	}()
	bearer := []string{"Authorization", "Bearer " + r.signIn(h.demo().Superuser).field(r.t, "access")}
	eventually(r.t, "nothing changes", patience, func() bool {
		before = r.shown(paths, bearer...)
		m = moment{at: time.Now(), shown: before, orders: h.must("orders", "list", "--json")}
		after = r.shown(paths, bearer...)
		return maps.Equal(before, after)
	})
	return m
}

// buys places an order by chance and pays for it, or does not.
func (r *running) buys(d serve.Demo, chance *rand.Rand, name string) {
	r.t.Helper()
	placed := r.ask(http.StatusCreated, "POST", "/storefront/api/orders/", fmt.Sprintf(ordered, d.Plans.Hosting, name+"@customer.example", name+".example"),
		"X-API-Key", d.APIKey, "Content-Type", asJSON)
	if chance.IntN(3) > 0 {
		r.ask(http.StatusSeeOther, "POST", pathOf(r.t, placed.field(r.t, "payment_url")), "action=pay", "Content-Type", asForm)
		r.awaitActive(placed.field(r.t, "order_id"), d.APIKey, patience)
	}
}

// every table of the database, but for those of views, with a digest of its rows.
func everyTable(t *testing.T, h home) map[string]string {
	t.Helper()
	url, _ := strings.CutPrefix(h.at[0], "DATABASE_URL=")
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, _ := conn.Query(t.Context(), `select schemaname || '.' || tablename, format('select coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '''') from %I.%I t', schemaname, tablename)
		from pg_tables where schemaname not in ('pg_catalog', 'information_schema') and schemaname not like 'past\_%'`)
	queries, name, query := map[string]string{}, "", ""
	_, err = pgx.ForEachRow(rows, []any{&name, &query}, func() error { queries[name] = query; return nil })
	must(t, err)
	digests := map[string]string{}
	for name, query := range queries {
		var digest string
		must(t, conn.QueryRow(t.Context(), query).Scan(&digest))
		digests[name] = digest
	}
	return digests
}

// signInTables are those that a sign-in at a view changes: sessions are today's, and so is
// the journal of sign-ins.
var signInTables = []string{"public.events", "public.users", "public.refresh_families", "public.refresh_tokens", "public.browser_sessions", "public.rate_windows"}

func changedTables(before, after map[string]string) (changed []string) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] && !slices.Contains(signInTables, name) {
			changed = append(changed, name)
		}
	}
	return changed
}

// A history by chance, photographed now and then. A view of the past answers each list
// byte for byte as the panel did, changes nothing, and leaves nothing.
func TestAViewOfThePastShowsWhatThePanelShowedThen(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	h := newHome(t)
	r, d := h.start(), h.demo()
	l := &livingKinds{running: r, ids: map[string]string{}, headers: []string{
		"Authorization", "Bearer " + r.signIn(d.Superuser).field(t, "access"), "Content-Type", asJSON,
	}}
	paths := lists(t, r)
	moments := []moment{r.photograph(h, paths)}
	acts := []func(){l.areMade, func() { r.buys(d, chance, "ana") }, func() { r.buys(d, chance, "bea") }, l.areChanged, l.goOffAndOn}
	for i, act := range acts {
		act()
		if i == 0 || chance.IntN(2) == 0 {
			moments = append(moments, r.photograph(h, paths))
		}
	}
	l.areRemoved()
	r.stop()
	before, mails := everyTable(t, h), len(outbox(t, h))

	for _, m := range moments {
		at := m.at.UTC().Format(time.RFC3339Nano)
		view := h.serving("--as-of", at, "--listen", "127.0.0.1:0")
		now := view.shown(paths, "Authorization", "Bearer "+view.signIn(d.Superuser).field(t, "access"))
		for _, path := range paths {
			if now[path] != m.shown[path] {
				t.Errorf("%s as of %s\nthen: %s\nnow:  %s", path, at, m.shown[path], now[path])
			}
		}
		view.stop()
		if out := h.must("at", at, "--", "orders", "list", "--json"); out != m.orders {
			t.Errorf("orders as of %s\nthen: %s\nnow:  %s", at, m.orders, out)
		}
	}
	after := everyTable(t, h)
	if changed := changedTables(before, after); len(changed) > 0 || len(after) != len(before) {
		t.Error("looking back has changed", changed)
	}
	if again := len(outbox(t, h)); again != mails {
		t.Errorf("looking back has sent %d mails", again-mails)
	}
}

func schemas(t *testing.T, h home) []string {
	t.Helper()
	url, _ := strings.CutPrefix(h.at[0], "DATABASE_URL=")
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, _ := conn.Query(t.Context(), `select nspname::text from pg_namespace where nspname like 'past\_%'`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return all
}

func TestOnlyListsCanBeAskedAboutAnotherMoment(t *testing.T) {
	demoForCommands(t)
	dir := t.TempDir()
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{[]string{"at", "2026-11-21", "--", "user", "list"}, "user list cannot be asked about another moment: only incidents list, invoices list, orders list"},
		{[]string{"at", "2026-11-21", "--", "plans", "create", "name=X"}, "plans create cannot be asked about another moment"},
		{[]string{"at", "2026-11-21", "--", "serve"}, "serve cannot be asked about another moment"},
		{[]string{"at", "2026-11-21", "--", "at", "2026-11-21", "--", "plans", "list"}, "at cannot be asked about another moment"},
		{[]string{"at", "2026-11-21", "--"}, "there is no command"},
		{[]string{"at", "yesterday", "--", "plans", "list"}, "is not a time"},
		{[]string{"serve", "--demo", "--as-of", "2026-11-21"}, "do not go together"},
	} {
		var out, complaint bytes.Buffer
		code := run(t.Context(), wrong.args, console.Console{Out: &out, Err: &complaint})
		if code != console.Usage || !strings.Contains(complaint.String(), wrong.says) {
			t.Errorf("%v: %d %s%s", wrong.args, code, out.String(), complaint.String())
		}
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for _, line := range [][]string{
		{"at", now, "--data-dir", dir, "--", "plans", "list"}, {"at", now, "--", "plans", "list", "--data-dir", dir},
	} {
		if code, out, complaint := told(t, line...); code != console.Done || !strings.Contains(out, "VPS 2") {
			t.Errorf("%v: %d %s%s", line, code, out, complaint)
		}
	}
	for list, head := range map[string]string{"invoices": "issued (UTC)", "subscriptions": "paid until (UTC)"} {
		if code, out, complaint := told(t, "at", now, "--data-dir", dir, "--", list, "list"); code != console.Done || !strings.Contains(out, head) {
			t.Errorf("%s: %d %s%s", list, code, out, complaint)
		}
	}
	if code, out, complaint := told(t, "at", "2000-01-01", "--", "plans", "list", "--json", "--data-dir", dir); code != console.Done || strings.Contains(out, "VPS 2") {
		t.Errorf("%d %s%s", code, out, complaint)
	}
	if code, _, complaint := told(t, "at", "2100-01-01", "--", "plans", "list", "--data-dir", dir); code != console.Failed || !strings.Contains(complaint, "That moment is not over yet.") {
		t.Errorf("%d %s", code, complaint)
	}
}
