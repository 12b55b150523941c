//go:build system

package program_test

import (
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

	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/tests/processtest"
)

// todays are calls whose answers are those of today in a view of the past, by design
// (docs/audit.md, "Going back in time").
var todays = []string{
	"/api/me/sessions/", "/api/schema/", "/operations/api/v1/users/", "/operations/api/v1/api-keys/", // who may look
	// what is no event is not shown
	"/operations/api/v1/sagas/", "/operations/api/v1/webhook-inbox/", "/operations/api/v1/reconciliation/",
	// of the process, and of the log, which an index follows
	"/operations/api/v1/overview/", "/operations/api/v1/read-tables/", "/operations/api/v1/projections/",
	"/operations/api/v1/settings/", "/audit/log/checkpoint", "/audit/api/v1/",
	"/operations/api/v1/mail-previews/", // composed of links with the view's own address
}

// lists are the calls of the APIs that show lists.
func lists(t *testing.T, r *processtest.Process) (paths []string) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.Ask(http.StatusOK, "GET", "/api/schema/", "").Body), &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		_, reads := document.Paths[path]["get"]
		isToday := slices.ContainsFunc(todays, func(one string) bool { return strings.HasPrefix(path, one) })
		if reads && strings.Contains(path, "/api/") && !strings.Contains(path, "{") && !strings.HasSuffix(path, "/stream/") &&
			!strings.HasPrefix(path, "/storefront/") && !isToday {
			paths = append(paths, path)
		}
	}
	return paths
}

// shown are the answers to calls, without the address of the panel.
func shown(r *processtest.Process, paths []string, bearer ...string) map[string]string {
	r.T.Helper()
	all := map[string]string{}
	for _, path := range paths {
		a := r.Ask(http.StatusOK, "GET", path, "", bearer...)
		all[path] = strings.ReplaceAll(a.Body, r.Base, "http://panel")
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
func photograph(r *processtest.Process, h processtest.Home, paths []string) (m moment) {
	r.T.Helper()
	var before, after map[string]string
	defer func() {
		for path := range before {
			if r.T.Failed() && before[path] != after[path] {
				r.T.Logf("%s\nbefore: %s\nafter:  %s", path, before[path], after[path])
			}
		}
	}()
	bearer := []string{"Authorization", "Bearer " + r.SignIn(h.Demo().Superuser).Field(r.T, "access")}
	processtest.Eventually(r.T, "nothing changes", func() bool {
		before = shown(r, paths, bearer...)
		m = moment{at: time.Now(), shown: before, orders: h.Must("orders", "list", "--json")}
		after = shown(r, paths, bearer...)
		return maps.Equal(before, after)
	})
	return m
}

// buys places an order by chance and pays for it, or does not.
func buys(r *processtest.Process, d serve.Demo, chance *rand.Rand, name string) {
	r.T.Helper()
	placed := r.Ask(http.StatusCreated, "POST", "/storefront/api/orders/",
		fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, name+"@customer.example", name+".example"),
		"X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON)
	if chance.IntN(3) > 0 {
		r.Ask(http.StatusSeeOther, "POST", processtest.PathOf(r.T, placed.Field(r.T, "payment_url")), "action=pay",
			"Content-Type", processtest.AsForm)
		r.AwaitActive(placed.Field(r.T, "order_id"), d.APIKey, processtest.Patience)
	}
}

// every table of the database, but for those of views, with a digest of its rows.
func everyTable(t *testing.T, h processtest.Home) map[string]string {
	t.Helper()
	url, _ := strings.CutPrefix(h.At[0], "DATABASE_URL=")
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, _ := conn.Query(t.Context(), `select schemaname || '.' || tablename,
		format('select coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '''') from %I.%I t', schemaname, tablename)
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
var signInTables = []string{
	"public.events", "public.users", "public.refresh_families", "public.refresh_tokens",
	"public.browser_sessions", "public.rate_windows",
}

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
	h := processtest.NewHome(t)
	r, d := h.Start(), h.Demo()
	l := &livingKinds{Process: r, ids: map[string]string{}, headers: []string{
		"Authorization", "Bearer " + r.SignIn(d.Superuser).Field(t, "access"), "Content-Type", processtest.AsJSON,
	}}
	paths := lists(t, r)
	moments := []moment{photograph(r, h, paths)}
	acts := []func(){
		l.areMade, func() { buys(r, d, chance, "ana") }, func() { buys(r, d, chance, "bea") }, l.areChanged,
		l.goOffAndOn,
	}
	for i, act := range acts {
		act()
		if i == 0 || chance.IntN(2) == 0 {
			moments = append(moments, photograph(r, h, paths))
		}
	}
	l.areRemoved()
	r.Stop()
	before, mails := everyTable(t, h), len(outbox(t, h))

	for _, m := range moments {
		at := m.at.UTC().Format(time.RFC3339Nano)
		view := h.Serving("--as-of", at, "--listen", "127.0.0.1:0")
		now := shown(view, paths, "Authorization", "Bearer "+view.SignIn(d.Superuser).Field(t, "access"))
		for _, path := range paths {
			if now[path] != m.shown[path] {
				t.Errorf("%s as of %s\nthen: %s\nnow:  %s", path, at, m.shown[path], now[path])
			}
		}
		view.Stop()
		if out := h.Must("at", at, "--", "orders", "list", "--json"); out != m.orders {
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

func schemas(t *testing.T, h processtest.Home) []string {
	t.Helper()
	url, _ := strings.CutPrefix(h.At[0], "DATABASE_URL=")
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, _ := conn.Query(t.Context(), `select nspname::text from pg_namespace where nspname like 'past\_%'`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return all
}
