package hosting_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// patched changes a tenant as root does.
func patched(t *testing.T, s *paneltest.Shop, path, body string) {
	t.Helper()
	if w := s.Call("PATCH", path, body, paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", path, body, w.Code, w.Body)
	}
}

// standing is what runs of a tenant, and why the rest does not, by stream.
func standing(t *testing.T, s *paneltest.Shop, refs []hosting.Ref) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, ref := range refs {
		found, err := s.For(projections.System).Hosting().Among(t.Context(), ref.Kind, []int64{ref.ID})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		slices.Sort(found[0].DisabledBy)
		all[ref.Stream().String()] = fmt.Sprintf("%v %v %v %s", found[0].Active, found[0].DisabledBy,
			found[0].TrashedAt != nil, found[0].Spec["is_active"])
	}
	return all
}

// What an operator has decided and what the panel has found stand side by side: writing back
// what was read changes neither.
func TestATenantSaysForWhatItIsOutOfServiceBesideItsStatus(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	one := hosting.Ref{Kind: "tenant", ID: 1}
	shows := func(status, reasons string, active bool) (body string) {
		t.Helper()
		w := s.Call("GET", paneltest.TenantOne, "", paneltest.Bearer(s.Known["root"])...)
		paneltest.Has(t, w.Body.String(), fmt.Sprintf(`"status":%q`, status), fmt.Sprintf(`"suspended_for":%s`, reasons),
			fmt.Sprintf(`"is_active":%t`, active))
		return w.Body.String()
	}
	shows("active", `[]`, true)
	s.Do(t, hosting.SuspendService{Ref: one, By: hosting.ByOrder}) // its order was refunded
	body := shows("active", `["order"]`, false)
	if w := s.Call("PUT", paneltest.TenantOne, body, paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	shows("active", `["order"]`, false)
	refused := s.Call("POST", "/hosting/api/rest/sites/", `{"domain":"new.example"}`, paneltest.Bearer(s.Known["ben"])...)
	if refused.Code != http.StatusForbidden || !strings.Contains(refused.Body.String(), "tenant_suspended") {
		t.Error(refused.Code, refused.Body)
	}
	patched(t, s, paneltest.TenantOne, `{"status":"suspended"}`)
	s.Do(t, hosting.ResumeService{Ref: one, By: hosting.ByOrder})
	shows("suspended", `[]`, true)
	patched(t, s, paneltest.TenantOne, `{"status":"active"}`)
	shows("active", `[]`, true)
}

// Of records in random states exactly those are enabled again that the
// suspension had disabled.
func TestASuspendedTenantIsActiveAgainExactlyAsItWas(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	refs := someOfEverything(t, s, 1, func() bool { return random.IntN(2) == 0 })
	other := someOfEverything(t, s, 2, func() bool { return true })
	before, others := standing(t, s, refs), standing(t, s, other)

	patched(t, s, paneltest.TenantOne, `{"status":"suspended"}`)
	for stream, is := range standing(t, s, refs) {
		if isZone := strings.HasPrefix(stream,
			"dns_"); strings.HasPrefix(is, "true") != (isZone && strings.HasPrefix(before[stream], "true")) {
			t.Errorf("in a suspended tenant %s is %s", stream, is)
		}
	}
	facts := s.Count(t, `select count(*) from events where name = 'hosting.disabled'`)
	patched(t, s, paneltest.TenantOne, `{"status":"suspended","suspended_reason":"Still unpaid"}`)
	if n := s.Count(t, `select count(*) from events where name = 'hosting.disabled'`); n != facts {
		t.Errorf("who is suspended already is halted again %d times", n-facts)
	}
	if appends := s.Count(t, `select count(distinct correlation) from events where name = 'hosting.disabled' and actor `+
		`like 'operator:%'`); appends != 1 {
		t.Errorf("all was halted in %d appends", appends)
	}

	patched(t, s, paneltest.TenantOne, `{"status":"active"}`)
	for stream, is := range standing(t, s, refs) {
		if is != before[stream] {
			t.Errorf("seed %d: %s is %s, and was %s", seed, stream, is, before[stream])
		}
	}
	for stream, is := range standing(t, s, other) {
		if is != others[stream] {
			t.Errorf("%s of another tenant is %s, and was %s", stream, is, others[stream])
		}
	}
}

// keepWriting changes a site again and again, until it is told to stop.
func keepWriting(s *paneltest.Shop, ctx context.Context, site hosting.Ref, halt <-chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-halt:
			return nil
		case <-time.After(5 * time.Millisecond):
		}
		address := field.AppendText(nil, fmt.Sprint("192.0.2.", n%2+1))
		_, err := s.Execute(ctx, domain.Metadata{Actor: "user:1"},
			hosting.Change{Ref: site, Spec: field.Values{"ip_address": address}})
		if err != nil && domain.CodeOf(err) != domain.Conflict {
			return err
		}
	}
}

// someOfEverything gives a tenant records of each kind, active or not, and now
// and then a site in the bin.
func someOfEverything(t *testing.T, s *paneltest.Shop, tenant int64, chance func() bool) (refs []hosting.Ref) {
	t.Helper()
	for _, kind := range hosting.Kinds {
		if !kind.CanBeDisabled && kind.Name != "dns_zone" {
			continue
		}
		for i := range int64(4) {
			ref, name := hosting.Ref{Kind: kind.Name, ID: 1000*tenant + i}, fmt.Sprint(kind.Name, tenant, i)
			values := field.Values{
				"is_active": json.RawMessage(fmt.Sprint(chance())),
				"cert_type": field.AppendText(nil, "acme"),
			}
			for _, set := range append(slices.Clone(kind.Sets), kind.Unique, []string{"email"}) {
				for _, of := range set {
					values[of] = field.AppendText(nil, name)
				}
			}
			for _, r := range kind.Refs {
				values[r.Field] = json.RawMessage(fmt.Sprint(1000*tenant + i))
			}
			s.Do(t, hosting.Request{Ref: ref, Tenant: tenant, Spec: values})
			refs = append(refs, ref)
		}
	}
	if chance() {
		s.Do(t, hosting.MoveToBin{Ref: refs[0]},
			hosting.Disable{Ref: hosting.Ref{Kind: "ftp_account", ID: refs[0].ID}, By: hosting.BySite})
	}
	return refs
}

// What superusers make in a suspended tenant is off from the start, and runs
// once the tenant does.
func TestWhatIsMadeInASuspendedTenantRestsFromTheStart(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	patched(t, s, paneltest.TenantOne, `{"status":"suspended"}`)
	w := s.Call("POST", "/hosting/api/rest/sites/", `{"tenant":1,"domain":"new.example"}`,
		paneltest.Bearer(s.Known["root"])...)
	if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"id":1,`) ||
		!strings.Contains(w.Body.String(), `"is_active":false`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w = s.Call("POST", "/hosting/api/rest/sites/provision_full/", `{"tenant":1,"domain":"full.example","create_db":true}`,
		paneltest.Bearer(s.Known["root"])...)
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	made := []hosting.Ref{{Kind: "site", ID: 1}, {Kind: "site", ID: 2}, {Kind: "database", ID: 1}}
	for stream, is := range standing(t, s, made) {
		if is != "false [tenant] false true" {
			t.Errorf("%s is %s", stream, is)
		}
	}
	patched(t, s, paneltest.TenantOne, `{"status":"active"}`)
	for stream, is := range standing(t, s, made) {
		if is != "true [] false true" {
			t.Errorf("%s is %s", stream, is)
		}
	}
}

// Who has acted for a tenant until now does so no more once it is terminated,
// though the token was looked up before.
func TestATerminatedTenantIsOverForWhoIsRemembered(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Do(t, hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: 1}, Tenant: 1,
		Spec: (&hosting.Site{Domain: "a.example", IsActive: true}).Fields().Values(),
	})
	sites := func(who string) string {
		w := s.Call("GET", "/hosting/api/rest/sites/", "", paneltest.Bearer(s.Known[who])...)
		return fmt.Sprint(w.Code, " ", paneltest.Answered[struct{ Count int }](t, w).Count)
	}
	s.Do(t, account.ActivateTenant{User: paneltest.Root, Tenant: 1, At: time.Now()})
	for _, want := range []string{"200 1", "200 1"} { // looked up, and remembered
		if got := sites("ben"); got != want {
			t.Fatal(got)
		}
	}
	if w := s.Call("DELETE", paneltest.TenantOne, "",
		paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusNoContent {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := sites("ben"); got != "200 0" {
		t.Error(got)
	}
	if w := s.Call("POST", "/hosting/api/rest/sites/", `{"domain":"b.example"}`,
		paneltest.Bearer(s.Known["ben"])...); w.Header().Get("X-Error-Code") != "no_active_tenant" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := sites("root"); got != "200 1" { // of all tenants, until it is removed
		t.Error(got)
	}
	if is := standing(t, s, []hosting.Ref{{Kind: "site", ID: 1}})["site-1"]; is != "false [tenant] false true" {
		t.Error(is)
	}
}

// A tenant is measured against its package as it is now; what is in the bin
// does not count.
func TestStatsCountWhatThereIs(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	someOfEverything(t, s, 1, func() bool { return true })
	limits := hosting.NoLimits().With("sites", 5).With("mailboxes", 2).With(hosting.StorageMB, 1000)
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: limits, SSL: true, IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	patched(t, s, paneltest.TenantOne, `{"package":1}`)
	_, err := s.Owner.Exec(t.Context(), `insert into tenant_usage (tenant, figures) values (1, $1), (2, '{}')`,
		`{"collected_at":"2026-11-21T10:00:00Z","storage":{"site a.example":1048577},"traffic":{"a.example":3145728}}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"tenant":1,"tenant_name":"Bread & Co","sites":{"used":3,"limit":5},"databases":{"used":4,"limit":null},` +
		`"dns_zones":{"used":4,"limit":null},"mail_domains":{"used":4,"limit":null},"mailboxes":{"used":4,"limit":2},` +
		`"mail_aliases":{"used":4,"limit":null},"ftp_accounts":{"used":4,"limit":null},"shell_users":{"used":4,"limit":0},` +
		`"cron_jobs":{"used":4,"limit":0},` +
		`"ssl_certificates":{"used":4,"limit":null},"storage_mb":{"used":2,"limit":1000},"traffic_mb":{"used":3,"limit":null},` +
		`"collected_at":"2026-11-21T10:00:00Z"}`
	for _, who := range []string{"ana", "ben", "root"} {
		if w := s.Call("GET", paneltest.TenantOne+"stats/", "", paneltest.Bearer(s.Known[who])...); w.Body.String() != want {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	// ana acts for tenant 1, and may look at 2, which she belongs to as well.
	w := s.Call("GET", "/hosting/api/rest/tenants/2/stats/", "", paneltest.Bearer(s.Known["ana"])...)
	if text := w.Body.String(); !strings.Contains(text, `"sites":{"used":0,"limit":null}`) ||
		!strings.HasSuffix(text, `"collected_at":null}`) {
		t.Errorf("%d %s", w.Code, text)
	}
}

// What rests is off at the engine, and what runs again is on; the zone was on
// all the time.
func TestASuspensionReachesTheEngine(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) {
		s.Server.Settings.EngineWait, s.Hosting.NameServers = time.Minute, []string{"ns1.panel.example."}
	}).People(t).Start(t)
	post := func(path, body string) {
		t.Helper()
		if w := s.Call("POST", "/hosting/api/rest/"+path, body,
			paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusCreated ||
			!strings.Contains(w.Body.String(), `"synced"`) {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	post("sites/", `{"domain":"on.example"}`)
	post("sites/", `{"domain":"off.example","is_active":false}`)
	post("dns-zones/", `{"origin":"on.example"}`)
	server := engine.New(s.Pool())
	is := func(kind, name, want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			found, there, err := server.Find(t.Context(), kind, name, "")
			if err != nil || !there {
				t.Fatal(kind, name, there, err)
			}
			if got := string(found.Values["is_active"]); got == want {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s %s is active: %s, not %s", kind, name, got, want)
			}
		}
	}
	for _, state := range []struct{ status, runs string }{
		{"active", "true"},
		{"suspended", "false"},
		{"active", "true"},
		{"terminated", "false"},
	} {
		patched(t, s, paneltest.TenantOne, `{"status":"`+state.status+`"}`)
		is("site", "on.example", state.runs)
		is("site", "off.example", "false")
		is("dns_zone", "on.example.", "true")
	}
}
