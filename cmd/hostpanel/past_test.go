package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
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

func TestNothingCanBeChangedInAViewOfThePast(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, d := h.start(), h.demo()
	at := time.Now()
	eventually(t, "the moment is over", patience, func() bool { return time.Now().After(at) })
	view := h.serving("--as-of", at.Format(time.RFC3339Nano), "--listen", "127.0.0.1:0") // beside the panel
	bearer := []string{"Authorization", "Bearer " + view.signIn(d.Superuser).field(t, "access"), "Content-Type", asJSON}

	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	must(t, json.Unmarshal([]byte(view.ask(http.StatusOK, "GET", "/api/schema/", "").body), &document))
	signIns := []string{"login", "logout", "token_obtain", "token_refresh", "token_verify", "token_blacklist"}
	refused := 0
	for path, methods := range document.Paths {
		for method, one := range methods {
			if method == "get" || method == "parameters" || slices.Contains(signIns, one.OperationID) {
				continue
			}
			a := view.writes(strings.ToUpper(method), path, bearer)
			if a.status != http.StatusMethodNotAllowed || a.header.Get("X-Error-Code") != "view_of_the_past" || strings.Contains(a.header.Get("Allow"), strings.ToUpper(method)) {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("only %d calls change something", refused)
	}
	view.tellsThatItIsThePast(at, bearer)
	view.ask(http.StatusOK, "GET", "/audit/api/v1/streams/plan-1/events/", "", bearer...)
	if looks := r.ask(http.StatusOK, "GET", "/audit/api/v1/looks/", "", bearer...); !strings.Contains(looks.body, `"plan-1"`) {
		t.Errorf("who looked back is not recorded: %s", looks.body)
	}
	view.isForSuperusers(r, d)
	view.hasABanner(d)

	view.end(syscall.SIGKILL)
	r.stop()
	r = h.start() // which drops what the killed process has left
	r.stop()
	if left := schemas(t, h); len(left) > 0 {
		t.Error("there is still", left)
	}
}

var variable = regexp.MustCompile(`{\w+}`)

// writes makes a call with some value or other for the variables of its path.
func (r *running) writes(method, path string, bearer []string) (a answer) {
	r.t.Helper()
	const id = "0cd9962d-0ea3-46f9-9835-9fcf9bb47f2c"
	path = strings.NewReplacer("{kind}", "sites", "{uuid}", id).Replace(path)
	for _, value := range []string{"1", id, "ab12CD34", "test", "cs_test_BSb6ueh0CUm11fTZGR1iWCkq"} {
		var err error
		a, err = call(r.t.Context(), method, r.base+variable.ReplaceAllString(path, value), "{}", bearer...)
		must(r.t, err)
		if a.status != http.StatusNotFound {
			return a
		}
	}
	return a
}

func (r *running) tellsThatItIsThePast(at time.Time, bearer []string) {
	r.t.Helper()
	moment := at.UTC().Format(time.RFC3339Nano)
	a := r.ask(http.StatusOK, "GET", "/operations/api/v1/orders/", "", bearer...)
	if a.header.Get("X-As-Of") != moment {
		r.t.Error(a.header)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := r.ask(http.StatusOK, "GET", path, ""); a.body != fmt.Sprintf(`{"status":"ok","as_of":%q}`, moment) {
			r.t.Error(a.body)
		}
	}
	if figures := r.ask(http.StatusOK, "GET", "/metrics", "").body; !strings.Contains(figures, "\nhostpanel_as_of_seconds ") || strings.Contains(figures, "\nhostpanel_orders") {
		r.t.Error(figures)
	}
}

// isForSuperusers turns all others away, and says why.
func (r *running) isForSuperusers(live *running, d serve.Demo) {
	r.t.Helper()
	const only = "This is a view of the past: it is for superusers only."
	a := r.ask(http.StatusForbidden, "POST", "/api/token/", passwordLogin(d.TenantAdmin.Username, d.TenantAdmin.Password), "Content-Type", asJSON)
	b := r.ask(http.StatusForbidden, "GET", "/hosting/api/rest/sites/", "", "Authorization", "Bearer "+live.signIn(d.TenantAdmin).field(r.t, "access"))
	c := r.ask(http.StatusForbidden, "GET", "/storefront/api/plans/", "", "X-API-Key", d.APIKey)
	for _, refused := range []answer{a, b, c} {
		if !strings.Contains(refused.body, only) || refused.header.Get("X-Error-Code") != "view_of_the_past" {
			r.t.Error(refused.body)
		}
	}
	r.ask(http.StatusUnauthorized, "POST", "/api/token/", passwordLogin(d.TenantAdmin.Username, "wrong"), "Content-Type", asJSON)
	r.ask(http.StatusUnauthorized, "GET", "/hosting/api/rest/sites/", "")
}

// hasABanner signs in as a superuser at a browser, and looks at some pages.
func (r *running) hasABanner(d serve.Demo) {
	r.t.Helper()
	const banner = "You see the panel as of "
	page := r.ask(http.StatusOK, "GET", "/login/", "")
	if !strings.Contains(page.body, banner) {
		r.t.Error(page.body)
	}
	cookie := func(a answer) string { return "session=" + (&http.Response{Header: a.header}).Cookies()[0].Value }
	_, token, _ := strings.Cut(page.body, `name="form_token" value="`)
	token, _, _ = strings.Cut(token, `"`)
	enter := func(want int, who serve.Login) answer {
		sent := url.Values{"form": {"sign_in"}, "form_token": {token}, "username": {who.Username}, "password": {who.Password}}
		return r.ask(want, "POST", "/login/", sent.Encode(), "Content-Type", asForm, "Cookie", cookie(page), "Origin", r.base)
	}
	if told := enter(http.StatusForbidden, d.TenantAdmin); !strings.Contains(told.body, "it is for superusers only") {
		r.t.Error(told.body)
	}
	session := cookie(enter(http.StatusSeeOther, d.Superuser))
	for path, status := range map[string]int{"/storefront/": 200, "/storefront/orders/": 200, "/storefront/tenants/": 200, "/storefront/runs/": 200, "/account/": 200, "/storefront/nowhere/": 404} {
		if page := r.ask(status, "GET", path, "", "Cookie", session, "Accept", "text/html"); status == 200 && !strings.Contains(page.body, banner) && !strings.Contains(page.body, "Ve el panel tal como estaba") {
			r.t.Errorf("%s has no banner: %s", path, page.body)
		}
	}
	refused := r.ask(http.StatusMethodNotAllowed, "POST", "/account/", "form=profile", "Cookie", session, "Content-Type", asForm, "Origin", r.base)
	if !strings.Contains(refused.body, "nothing can be changed here") && !strings.Contains(refused.body, "no se puede cambiar nada") {
		r.t.Error(refused.body)
	}
}

// What the settings name outside counts who comes. The panel of today looks at it when it
// starts; a view of the past never does.
func TestAViewOfThePastReachesNothingOutside(t *testing.T) {
	t.Parallel()
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = outside.Close() }()
	var came atomic.Int64
	go func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_ = conn.Close()
		}
	}()
	h, d, _ := onISPConfig(t)
	h.env = append(h.env, "ISPCONFIG_URL=http://"+outside.Addr().String(), "SMTP_URL=smtp://"+outside.Addr().String())
	r := h.serving("--listen", "127.0.0.1:0")
	eventually(t, "the panel looks at what is outside", patience, func() bool { return came.Load() > 1 })
	paths := lists(t, r)
	r.stop()
	came.Store(0)

	view := h.serving("--as-of", time.Now().Format(time.RFC3339Nano), "--listen", "127.0.0.1:0")
	bearer := []string{"Authorization", "Bearer " + view.signIn(d.Superuser).field(t, "access"), "Content-Type", asJSON}
	view.shown(paths, bearer...)
	view.writes("POST", "/operations/api/v1/users/", bearer)
	view.ask(http.StatusForbidden, "GET", "/storefront/checkout/test/cs_test_BSb6ueh0CUm11fTZGR1iWCkq/", "")
	view.stop()
	if n := came.Load(); n > 0 {
		t.Errorf("the view has called outside %d times", n)
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
		{[]string{"at", "2026-11-21", "--", "user", "list"}, "user list cannot be asked about another moment: only incidents list, orders list"},
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
	if code, out, complaint := told(t, "at", "2000-01-01", "--", "plans", "list", "--json", "--data-dir", dir); code != console.Done || strings.Contains(out, "VPS 2") {
		t.Errorf("%d %s%s", code, out, complaint)
	}
	if code, _, complaint := told(t, "at", "2100-01-01", "--", "plans", "list", "--data-dir", dir); code != console.Failed || !strings.Contains(complaint, "That moment is not over yet.") {
		t.Errorf("%d %s", code, complaint)
	}
}
