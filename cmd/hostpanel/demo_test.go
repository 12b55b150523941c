package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// newProgram is a demo on a database of the test's own, with nothing served.
func newProgram(t *testing.T) *program {
	t.Helper()
	p := opened(t, eventstoretest.URL(t), t.TempDir(), true)
	if err := p.seedDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func opened(t *testing.T, url, dir string, demo bool) *program {
	t.Helper()
	config, err := configure(Settings{
		DatabaseURL: url, DataDir: dir, PublicURL: "https://panel.example.com",
		SecretKey: "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktMDEyMzQ=",
	}, demo)
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(t.Context(), config, slog.Default(), serving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func TestTheDemoIsSetUpOnce(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	p := opened(t, url, dir, true)
	if err := p.seedDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, err := readDemo(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, err := p.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := opened(t, url, dir, true)
	next.setPublicURL("https://elsewhere.example.com")
	if err := next.seedDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := readDemo(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	if second.BaseURL != "https://elsewhere.example.com" {
		t.Errorf("reached at %s", second.BaseURL)
	}
	second.BaseURL = first.BaseURL
	if second != first {
		t.Errorf("%+v became %+v", first, second)
	}
	if after, _, err := p.store.Head(t.Context()); err != nil || after != head {
		t.Errorf("the second start has written %d events, %v", after-head, err)
	}
	if file, err := os.Stat(filepath.Join(dir, "demo.json")); err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", file.Mode(), err)
	}
}

func TestTheDemoHasWhatItPromises(t *testing.T) {
	p := newProgram(t)
	d, err := readDemo(filepath.Join(p.config.dataDir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	scope := p.tables.For(projections.System)
	for _, l := range []login{d.Superuser, d.TenantAdmin} {
		user, known, err := scope.UserByEmail(t.Context(), l.Username)
		if err != nil || !known || user.ActiveTenant == nil || *user.ActiveTenant != d.TenantAdmin.Tenant || !user.HasPassword {
			t.Errorf("%s: %+v, %t, %v", l.Username, user, known, err)
		}
		if user.IsSuperuser != (l == d.Superuser) {
			t.Errorf("%s is a superuser: %t", l.Username, user.IsSuperuser)
		}
	}
	members, err := scope.Members(t.Context(), d.TenantAdmin.Tenant)
	if err != nil || len(members) != 1 || members[0].Role != account.Admin || members[0].TenantName != "Demo" {
		t.Errorf("%+v, %v", members, err)
	}
	tenant := hosting.Ref{Kind: "tenant", ID: d.TenantAdmin.Tenant}
	if history, err := p.store.Read(t.Context(), tenant.Stream()); err != nil || len(history) != 1 || !strings.Contains(history[0].Event.Says(), "Demo") {
		t.Errorf("the log does not tell the tenant's name: %+v, %v", history, err)
	}
	for id, sort := range map[int64]string{d.Plans.Hosting: "hosting", d.Plans.VPS: "vps", d.Plans.SaaS: "saas"} {
		if plan, err := scope.Plan(t.Context(), id); err != nil || plan.ResourceType != sort || !plan.IsActive {
			t.Errorf("plan %d: %+v, %v", id, plan, err)
		}
	}
	widget, err := scope.Widget(t.Context(), d.WidgetID)
	if err != nil || len(widget.Plans) != 3 {
		t.Errorf("%+v, %v", widget, err)
	}
	keys, err := scope.APIKeys(t.Context(), projections.Listing{})
	if err != nil || len(keys.Rows) != 2 {
		t.Fatalf("%+v, %v", keys, err)
	}
	for _, k := range keys.Rows {
		limit := map[bool]int64{true: 6000, false: 60}[strings.HasPrefix(d.APIKey, k.Prefix())]
		if k.Mode != "test" || k.RateLimit != limit || len(k.AllowedDomains) != 0 {
			t.Errorf("%+v", k)
		}
	}
}

func TestADemoDoesNotMixWithDataThatSomebodyCaresFor(t *testing.T) {
	url := eventstoretest.URL(t)
	if err := opened(t, url, t.TempDir(), false).ensureAdmin(t.Context(), console{out: &bytes.Buffer{}, err: &bytes.Buffer{}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := opened(t, url, dir, true).seedDemo(t.Context()); err == nil || !strings.Contains(err.Error(), "superuser") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo.json")); !os.IsNotExist(err) {
		t.Errorf("demo.json was written: %v", err)
	}
}

func TestTheFirstSuperusersPasswordIsShownOnce(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	var shown [2]bytes.Buffer
	for i := range shown {
		if err := opened(t, url, dir, false).ensureAdmin(t.Context(), console{out: &bytes.Buffer{}, err: &shown[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(shown[0].String(), "admin@localhost") || !strings.Contains(shown[0].String(), "Password:") || shown[1].Len() > 0 {
		t.Errorf("shown: %q, then %q", shown[0].String(), shown[1].String())
	}
}

func TestAPasswordThatIsSetIsNotShown(t *testing.T) {
	p := opened(t, eventstoretest.URL(t), t.TempDir(), false)
	p.config.adminEmail, p.config.adminPassword = "root@panel.example", "correct horse battery"
	var shown bytes.Buffer
	if err := p.ensureAdmin(t.Context(), console{out: &bytes.Buffer{}, err: &shown}); err != nil || shown.Len() > 0 {
		t.Errorf("%q, %v", shown.String(), err)
	}
	user, known, err := p.tables.For(projections.System).UserByEmail(t.Context(), "root@panel.example")
	if err != nil || !known || !user.IsSuperuser {
		t.Fatalf("%+v, %v", user, err)
	}
	if is, err := credentials.Open(p.pool, p.keys).CheckPassword(t.Context(), user.ID, "correct horse battery"); err != nil || !is {
		t.Errorf("the password does not fit: %v", err)
	}
}

func TestVerifyNamesTheFirstEventThatWasChanged(t *testing.T) {
	url := eventstoretest.URL(t)
	p := opened(t, url, t.TempDir(), true)
	if err := p.seedDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`alter table events disable trigger all`,
		`update events set data = (replace(data::text, 'Web S', 'Web X'))::json where name = 'storefront.plan_offered' and data::text like '%Web S%'`,
	} {
		if _, err := eventstoretest.Owner(t, url).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var position int64
	if err := p.pool.QueryRow(t.Context(), `select position from events where data::text like '%Web X%'`).Scan(&position); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOSTPANEL_SECRET_KEY", "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktMDEyMzQ=")
	code, out, complaint := told(t, "verify", "--database-url", url, "--data-dir", t.TempDir())
	if want := "broken at position " + wording.Grouped(position); code != failed || !strings.HasPrefix(out, want) || !strings.Contains(out, "stream plan-") || complaint != "" {
		t.Errorf("verify ends with %d: %s%s", code, out, complaint)
	}
	if again, _, _ := told(t, "verify", "--database-url", url, "--data-dir", t.TempDir()); again != failed {
		t.Errorf("verify ends with %d the second time", again)
	}
	open, err := p.tables.For(projections.System).Incidents(t.Context(), projections.Listing{})
	if err != nil || open.Count != 1 || open.Rows[0].Kind != operations.LogBroken || open.Rows[0].About["position"] != fmt.Sprint(position) {
		t.Errorf("operators hear of %+v, %v", open, err)
	}
}

// The engine knows the demo's tenant as it knows every other: what is made for
// it needs its client.
func TestTheDemosTenantGetsItsClient(t *testing.T) {
	p := newProgram(t)
	d, err := readDemo(filepath.Join(p.config.dataDir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.sagas.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		tenant, err := p.tables.For(projections.System).Tenant(ctx, d.TenantAdmin.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		if tenant.EngineID != nil && tenant.SyncStatus == "synced" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the engine has no client for %+v", tenant)
		}
	}
}

func TestADatabaseWhoseClockIsAheadStartsWithTheDemoOnly(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	p := opened(t, url, dir, true)
	const week = 7 * 24 * time.Hour
	if err := p.store.Clock().Advance(t.Context(), week); err != nil {
		t.Fatal(err)
	}
	for what, as := range map[string]part{"serve": serving, "worker": working} {
		if _, err := open(t.Context(), p.config.without(t), slog.Default(), as); !errors.Is(err, clock.ErrAhead) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again := opened(t, url, dir, true); again.store.Clock().Ahead() != week {
		t.Errorf("the demo's next start is %s ahead", again.store.Clock().Ahead())
	}
}

// without is the same configuration for a panel that is no demo.
func (c *config) without(t *testing.T) *config {
	t.Helper()
	other, err := configure(Settings{
		DatabaseURL: c.databaseURL, DataDir: c.dataDir, PublicURL: c.publicURL, SecretKey: c.secretKey,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	return other
}
