//go:build system

package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// Simultaneous requests never exceed the package's limit. The refused ones are
// told the limit, and what there is can be changed at its limit too.
func TestAHundredRequestsAtOnceDoNotPassALimit(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits()}
	pack.Limits = pack.Limits.With("sites", 5)
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"package": []byte("1")}})
	answers := make([]*httptest.ResponseRecorder, 100)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = as(s, "ben", "POST", "sites/", fmt.Sprintf(`{"domain":"s%d.example"}`, i)) })
	}
	all.Wait()
	made := 0
	for _, w := range answers {
		switch {
		case w.Code == http.StatusCreated:
			made++
		case w.Code != http.StatusBadRequest ||
			w.Body.String() != `{"non_field_errors":["Limit reached: sites (5 of 5)."]}` ||
			w.Header().Get("X-Error-Code") != "quota_exceeded":
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if there := s.Count(t, `select count(*) from resources where kind = 'site'`); made != 5 || there != 5 {
		t.Errorf("%d were made, %d are there", made, there)
	}
	if w := as(s, "ben", "PATCH", "sites/1/", `{"ssi":true}`); w.Code != http.StatusOK {
		t.Errorf("a change at the limit: %d %s", w.Code, w.Body)
	}
}

func TestAHundredRequestsAtOnceMakeNoSubTenantTooMany(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	const room, requests = 7, 100
	reseller(t, s, room, false)
	var made, full atomic.Int64
	var all errgroup.Group
	for i := range requests {
		all.Go(func() error {
			for {
				w := s.Call("POST", tenantsAPI, fmt.Sprintf(`{"name":"Client %d","email":"client@example.com"}`, i),
					paneltest.Bearer(s.Known["ana"])...)
				switch w.Code {
				case http.StatusCreated:
					made.Add(1)
				case http.StatusBadRequest:
					if want := `{"non_field_errors":["Limit reached: hosting_accounts (7 of 7)."]}`; w.Body.String() != want ||
						w.Header().Get("X-Error-Code") != "quota_exceeded" {
						return fmt.Errorf("%s", w.Body)
					}
					full.Add(1)
				case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
					time.Sleep(10 * time.Millisecond)
					continue
				default:
					return fmt.Errorf("%d %s", w.Code, w.Body)
				}
				return nil
			}
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if there := s.Count(t, `select count(*) from resources where kind = 'tenant' and parent = 1`); made.Load() != room ||
		there != room || full.Load() != requests-room {
		t.Errorf("%d made, %d there, %d refused", made.Load(), there, full.Load())
	}
	stats := paneltest.Answered[map[string]json.RawMessage](t,
		s.Call("GET", paneltest.TenantOne+"stats/", "", paneltest.Bearer(s.Known["ana"])...))
	got := fmt.Sprintf("%s %s %s", stats["hosting_accounts"], stats["vms"], stats["agents"])
	if got != `{"used":7,"limit":7} {"used":0,"limit":7} {"used":0,"limit":2}` {
		t.Error(got)
	}
	// Who removes one may make another; operators are not limited.
	page := paneltest.Answered[tenantPage](t,
		s.Call("GET", tenantsAPI+"?search=client", "", paneltest.Bearer(s.Known["ana"])...))
	s.Answers(t, "DELETE", fmt.Sprint(tenantsAPI, page.Results[0].ID, "/"), "", map[string]int{"ana": 204})
	s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 201})
	s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 400})
	s.Answers(t, "POST", tenantsAPI, `{"name":"Client","email":"client@example.com","parent":1}`,
		map[string]int{"root": 201})
}

// Every kind has its pages, in both languages: the list, the form, a record and its form.
func TestThePagesOfEveryKindAreForEverybody(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Hosting.NameServers = []string{"ns1.panel.example."}
	s.People(t)
	s.OneOfEach(t, 1, 1)
	look := hosting.WhiteLabel{
		BrandName: "Brand", PrimaryColor: "#4F46E5", SecondaryColor: "#10B981",
		SidebarBGColor: "#1F2937", SidebarColor: "#F9FAFB", IsActive: true,
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()},
		paneltest.Endpoint(1, 1))
	s.Do(t, hosting.Decline{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Code: "password_weak"})
	for _, language := range []string{"en", "es"} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		b := s.Visiting(t, paneltest.Ana)
		pages := 0
		for _, kind := range append(hosting.Kinds,
			hosting.Kind{Collection: "webhook-endpoints", Plurals: map[string]string{}, Verbs: hosting.All}) {
			if !kind.HasPages() {
				continue
			}
			for _, path := range []string{"", "new/", "1/", "1/edit/"} {
				if path == "1/edit/" && kind.Verbs&hosting.Patch == 0 || path == "new/" && kind.Verbs&hosting.Create == 0 {
					continue
				}
				pages++
				w := b.Get("/panel/" + kind.Collection + "/" + path)
				if w.Code != http.StatusOK {
					t.Errorf("%s%s: %d %s", kind.Collection, path, w.Code, w.Body)
				}
				b.IsForEverybody(t, language, w.Body.String())
				if path == "1/" && !strings.Contains(paneltest.Past(w.Body.String()), "<li id=") {
					t.Errorf("the page of one of %s has no history", kind.Collection)
				}
			}
		}
		if pages < 40 {
			t.Errorf("only %d pages", pages)
		}
		paneltest.Has(t, b.Get("/panel/mailboxes/1/").Body.String(),
			map[string]string{
				"en": "The server wants a stronger password.",
				"es": "El servidor exige una contraseña más fuerte.",
			}[language])
	}
}

// A request with wait gets the result, and the tenant shows the time of it.
func TestAComparisonCanBeWaitedFor(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t).Start(t)
	settled := func(query string) map[string]any {
		t.Helper()
		return paneltest.Answered[map[string]any](t,
			s.Call("POST", "/hosting/api/rest/tenants/1/sync/?wait=true", query, paneltest.Bearer(s.Known["ana"])...))
	}
	var found map[string]any
	for range 2 { // the first comparison may still find pending changes
		found = settled(`{}`)
	}
	if fmt.Sprint(found["tenant"], found["created"], found["missing"], found["drift"]) != "1 0 0 []" ||
		found["job_id"] != nil || found["synced_at"] == nil {
		t.Fatal(found)
	}
	if _, err := s.Owner.Exec(
		t.Context(), `delete from sandbox_engine.objects where kind = 'site' and name = 'bread.example'`,
	); err != nil {
		t.Fatal(err)
	}
	if found = settled(`{"dry_run":true}`); fmt.Sprint(found["created"], found["missing"]) != "1 1" {
		t.Error(found)
	}
	if found = settled(`{}`); fmt.Sprint(found["created"], found["missing"]) != "1 1" {
		t.Error(found)
	}
	tenant := paneltest.Answered[map[string]any](t,
		s.Call("GET", "/hosting/api/rest/tenants/1/", "", paneltest.Bearer(s.Known["ana"])...))
	if tenant["last_synced_at"] == nil {
		t.Error(tenant)
	}
}

// A password is sent to the engine and stored nowhere.
func TestPasswordsOfResourcesAreNowhere(t *testing.T) {
	t.Parallel()
	s := running(t)
	const secret = "unmistakable-9c1f-secret"
	site := bodyOf(t, as(s, "ben", "POST", "sites/", `{"domain":"bread.example"}`), http.StatusCreated)["id"]
	mail := bodyOf(t, as(s, "ben", "POST", "mail-domains/", `{"domain":"bread.example"}`), http.StatusCreated)["id"]
	for path, body := range map[string]string{
		"mailboxes/":    fmt.Sprintf(`{"mail_domain":%v,"local_part":"ana","password":%q}`, mail, secret),
		"ftp-accounts/": fmt.Sprintf(`{"site":%v,"username":"deploy","password":%q}`, site, secret),
		"shell-users/":  fmt.Sprintf(`{"site":%v,"username":"bread","password":%q}`, site, secret),
		"databases/":    fmt.Sprintf(`{"name":"shop","db_password":%q}`, secret),
	} {
		made := bodyOf(t, as(s, "ben", "POST", path, body, "Idempotency-Key", "once"), http.StatusCreated)
		if made["sync_status"] != "synced" || strings.Contains(fmt.Sprint(made), secret) {
			t.Errorf("%s: %v", path, made)
		}
		if path != "databases/" {
			one := fmt.Sprintf("%s%v/", path, made["id"])
			changed := bodyOf(t, as(s, "ben", "PATCH", one, fmt.Sprintf(`{"password":"%s-2"}`, secret)), http.StatusOK)
			kept := bodyOf(t, as(s, "ben", "PATCH", one, `{"quota_mb":5}`), http.StatusOK)
			if changed["sync_status"] != "synced" || kept["sync_status"] != "synced" {
				t.Errorf("%s: %v, %v", path, changed, kept)
			}
		}
	}
	for _, of := range tables(t, s) {
		if n := s.Count(t, `select count(*) from `+of+` r where r::text like '%' || $1 || '%'`, secret); n > 0 {
			t.Errorf("%d rows of %s have the secret", n, of)
		}
	}
	if strings.Contains(s.Logged.String(), secret) {
		t.Error("the secret was logged")
	}
}

// The life cycle of a certificate at the sandbox engine, from the first request
// to the second certificate.
func TestASiteGetsItsCertificate(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = 5 * time.Second }).People(t)
	s.Start(t)
	site := say(t, s, "POST", "sites/", `{"domain":"bread.example"}`, http.StatusCreated)
	first := say(t, s, "POST", fmt.Sprintf("sites/%d/request_ssl/", site.ID), "", http.StatusAccepted)
	one := fmt.Sprintf("ssl-certificates/%d/", first.ID)
	s.Until(t, "it is issued", func() bool { return say(t, s, "GET", one, "", http.StatusOK).Status == "issued" })
	issued := say(t, s, "GET", one, "", http.StatusOK)
	if issued.Days != 89 || !issued.Expires.After(time.Now()) {
		t.Errorf("%+v", issued)
	}
	s.Until(t, "the site serves HTTPS", func() bool {
		return say(t, s, "GET", fmt.Sprintf("sites/%d/", site.ID), "", http.StatusOK).SSLEnabled
	})
	say(t, s, "POST", one+"renew/", "", http.StatusAccepted)
	s.Until(t, "it is issued anew", func() bool {
		return say(t, s, "GET", one, "",
			http.StatusOK).Expires.After(issued.Expires)
	})

	cert, key := brought(t, time.Now(), "shop.bread.example")
	own := say(t, s, "POST", "ssl-certificates/",
		fmt.Sprintf(`{"site":%d,"cert_type":"custom","domain":"shop.bread.example","certificate":"%s","private_key":"%s"}`,
			site.ID, inJSON(cert), inJSON(key)), http.StatusCreated)
	two := fmt.Sprintf("ssl-certificates/%d/", own.ID)
	s.Until(t, "one's own is installed", func() bool { return say(t, s, "GET", two, "", http.StatusOK).Days == 364 })
	s.Until(t, "the engine alone has it", func() bool {
		return s.Count(t,
			`select count(*) from secret_handoff where purpose = 'engine'`) == 0
	})
	say(t, s, "DELETE", one, "", http.StatusNoContent)
	say(t, s, "DELETE", two, "", http.StatusNoContent)
	s.Until(t, "the engine has none", func() bool {
		return s.Count(t, `select count(*) from sandbox_engine.objects where kind = 'ssl_certificate'`) == 0
	})
}

// A restored site has the state that it had before: disabled parts stay
// disabled. The restore is refused if another site has its domain by then.
func TestASiteComesOutOfTheBinAsItWentIn(t *testing.T) {
	t.Parallel()
	s := running(t)
	number := bodyOf(t, as(s, "ben", "POST", "sites/", `{"domain":"bread.example","ssl_enabled":true}`),
		http.StatusCreated)["id"]
	site := fmt.Sprintf("sites/%v/", number)
	account := func(name string, active bool) string {
		body := fmt.Sprintf(`{"site":%v,"username":%q,"password":%q,"is_active":%v}`, number, name, paneltest.GoodPassword,
			active)
		return fmt.Sprintf("ftp-accounts/%v/",
			bodyOf(t, as(s, "ben", "POST", "ftp-accounts/", body), http.StatusCreated)["id"])
	}
	all := []string{site, account("on", true), account("off", false)}
	look := func() (seen []string) {
		for _, path := range all {
			one := bodyOf(t, as(s, "ben", "GET", path, ""), http.StatusOK)
			delete(one, "updated_at")
			seen = append(seen, fmt.Sprint(one))
		}
		return seen
	}
	before := look()
	if w := as(s, "ben", "DELETE", site, ""); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	bodyOf(t, as(s, "root", "POST", site+"restore/", "{}"), http.StatusOK)
	settled(t, s)
	if after := look(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v\nbecame\n%v", before, after)
	}
	if w := as(s, "ben", "DELETE", site, ""); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	ordered := hosting.Site{Domain: "bread.example", IPAddress: "*", IsActive: true}
	s.Do(t, hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: 999}, Tenant: 2,
		Spec: ordered.Fields().Values(),
	}) // as an order would
	w := as(s, "root", "POST", site+"restore/", "{}")
	if w.Code != http.StatusBadRequest || w.Body.String() != `{"domain":["site with this domain already exists."]}` {
		t.Error(w.Code, w.Body)
	}
}

// What is removed of a kind with a bin is brought back by operators as it was.
func TestASiteIsChangedRemovedAndBroughtBackInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b, operator := s.Visiting(t, paneltest.Ben), s.Visiting(t, paneltest.Root)
	site := b.Makes("sites", "domain", "bread.example")
	b.Get(site + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "ssl_enabled", "true", "is_active", "true"), site)
	paneltest.Has(t, b.Get(site).Body.String(), "It has been changed.", "<dt>HTTPS</dt><dd>On, without a certificate yet</dd>")
	path, sent := b.Fill("panel_remove")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), "/panel/sites/")
	paneltest.Goes(t, twin.Do("POST", path, sent.Encode()), "/panel/sites/")
	if w := b.Get(site); w.Code != http.StatusNotFound {
		t.Errorf("it is still there: %d", w.Code)
	}
	paneltest.Has(t, operator.Get(site).Body.String(), "This is in the bin.")
	paneltest.Goes(t, operator.Send("panel_restore"), site)
	paneltest.Has(t, b.Get(site).Body.String(), "bread.example", "<dt>HTTPS</dt><dd>On, without a certificate yet</dd>")
}

// A password that was made up is shown once, to the one who has sent the form first.
func TestAGeneratedPasswordIsShownOnceInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.Visiting(t, paneltest.Ben)
	if text := b.Get("/panel/mailboxes/new/").Body.String(); strings.Contains(text, "keep the present one") {
		t.Error("a new mailbox has a present password")
	}
	b.Get("/panel/databases/new/")
	path, sent := b.Fill("panel_create", "name", "shop")
	twin := b.Twin()
	text := b.Do("POST", path, sent.Encode()).Body.String()
	paneltest.Has(t, text, "Copy this now", "Password of the database")
	b.IsForEverybody(t, "en", text)
	again := twin.Do("POST", path, sent.Encode())
	page := paneltest.Attribute(paneltest.Elements(b.Page, "main")[0], "id")
	if again.Code != http.StatusSeeOther || page != "content" ||
		s.Count(t, `select count(*) from resources where kind = 'database'`) != 1 {
		t.Errorf("sent again: %d %s", again.Code, again.Body)
	}
	if text := b.Get(again.Header().Get("Location")).Body.String(); strings.Contains(text, "Password of the database") {
		t.Errorf("the password is shown again: %s", text)
	}
}

// Members, administrators of other tenants and those of a sub-tenant reach none of it.
func TestStrangersHaveNoPagesOfSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	if w := s.Visiting(t, paneltest.Ana).Get(paneltest.SubTenantPages); w.Code != http.StatusForbidden {
		t.Errorf("without a SaaS service: %d", w.Code)
	}
	paneltest.Has(t, s.Visiting(t, paneltest.Ana).Get("/panel/").Body.String(), "Webhooks")
	if text := s.Visiting(t, paneltest.Ana).Get("/panel/").Body.String(); strings.Contains(text,
		paneltest.SubTenantPages) {
		t.Error("the start leads to pages that are not there")
	}
	reseller(t, s, 3, false)
	_, id := subTenant(t, s, "One")
	_, other := subTenant(t, s, "Two")
	s.Person(t, 90, "carl@example.com", false)
	s.Do(t, account.GrantMembership{User: 90, Tenant: id, Role: account.Admin, At: time.Now()})
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	saas := hosting.SaaSLimits{MaxHostingAccounts: 5}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 3}, Spec: saas.Fields().Values()})
	for who, want := range map[int64][2]int{
		paneltest.Ben: {403, 403}, // a member of the parent
		90:            {403, 403}, // administers the sub-tenant
		paneltest.Eve: {200, 404}, // administers another reseller
	} {
		b := s.Visiting(t, who)
		token := tokenOf(t, s, b)
		w := b.Get(paneltest.SubTenantPages)
		leaks := strings.Contains(w.Body.String(), "One") && who != 90 // whose page says for whom it is
		if w.Code != want[0] || leaks || strings.Contains(w.Body.String(), "Two") {
			t.Errorf("the list for %d: %d %s", who, w.Code, w.Body)
		}
		for _, of := range []int64{id, other, 1, 2} {
			page := fmt.Sprint(paneltest.SubTenantPages, of, "/")
			for path, forms := range map[string][]string{
				page:           {"", "panel_remove", "suspend_tenant", "resume_tenant"},
				page + "edit/": {"", "panel_change"},
			} {
				for _, form := range forms {
					method, body := "GET", ""
					if form != "" {
						method, body = "POST", "form="+form+"&number=x&name=Mine&form_token="+token
					}
					if w := b.Do(method, path, body); w.Code != want[1] {
						t.Errorf("%s %s %s as %d: %d", method, path, form, who, w.Code)
					}
				}
			}
		}
		if w := b.Get(paneltest.SubTenantPages + "new/"); w.Code != want[0] {
			t.Errorf("the form for %d: %d", who, w.Code)
		}
	}
	b := s.Visiting(t, paneltest.Ana)
	for _, of := range []int64{1, 2, 3} { // their own, one of which they are a member, and another
		if w := b.Get(fmt.Sprint(paneltest.SubTenantPages, of, "/")); w.Code != http.StatusNotFound {
			t.Errorf("%d is shown as a sub-tenant: %d", of, w.Code)
		}
	}
	if got := reasons(t, s, id) + reasons(t, s, other); got != "active[]active[]" {
		t.Error(got)
	}
}

// The form offers the default package and that of the parent; what operators alone set
// is not asked for, and an operator's suspension stays.
func TestAResellerChoosesAmongTheAllowedPackagesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 5, false)
	root := paneltest.Bearer(s.Known["root"])
	b := s.Visiting(t, paneltest.Ana)
	bare := b.Makes("sub-tenants", "name", "Bare", "email", "bare@example.com")
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "city", "Vigo"), bare) // there is no package to choose
	usual := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Usual","max_sites":2,"is_default":true}`,
		root...))
	large := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Large"}`, root...))
	text := b.Get(paneltest.SubTenantPages + "new/").Body.String()
	paneltest.Has(t, text, fmt.Sprintf(`<option value="%d"`, usual))
	for _, other := range []string{"Large", `name="username"`, `name="parent"`, `name="status"`, `name="is_active"`} {
		if strings.Contains(text, other) {
			t.Errorf("the form has %s", other)
		}
	}
	page := b.Makes("sub-tenants", "name", "One", "email", "one@example.com")
	paneltest.Has(t, b.Get(page).Body.String(), "Usual", "0 of 2")
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "one@example.com · Usual · Sites: 0 of 2")
	b.Get(page + "edit/")
	paneltest.Refused(t, b.Send("panel_change", "package", strconv.FormatInt(large, 10)), http.StatusBadRequest,
		"does not exist")
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "city", "Lugo"), bare) // it stays without a package
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "package", strconv.FormatInt(usual, 10)), bare)
	paneltest.Has(t, b.Get(bare).Body.String(), "Usual")

	patched(t, s, fmt.Sprint(tenantsAPI, numberIn(t, page), "/"), `{"status":"suspended"}`)
	b.Get(page)
	paneltest.Refused(t, b.Send("resume_tenant"), http.StatusBadRequest, "An operator has suspended this tenant.")
}

// Whose records are written all the time is suspended all the same, and at
// once. The records follow, and so they do when the tenant is active again.
func TestATenantIsSuspendedHoweverBusyItIs(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	const sites = 8
	for n := range int64(sites) {
		spec := (&hosting.Site{Domain: fmt.Sprint("s", n, ".example"), IsActive: true}).Fields().Values()
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: n}, Tenant: 1, Spec: spec})
	}
	whileAllAreWritten := func(do func()) {
		halt, still := make(chan struct{}), errgroup.Group{}
		for n := range int64(sites) {
			still.Go(func() error { return keepWriting(s, t.Context(), hosting.Ref{Kind: "site", ID: n}, halt) })
		}
		do()
		close(halt)
		if err := still.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	whileAllAreWritten(func() { patched(t, s, paneltest.TenantOne, `{"status":"suspended"}`) })
	if n := s.Count(t, `select count(*) from resources where kind = 'tenant' and id = 1 and spec ->> 'status' = 'suspended'`); n != 1 {
		t.Fatal("the tenant is not suspended")
	}
	s.Start(t)
	resting := `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`
	paneltest.WaitFor(t, func() bool { return s.Count(t, resting) == sites })
	whileAllAreWritten(func() { patched(t, s, paneltest.TenantOne, `{"status":"active"}`) })
	paneltest.WaitFor(t, func() bool { return s.Count(t, resting) == 0 })
}

// The page tells what is in the data and what is not, and leads to the file. A link in a
// mail leads an administrator who acts for another tenant to the choice of this one.
func TestThePageOfTheExportIsFoundByAdministratorsAlone(t *testing.T) {
	t.Parallel()
	s := twoTenantsWithAll(t)
	own, _ := s.Billed(t, 3)
	open := s.Owes(t, 1, uuid.NewSHA1(uuid.NameSpaceOID, []byte{1}))
	const page = "/panel/tenants/1/export/"
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get("/panel/").Body.String(), `<a href="`+page+`">Download all data</a>`)
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "Bread &amp; Co", `href="`+exportOne+`"`, "Open invoices", web.InvoicesPath+open.String()+"/",
		"are not in it")
	if strings.Contains(text, own.String()) {
		t.Error("it names an invoice of another tenant")
	}
	if w := b.Get(exportOne); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/zip" {
		t.Error(w.Code, w.Header())
	}
	member := s.Visiting(t, paneltest.Ben)
	if text := member.Get("/panel/").Body.String(); strings.Contains(text, "/export/") {
		t.Error("a member is shown the link")
	}
	for user, want := range map[int64]int{paneltest.Ben: http.StatusForbidden, paneltest.Eve: http.StatusNotFound} {
		if w := s.Visiting(t, user).Get(page); w.Code != want {
			t.Errorf("user %d: %d", user, w.Code)
		}
	}
	s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: 2, Role: account.Admin, At: time.Now()})
	paneltest.Goes(t, s.Visiting(t, paneltest.Ana).Get("/panel/tenants/2/export/"),
		"/panel/tenants/?next=%2Fpanel%2Ftenants%2F2%2Fexport%2F&search=Cheese")
	paneltest.Has(t, s.Visiting(t, paneltest.Root).Get("/storefront/tenants/1/").Body.String(), `<a href="`+page+`">`)
}

func TestNoLimitIsPassedByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	answers := s.AtOnce(8, func(i int) *httptest.ResponseRecorder {
		return provision(s, "root", fmt.Sprintf(`{"tenant":2,"domain":"n%d.example","create_mail":true,"create_db":true}`, i))
	})
	paneltest.Wins(t, answers, http.StatusCreated, `400 {"non_field_errors":["Limit reached: sites (1 of 1)."]}`)
	if n := s.Count(t, `select count(*) from resources where tenant = 2 and kind in ('site', 'mail_domain', 'database')`); n != 3 {
		t.Fatalf("%d records", n)
	}
}

// Operators who act for a reseller use the same pages.
func TestAnOperatorWhoActsForAResellerSeesItsSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 1, false)
	_, id := subTenant(t, s, "One")
	b := s.Visiting(t, paneltest.Root)
	paneltest.Goes(t, b.Get(paneltest.SubTenantPages), "/panel/tenants/")
	paneltest.Goes(t, b.Get(fmt.Sprint(paneltest.SubTenantPages, id, "/")), "/panel/tenants/")
	b.Get("/panel/tenants/")
	paneltest.Goes(t, b.Send("1"), "/panel/")
	text := b.Get(paneltest.SubTenantPages).Body.String()
	paneltest.Has(t, text, "In use: 1 of 1", "One")
	if strings.Contains(text, "Cheese") {
		t.Error("the list shows other tenants")
	}
	page := b.Makes("sub-tenants", "name", "Two", "email", "two@example.com") // without the limit
	paneltest.Has(t, b.Get(page).Body.String(), "Two", `badge active">In service`)
	if status := reasons(t, s, numberIn(t, page)); status != "active[]" {
		t.Error(status)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("suspend_tenant"), page)
}

// Who belongs to the parent alone comes back from a sub-tenant by the same link.
func TestAResellerComesBackFromASubTenant(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 3, false)
	_, id := subTenant(t, s, "One")
	s.Do(t, account.GrantMembership{User: paneltest.Ben, Tenant: 1, Role: account.Admin, At: time.Now()})
	b := s.Visiting(t, paneltest.Ben)
	const change = `<a href="/panel/tenants/">Change</a>`
	if strings.Contains(b.Get("/panel/").Body.String(), change) {
		t.Error("there is a choice of one tenant")
	}
	b.Get(fmt.Sprint(paneltest.SubTenantPages, id, "/"))
	paneltest.Goes(t, b.Send(strconv.FormatInt(id, 10)), "/panel/")
	paneltest.Has(t, b.Get("/panel/").Body.String(), change, "One")
	b.Get("/panel/tenants/")
	paneltest.Goes(t, b.Send("1"), "/panel/")
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "One")
}

// Of many equal requests at once, one creates the site and the others find it.
func TestOfManyEqualProvisionsOneIsMade(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	shown := 0
	for _, w := range s.AtOnce(6, func(int) *httptest.ResponseRecorder { return provision(s, "ben", allOfIt) }) {
		if madeOf(t, w).Credentials != nil {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("credentials were shown %d times", shown)
	}
	for _, kind := range []string{"site", "dns_zone", "mail_domain", "ftp_account", "database", "proxy"} {
		if n := s.Count(t, `select count(*) from events where name = 'hosting.requested' and stream like $1 || '-%'`,
			kind); n != 1 {
			t.Errorf("%d of %s", n, kind)
		}
	}
}

func TestASubTenantThatComesToASuspendedParentRests(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Start(t)
	s.PastPeople(t)
	patched(t, s, paneltest.TenantOne, `{"status":"suspended"}`)
	w := s.Call("POST", tenantsAPI, `{"name":"Late","email":"l@example.com","parent":1}`,
		paneltest.Bearer(s.Known["root"])...)
	made := numberOf(t, w)
	paneltest.WaitFor(t, func() bool { return reasons(t, s, made) == "active[parent]" })
	s.Do(t, hosting.Change{
		Ref:  hosting.Ref{Kind: "tenant", ID: 1},
		Spec: field.Values{"status": field.AppendText(nil, "active")},
	})
	paneltest.WaitFor(t, func() bool { return reasons(t, s, made) == "active[]" })
}

// A repeat after a crash builds the lost answer from the stored records, without
// the generated credentials.
func TestAnAnswerThatWasLostTellsOfWhatWasMade(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	first := madeOf(t, provision(s, "ben", allOfIt, "Idempotency-Key", "lost"))
	if _, err := s.Owner.Exec(t.Context(), `update once_keys set body = null, running_until = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	again := madeOf(t, provision(s, "ben", allOfIt, "Idempotency-Key", "lost"))
	if fmt.Sprint(again.told()) != fmt.Sprint(first.told()) || first.Credentials == nil || again.Credentials != nil {
		t.Fatal(first, again)
	}
	if n := s.Count(t, `select count(*) from events where name = 'hosting.requested' and stream like 'site-%'`); n != 1 {
		t.Fatalf("%d sites", n)
	}
}

// Others being faster changes nothing about what is unique.
func TestTwoConfigurationsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	var all sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = s.Call("POST", "/hosting/api/rest/whitelabel/", `{"brand_name":"Bread"}`,
				append(paneltest.Bearer(s.Known["ana"]), "Content-Type", "application/json")...)
		})
	}
	all.Wait()
	paneltest.Wins(t, answers, http.StatusCreated,
		`400 {"tenant":["white label config with this tenant already exists."]}`)
}

// Simultaneous requests for a site's certificate get the same certificate.
func TestRequestsForACertificateAtOnceAreOneOrder(t *testing.T) {
	t.Parallel()
	s := secured(t)
	var all sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = s.Call("POST", "/hosting/api/rest/sites/4/request_ssl/", "", paneltest.Bearer(s.Known["ben"])...)
		})
	}
	all.Wait()
	for _, w := range answers {
		if w.Code != http.StatusAccepted || w.Header().Get("Location") != answers[0].Header().Get("Location") {
			t.Errorf("%d %s %s", w.Code, w.Header().Get("Location"), w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from resources where kind = 'ssl_certificate' and (spec ->> 'site')::bigint = 4`); n != 1 {
		t.Errorf("%d certificates", n)
	}
}

func TestATenantHasTenEndpointsHoweverManyAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	made, refused := 0, 0
	for _, w := range s.AtOnce(16, func(i int) *httptest.ResponseRecorder {
		return hook(t, s, "ana", fmt.Sprintf(`{"url":"https://hooks.example.com/%d"}`, i))
	}) {
		switch {
		case w.Code == http.StatusCreated:
			made++
		case w.Code == http.StatusBadRequest && w.Header().Get("X-Error-Code") == "quota_exceeded":
			refused++
			paneltest.Has(t, w.Body.String(), `{"non_field_errors":["Limit reached: webhook_endpoints (10 of 10)."]}`)
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if made != webhook.MaxEndpoints || refused != 6 {
		t.Errorf("%d made, %d refused", made, refused)
	}
	if w := hook(t, s, "eve", `{"url":"https://hooks.example.com/"}`); w.Code != http.StatusCreated {
		t.Errorf("another tenant: %d %s", w.Code, w.Body)
	}
}
