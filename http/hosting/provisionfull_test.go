package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

func TestConversationsAboutSitesWithEverything(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/provision/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Everything(t)
		return s.Handler, s.Known
	})
}

const (
	provisionPath = "/hosting/api/rest/sites/provision_full/"
	allOfIt       = `{"domain":"acme.example","create_dns":true,"create_mail":true,"create_ftp":true,"create_db":true,` +
		`"create_proxy":true,"ip_address":"192.0.2.7"}`
)

// A madeSite has the fields of an answer that the tests read.
type madeSite struct {
	Status string
	Steps  []struct{ Step, Status, Error string }
	Proxy  struct {
		SyncStatus string `json:"sync_status"`
	}
	Credentials *struct {
		FTP, Database struct {
			Password   string `json:"password"`
			DBPassword string `json:"db_password"`
		}
	}
}

func provision(s *paneltest.Shop, who, body string, headers ...string) *httptest.ResponseRecorder {
	return s.Call("POST", provisionPath, body, append(paneltest.Bearer(s.Known[who]), headers...)...)
}

func madeOf(t *testing.T, w *httptest.ResponseRecorder) (m madeSite) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return m
}

func (m madeSite) told() (all []string) {
	for _, step := range m.Steps {
		all = append(all, strings.TrimSpace(step.Step+" "+step.Status+" "+step.Error))
	}
	return append(all, m.Status)
}

func TestTheEngineMakesASiteWithEverything(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = time.Minute }).Start(t)
	m := madeOf(t, provision(s, "ben", allOfIt))
	if got := fmt.Sprint(m.told()); got != "[site done dns done mail done ftp done db done proxy done complete]" ||
		m.Proxy.SyncStatus != "synced" {
		t.Fatal(got, m.Proxy)
	}
	for kind, names := range map[string][]string{
		"site": {"acme.example"}, "dns_zone": {"acme.example."}, "mail_domain": {"acme.example"}, "ftp_account": {"acme_101"},
		"proxy":      {"acme.example"},
		"dns_record": {"acme.example. www.acme.example. A 0 192.0.2.7", "acme.example. acme.example. MX 10 acme.example."},
	} {
		for _, name := range names {
			if _, there, err := engine.New(s.Pool()).Find(t.Context(), kind, name, ""); !there || err != nil {
				t.Errorf("the engine has no %s %s: %v", kind, name, err)
			}
		}
	}
	for _, secret := range []string{m.Credentials.FTP.Password, m.Credentials.Database.DBPassword} {
		if n := s.Count(t, `select count(*) from events where data::text like '%' || $1 || '%'`,
			secret); n != 0 || len(secret) < 20 || strings.Contains(s.Logged.String(), secret) {
			t.Errorf("the secret %q was written down %d times", secret, n)
		}
	}
}

// A zone for a site with the address * leads to the public addresses of the installation.
// Without any it would lead nowhere.
func TestAZoneOfASiteLeadsToIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	s.Hosting.SiteAddresses = nil
	const plain = `{"domain":"%s","create_dns":true,"create_mail":true}`
	paneltest.Answers(t, "no address", provision(s, "ben", fmt.Sprintf(plain, "none.example")), http.StatusBadRequest,
		`{"ip_address":["The zone needs an address of the site, and this panel does not know which ones \"*\" stands for."]}`)
	if n := s.Count(t, `select count(*) from resources where kind <> 'tenant' and kind <> 'package'`); n != 0 {
		t.Errorf("%d records were made", n)
	}
	own := `{"domain":"own.example","create_dns":true,"ip_address":"192.0.2.7"}`
	madeOf(t, provision(s, "ben", own))
	madeOf(t, provision(s, "ben", fmt.Sprintf(plain, "own.example"))) // the site has an address
	s.Hosting.SiteAddresses = []string{"192.0.2.10", "2001:db8::10"}
	madeOf(t, provision(s, "ben", fmt.Sprintf(plain, "any.example")))
	for _, want := range []string{
		"any.example. @ A 192.0.2.10", "any.example. www A 192.0.2.10", "any.example. @ AAAA 2001:db8::10",
		"any.example. www AAAA 2001:db8::10", "own.example. @ A 192.0.2.7", "own.example. www A 192.0.2.7",
	} {
		if n := s.Count(t, `select count(*) from resources r join resources z on z.kind = 'dns_zone' `+
			`and z.id = (r.spec ->> 'zone')::bigint where r.kind = 'dns_record' and concat_ws(' ', z.spec ->> 'origin', `+
			`r.spec ->> 'name', r.spec ->> 'record_type', r.spec ->> 'data') = $1`, want); n != 1 {
			t.Errorf("%s: %d records", want, n)
		}
	}
}

func TestWhatAnEngineCannotDoFailsAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = time.Minute }).Start(t)
	no := faults.Fault{Call: faults.Create, Kind: "proxy", What: faults.Refuse}
	if _, err := engine.New(s.Pool()).Faults().Order(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	m := madeOf(t, provision(s, "ben", allOfIt))
	if got := fmt.Sprint(m.told()); got != "[site done dns done mail done ftp done db done proxy failed "+
		"refused partial]" || m.Proxy.SyncStatus != "error" {
		t.Fatal(got, m.Proxy)
	}
}

// A change of a site's name or address also changes its proxy.
func TestAProxyFollowsItsSite(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = time.Minute }).Start(t)
	m := madeOf(t, provision(s, "ben", allOfIt))
	if m.Proxy.SyncStatus != "synced" {
		t.Fatal(m.Proxy)
	}
	site := fmt.Sprint("/hosting/api/rest/sites/",
		s.Count(t, `select id from resources where kind = 'site' and spec ->> 'domain' = 'acme.example'`), "/")
	for _, step := range []struct{ change, domain, upstream string }{
		{`{"domain":"new.example"}`, "new.example", "192.0.2.7:80"},
		{`{"ip_address":"192.0.2.8"}`, "new.example", "192.0.2.8:80"},
		{`{"domain":"acme.example","ip_address":"*"}`, "acme.example", "127.0.0.1:80"},
		{`{"ssl_enabled":true}`, "acme.example", "127.0.0.1:80"},
	} {
		patched(t, s, site, step.change)
		led := `select count(*) from resources where kind = 'proxy' and sync_status = 'synced' and spec ->> 'domain' = $1 ` +
			`and spec ->> 'upstream' = $2`
		paneltest.WaitFor(t, func() bool { return s.Count(t, led, step.domain, step.upstream) == 1 })
		found, there, err := engine.New(s.Pool()).Find(t.Context(), "proxy", step.domain, "")
		if err != nil || !there || string(found.Values["upstream"]) != `"`+step.upstream+`"` {
			t.Fatalf("%s: %v %v %v", step.change, found, there, err)
		}
	}
	if n := s.Count(t, `select count(*) from events where stream like 'proxy-%' and name = 'hosting.changed'`); n != 3 {
		t.Errorf("the proxy was changed %d times", n)
	}
}
