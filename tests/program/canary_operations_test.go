//go:build system

package program_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/storefront"
	"hostpanel/tests/processtest"
)

// operates does what operators do with programs.
func (m *mine) operates() {
	t := m.Home.T
	su := m.superuser()
	users := "/operations/api/v1/users/"
	bo := customer{
		email: m.personal("address of a second user", "%s@staff.example"),
		name:  m.personal("name of a second user", "Bo %s"), password: m.secret("password set by an operator"),
	}
	body := fmt.Sprintf(`{"email":%q,"name":%q,"password":%q,"language":"en"}`, bo.email, bo.name, bo.password)
	made := m.call(201, "POST", users, body, append(su, "Idempotency-Key", m.secret("Idempotency-Key of an operator"))...)
	m.call(400, "POST", users, body, su...) // the address is taken
	m.call(400, "POST", users, fmt.Sprintf(`{"email":"weak@staff.example","password":%q}`, "12345678"), su...)
	m.tokens(&bo, m.call(200, "POST", "/api/token/", processtest.PasswordLogin(bo.email, bo.password)))
	one := users + strconv.FormatInt(int64(made.Number(t, "id")), 10) + "/"
	m.call(201, "POST", one+"memberships/", fmt.Sprintf(`{"tenant":%d,"role":"admin"}`, m.demo.TenantAdmin.Tenant), su...)
	m.call(200, "PATCH", one, fmt.Sprintf(`{"password":%q}`, m.secret("password changed by an operator")), su...)
	link := m.call(201, "POST", one+"reset_link/", "", su...)
	m.known("one-time link for an operator's eyes", processtest.TokenOf(t, link.Field(t, "url")))

	cy := m.personal("address of a third user", "%s@staff.example")
	m.call(201, "POST", users, fmt.Sprintf(`{"email":%q,"name":%q}`, cy, m.personal("name of a third user", "Cy %s")),
		su...)
	m.known("one-time link of "+cy, processtest.TokenOf(t, processtest.LinkIn(t, textOf(t, m.post.await(t, cy, 1)))))

	keys := append(su, "Idempotency-Key", m.secret("Idempotency-Key of a key"))
	created := m.call(201, "POST", "/operations/api/v1/api-keys/", `{"name":"By program"}`, keys...)
	m.keyIn(created.Body)
	// the answer is told again, without the key
	m.call(201, "POST", "/operations/api/v1/api-keys/", `{"name":"By program"}`, keys...)
	m.call(200, "GET", users+"?search="+bo.name[3:], "", su...)
	m.call(200, "GET", "/operations/api/v1/api-keys/", "", su...)
	m.call(412, "PATCH", one, fmt.Sprintf(`{"password":%q}`, m.secret("password for an old version")),
		append(su, "If-Match", `"user-1-999"`)...)
}

// superuser is who may do everything, as headers.
func (m *mine) superuser() []string {
	su := customer{}
	m.tokens(&su, m.call(200, "POST", "/api/token/", processtest.PasswordLogin(m.demo.Superuser.Username,
		m.demo.Superuser.Password)))
	return []string{"Authorization", "Bearer " + su.access}
}

var wholeKey = regexp.MustCompile(`sfk_(?:test|live)_[A-Za-z0-9]{8}_[A-Za-z0-9]{32}_[A-Za-z0-9]{6}`)

// keyIn is the storefront key that an answer shows, this once.
func (m *mine) keyIn(text string) string {
	key := wholeKey.FindString(text)
	if _, ok := storefront.ParseKey(key); !ok {
		m.Home.T.Fatalf("there is no key in %s", text)
	}
	m.known("secret part of a key", strings.Split(key, "_")[3])
	return m.known("new storefront key", key)
}

// ageSessions makes as if people had signed in a while ago.
func (m *mine) ageSessions() {
	_, err := m.root.Exec(m.Home.T.Context(),
		`update browser_sessions set started_at = started_at - interval '20 minutes', confirmed_at = confirmed_at - interval '20 minutes'`)
	if err != nil {
		m.Home.T.Fatal(err)
	}
}

// actsAtTheConsole opens, changes and looks at accounts from the command line.
func (m *mine) actsAtTheConsole() {
	t := m.Home.T
	email, name := m.personal("address of a console user", "%s@console.example"), m.personal("name of a console user",
		"Di %s")
	for _, does := range []struct {
		input string
		args  []string
	}{
		{m.secret("password from standard input") + "\n", []string{
			"user", "create", email, "--name", name, "--tenant", "1",
			"--role", "admin", "--password-stdin",
		}},
		{m.secret("next password from standard input") + "\n", []string{"user", "passwd", email, "--password-stdin"}},
		{"", []string{"user", "show", email}},
		{"", []string{"user", "erase", email, "--yes"}},
		{"", []string{"verify"}},
	} {
		out, complaint, code := m.Answering(does.input, does.args...)
		if code != console.Done {
			t.Errorf("hostpanel %s ended with %d: %s%s", strings.Join(does.args, " "), code, out, complaint)
		}
		fmt.Fprintln(&m.Log, complaint)
		for _, s := range m.secrets.seen("output of "+does.args[0], []byte(out+complaint)) {
			t.Errorf("%s in the %s", s.canary, s.place)
		}
	}
}

// isAskedForNonsense sends what is refused, with secrets in it.
func (m *mine) isAskedForNonsense() {
	su := m.superuser()
	m.call(400, "POST", "/api/token/", `{"username":"x","password":"`+m.secret("password in a broken body"))
	m.call(400, "POST", "/api/token/", `{"username":["x"],"password":{"a":"`+m.secret("password in a wrong place")+`"}}`)
	m.call(415, "POST", "/api/token/", "password="+m.secret("password in a form"), "Content-Type", processtest.AsForm)
	m.call(401, "GET", "/api/me/", "", "Authorization", "Basic "+m.secret("another scheme"))
	m.call(401, "GET", "/api/me/", "", "Authorization", "Bearer eyJhbGciOiJub25lIn0."+m.secret("forged token")+".")
	m.call(404, "GET", "/hosting/api/rest/nothing/?token="+m.secret("token in a query"), "", su...)
	m.call(405, "DELETE", "/api/me/", "", su...)
	m.call(400, "POST", "/operations/api/v1/api-keys/",
		`{"name":"x","mode":"none","key":"`+m.secret("key that an operator would like")+`"}`, append(su, "Idempotency-Key",
			m.secret("Idempotency-Key of nonsense"))...)
	m.call(400, "POST", "/storefront/webhooks/test/", `{"secret":"`+m.secret("forged webhook")+`"}`, "X-Test-Signature",
		m.secret("forged signature"))
	m.browser().look(400, "/set-password/?token="+m.secret("unknown link"))
}

// breaks takes a table away while people sign in, so that something crashes.
func (m *mine) breaks() {
	t := m.Home.T
	rename := func(from, to string) {
		if _, err := m.root.Exec(t.Context(), "alter table "+from+" rename to "+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("credentials", "credentials_away")
	m.call(500, "POST", "/api/token/", processtest.PasswordLogin(m.demo.Superuser.Username,
		m.secret("password in a crash")))
	rename("credentials_away", "credentials")
	m.call(200, "POST", "/api/token/", processtest.PasswordLogin(m.demo.Superuser.Username, m.demo.Superuser.Password))
}

// An exhibit is a text that the panel has left behind.
type exhibit struct{ place, text string }

// exhibits are all texts but those in the database and on the disk.
func (m *mine) exhibits() []exhibit {
	return []exhibit{
		{"standard error", m.Stderr()},
		{"standard output", m.Said.String()},
		{"bodies of refusals", m.refusals.String()},
		{"metrics", m.Ask(200, "GET", "/metrics", "").Body},
	}
}

// everythingIsSearched looks for secrets in all that the panel leaves behind.
func (m *mine) everythingIsSearched() {
	t := m.Home.T
	var found []sighting
	for _, x := range m.exhibits() {
		found = append(found, m.secrets.seen(x.place, []byte(x.text))...)
	}
	found = append(found, m.secrets.inTables(t, m.root)...)
	found = append(found, m.onDisk(m.secrets)...)
	for _, l := range m.post.all() {
		for _, s := range m.secrets.seen("a letter to "+l.to, []byte(l.text+textOf(t, l.text))) {
			if s.canary != "one-time link of "+l.to {
				found = append(found, s)
			}
		}
	}
	t.Logf("%d secrets were looked for in %d bytes of log and everywhere else", len(m.secrets), len(m.Stderr()))
	for _, s := range distinct(found) {
		t.Errorf("%s stands in %s", s.canary, s.place)
	}
}

// onDisk looks into all files but those that are there to keep secrets.
func (m *mine) onDisk(f flock) []sighting {
	t := m.Home.T
	if err := settled(t.Context(), m.root); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(f.inFiles(t, m.Dir, "demo.json", "secret.key"), f.inFiles(t, m.database, "postgres.password"))
}

// The places in which the panel keeps what is known about people, to show it.
var showsPeople = []string{
	"public.users.", "public.orders.", "public.resources.", "public.names.", "public.notifications.", "public.invoices.",
	"public.webhook_endpoints.", "sandbox_engine.",
}

// After the erasure only what the law wants kept is left, and what stands
// outside the panel: on the engine, which the sandbox plays.
var outlivesPeople = []string{"public.invoices.", "sandbox_engine."}

func (m *mine) peopleAreInReadTablesAlone() {
	found := m.peopleAreOnlyIn(showsPeople)
	for _, certain := range []sighting{
		{"address", "public.users.email"},
		{"phone", "public.orders.customer_phone"},
		{"tax id", "public.orders.customer_tax_id"},
		{
			"tax id",
			"public.invoices.customer_tax_id",
		},
		{"later token in an address", "public.webhook_endpoints.url"},
	} {
		if !slices.Contains(found, certain) {
			m.Home.T.Errorf("%s is not found in %s, where it certainly stands", certain.canary, certain.place)
		}
	}
}

func (m *mine) peopleAreNowhere() { m.peopleAreOnlyIn(outlivesPeople) }

func (m *mine) peopleAreOnlyIn(places []string) []sighting {
	t := m.Home.T
	found := m.people.inTables(t, m.root)
	for _, x := range m.exhibits() {
		if x.place != "bodies of refusals" { // which show those who asked what they asked
			found = append(found, m.people.seen(x.place, []byte(x.text))...)
		}
	}
	for _, s := range distinct(found) {
		if !slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(s.place, p) }) {
			t.Errorf("%s stands in %s", s.canary, s.place)
		}
	}
	return found
}

// erases everybody.
func (m *mine) erases(c *customer) {
	t := m.Home.T
	su := m.superuser()
	var all struct {
		Results []struct {
			ID          int64
			IsSuperuser bool `json:"is_superuser"`
		}
	}
	listed := m.call(200, "GET", "/operations/api/v1/users/?page_size=100", "", su...)
	if err := json.Unmarshal([]byte(listed.Body), &all); err != nil || !strings.Contains(listed.Body, c.email) {
		t.Fatalf("%v: %s", err, listed.Body)
	}
	for _, u := range all.Results {
		path := fmt.Sprintf("/operations/api/v1/users/%d/", u.ID)
		if u.IsSuperuser {
			m.call(409, "DELETE", path, "", su...) // the last one
			continue
		}
		m.call(204, "DELETE", path, "", su...)
	}
	m.call(401, "POST", "/api/token/", processtest.PasswordLogin(c.email, c.password))
}

// wouldBeFound is the proof that the searches above search: what certainly
// stands in a place is found there.
func (m *mine) wouldBeFound() {
	t := m.Home.T
	var known flock
	planted := "planted-" + rand.Text()
	known.add("id of a request", planted)
	m.call(201, "POST", "/operations/api/v1/api-keys/", `{"name":"Planted"}`,
		append(m.superuser(), "X-Request-ID", planted)...)
	processtest.Eventually(t, "the call is logged", func() bool { return strings.Contains(m.Stderr(), planted) })
	sum := sha256.Sum256([]byte(m.demo.APIKey))
	known.add("hash of a key", string(sum[:]))
	known.add("what the program says", "hostpanel is ready")
	known.add("what it counts", "hostpanel_log_position")
	known.add("what it refuses", "No active account found")
	if err := os.WriteFile(filepath.Join(m.Dir, "planted"), []byte(planted), 0o600); err != nil {
		t.Fatal(err)
	}
	var found []sighting
	for _, x := range m.exhibits() {
		found = append(found, known.seen(x.place, []byte(x.text))...)
	}
	found = slices.Concat(found, known.inTables(t, m.root), m.onDisk(known))
	for _, want := range []sighting{
		{"id of a request", "standard error"},
		{"what the program says", "standard output"},
		{"what it counts", "metrics"},
		{"what it refuses", "bodies of refusals"},
		{"id of a request", "public.events."},
		{"hash of a key", "public.api_keys."},
		{"id of a request", "file /planted"},
		{"id of a request", "file /postgres/"},
	} {
		if !slices.ContainsFunc(found, func(s sighting) bool {
			return s.canary == want.canary &&
				strings.HasPrefix(s.place, want.place)
		}) {
			t.Errorf("%s is not found in %s, where it certainly stands", want.canary, want.place)
		}
	}
	if len(m.post.all()) < 3 {
		t.Errorf("%d letters are too few to be searched", len(m.post.all()))
	}
}
