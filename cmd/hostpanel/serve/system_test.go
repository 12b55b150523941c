//go:build system

package serve_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// Of several first starts at once, in one data directory, each ends with the
// demo that the log has.
func TestDemosThatStartAtOnceAgree(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	programs := make([]*program.Program, 3)
	for i := range programs {
		programs[i] = programtest.Open(t, url, dir, true)
	}
	errs := make(chan error, len(programs))
	for _, p := range programs {
		go func() { errs <- serve.SetUp(t.Context(), p, quiet) }()
	}
	for range programs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := serve.SetUp(t.Context(), programtest.Open(t, url, dir, true), quiet); err != nil {
		t.Errorf("a later start: %v", err)
	}
	keys, err := programs[0].Tables.For(projections.System).Orders().APIKeys(t.Context(), projections.Listing{})
	if err != nil || len(keys.Rows) != 2 {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestADatabaseWhoseClockIsAheadStartsWithTheDemoOnly(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	p := programtest.Open(t, url, dir, true)
	const week = 7 * 24 * time.Hour
	if err := p.Store.Clock().Advance(t.Context(), week); err != nil {
		t.Fatal(err)
	}
	for what, as := range map[string]program.Part{"serve": program.Serving, "worker": program.Working} {
		if _, err := program.Open(t.Context(), withoutDemo(t, p.Config), slog.Default(), as); !errors.Is(err,
			clock.ErrAhead) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again := programtest.Open(t, url, dir, true); again.Store.Clock().Ahead() != week {
		t.Errorf("the demo's next start is %s ahead", again.Store.Clock().Ahead())
	}
}

// The engine knows the demo's tenant as it knows every other: what is made for
// it needs its client.
func TestTheDemosTenantGetsItsClient(t *testing.T) {
	p := programtest.Demo(t)
	d, err := serve.ReadDemo(filepath.Join(p.Config.DataDir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Sagas.Runner.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		tenant, err := p.Tables.For(projections.System).Hosting().Tenant(ctx, d.TenantAdmin.Tenant)
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

func TestTheDemoHasWhatItPromises(t *testing.T) {
	p := programtest.Demo(t)
	d, err := serve.ReadDemo(filepath.Join(p.Config.DataDir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	scope := p.Tables.For(projections.System)
	for _, l := range []serve.Login{d.Superuser, d.TenantAdmin} {
		user, known, err := scope.Accounts().UserByEmail(t.Context(), l.Username)
		if err != nil || !known || !user.HasPassword {
			t.Errorf("%s: %+v, %t, %v", l.Username, user, known, err)
		}
		if user.IsSuperuser != (l == d.Superuser) {
			t.Errorf("%s is a superuser: %t", l.Username, user.IsSuperuser)
		}
		acts := user.ActiveTenant != nil && *user.ActiveTenant == d.TenantAdmin.Tenant
		if acts == user.IsSuperuser || user.IsSuperuser && user.ActiveTenant != nil { // operators see all at first
			t.Errorf("%s acts for %v", l.Username, user.ActiveTenant)
		}
	}
	members, err := scope.Accounts().Members(t.Context(), d.TenantAdmin.Tenant)
	if err != nil || len(members) != 1 || members[0].Role != account.Admin || members[0].TenantName != "Demo" {
		t.Errorf("%+v, %v", members, err)
	}
	tenant := hosting.Ref{Kind: "tenant", ID: d.TenantAdmin.Tenant}
	if history, err := p.Store.Read(t.Context(), tenant.Stream()); err != nil || len(history) != 1 ||
		!strings.Contains(history[0].Event.Says(), "Demo") {
		t.Errorf("the log does not tell the tenant's name: %+v, %v", history, err)
	}
	for id, sort := range map[int64]string{d.Plans.Hosting: "hosting", d.Plans.VPS: "vps", d.Plans.SaaS: "saas"} {
		if plan, err := scope.Orders().Plan(t.Context(), id); err != nil || plan.ResourceType != sort || !plan.IsActive {
			t.Errorf("plan %d: %+v, %v", id, plan, err)
		}
	}
	widget, err := scope.Orders().Widget(t.Context(), d.WidgetID)
	if err != nil || len(widget.Plans) != 3 {
		t.Errorf("%+v, %v", widget, err)
	}
	keys, err := scope.Orders().APIKeys(t.Context(), projections.Listing{})
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
