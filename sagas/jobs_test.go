package sagas

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// A house is a world in which tenant 5 has a client at the engine and the site
// 7, which are as the panel knows them.
func newHouse(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := newWorld(t, change...).goes()
	spec := &hosting.Tenant{Name: "Bread", Email: "office@example.com", Slug: "bread", Username: "t5", CustomerNumber: "t5", Language: "es", Status: "active", IsActive: true, Limits: hosting.NoLimits()}
	w.do(hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Tenant: 5, Spec: spec.Fields().Values()})
	w.have(hosting.Ref{Kind: "tenant", ID: 5})
	w.add("site", 7, &hosting.Site{Domain: "bread.example", IPAddress: "*", IsActive: true})
	w.have(hosting.Ref{Kind: "site", ID: 7})
	return w
}

func (w *world) do(commands ...domain.Command) {
	w.t.Helper()
	_, err := w.store.Execute(w.t.Context(), domain.Cause{Actor: "test"}, commands...)
	w.must(err)
}

// add asks for a resource of tenant 5.
func (w *world) add(kind string, id int64, spec hosting.Spec) {
	w.t.Helper()
	w.do(hosting.Request{Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: 5, Spec: spec.Fields().Values()})
}

// have waits until the engine has made a resource.
func (w *world) have(ref hosting.Ref) projections.Resource {
	w.t.Helper()
	var row projections.Resource
	w.eventually(fmt.Sprint("the engine has ", ref), func() bool {
		var err error
		row, err = w.tables.For(projections.System).Resource(w.t.Context(), ref)
		return err == nil && row.SyncStatus == "synced"
	})
	return row
}

func (w *world) over(id uuid.UUID) projections.Operation {
	w.t.Helper()
	var o projections.Operation
	w.eventually(fmt.Sprintf("operation %s is over", id), func() bool {
		var err error
		o, err = w.tables.For(projections.System).Operation(w.t.Context(), id)
		w.must(err)
		return o.IsOver()
	})
	return o
}

func order7(cms, directory string) hosting.InstallationOrder {
	return hosting.InstallationOrder{
		Operation: uuid.New(), User: 3, Tenant: 5, Site: 7,
		Installation: hosting.Installation{CMS: cms, Version: "1", Domain: "bread.example", Directory: directory, URL: "https://bread.example/", AdminUser: "admin"},
		Secrets:      hosting.InstallationSecrets{SiteTitle: "Bread", AdminEmail: "ana@example.com", Language: "es"},
	}
}

func (w *world) install(o hosting.InstallationOrder) error {
	return w.Jobs().Install(w.t.Context(), domain.Cause{Actor: "user:3"}, o)
}

func result(o projections.Operation) string {
	text, _ := json.Marshal(o.Result)
	return string(text)
}

func TestAProgramIsInstalledWithADatabaseOfItsOwn(t *testing.T) {
	w := newHouse(t)
	o := order7("wordpress", "/blog")
	w.must(w.install(o))
	done := w.over(o.Operation)
	w.equal("status", done.Status, "succeeded")
	w.equal("database asked for", done.Install.Database > 0, true)
	made := w.engine.all()["cms/bread.example/blog"]
	db := w.have(hosting.Ref{Kind: "database", ID: done.Install.Database})
	var spec hosting.Database
	w.must(db.Load(&spec))
	w.equal("database at the engine", made.Parents["database"], *db.EngineID)
	w.equal("its name", string(made.Values["db_name"]), `"`+spec.EngineName+`"`)
	w.equal("its site", *spec.Site, 7)
	w.equal("our reference", made.Ref, o.Operation.String())
	w.equal("title", string(made.Values["site_title"]), `"Bread"`)
	w.equal("installations", w.engine.creations("cms/bread.example/blog"), 1)

	password, err := w.Jobs().TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("password", password, made.Secrets["admin_password"])
	w.equal("long enough", len(password) >= 22 && len(made.Secrets["db_password"]) >= 22, true)
	again, err := w.Jobs().TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("password, once more", again, "")
	w.equal("secrets that are left", w.count(`select count(*) from secret_handoff`), 0)
	for _, secret := range []string{password, made.Secrets["db_password"], "ana@example.com"} {
		w.equal("facts that know a secret", w.count(`select count(*) from events where data::text like '%' || $1 || '%'`, secret), 0)
		w.equal("logs that know a secret", strings.Contains(w.logged.String(), secret), false)
	}
}

func TestAPasswordOfOnesOwnIsNotShown(t *testing.T) {
	w := newHouse(t)
	o := order7("joomla", "/")
	o.Secrets.AdminPassword = "chosen by Ana"
	w.must(w.install(o))
	w.equal("status", w.over(o.Operation).Status, "succeeded")
	w.equal("sent", w.engine.all()["cms/bread.example/"].Secrets["admin_password"], "chosen by Ana")
	shown, err := w.Jobs().TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("shown", shown, "")
}

func TestInASiteOneInstallationRunsAtATime(t *testing.T) {
	w := newHouse(t)
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	first, second := order7("wordpress", "/"), order7("drupal", "/other")
	w.must(w.install(first))
	err := w.install(second)
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "in_progress" || refusal.Message != "An installation is already running." {
		t.Fatal(err)
	}
	w.equal("databases", w.count(`select count(*) from resources where kind = 'database'`), 1)
	w.engine.tell(nil, nil)
	w.equal("first", w.over(first.Operation).Status, "succeeded")
	w.must(w.install(second))
	w.equal("second", w.over(second.Operation).Status, "succeeded")
}

func TestADirectoryThatIsNotEmptyIsRefusedAtOnceWhereThatIsKnown(t *testing.T) {
	w := newHouse(t)
	first := order7("wordpress", "/")
	w.must(w.install(first))
	w.over(first.Operation)
	err := w.install(order7("drupal", "/"))
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "docroot_not_empty" || refusal.Message != "The document root is not empty." || refusal.Code != domain.Conflict {
		t.Fatal(err)
	}
}

// What an engine will not do ends the operation, and nothing of it stays.
func TestARefusalOfTheEngineEndsTheInstallation(t *testing.T) {
	for refusal, code := range map[string]string{"not_supported": "not_supported", "docroot_not_empty": "docroot_not_empty", "name_taken": "docroot_not_empty"} {
		t.Run(refusal, func(t *testing.T) {
			w := newHouse(t)
			w.engine.tell(func(call, name string) error {
				if strings.HasPrefix(name, "cms/") && (call == "create" || refusal == "not_supported") {
					return domain.Fail(domain.Permanent, refusal, errLie)
				}
				return nil
			}, nil)
			o := order7("wordpress", "/")
			w.must(w.install(o))
			done := w.over(o.Operation)
			w.equal("end", done.Status+" "+done.Error, "failed "+code)
			w.eventually("the database is gone", func() bool {
				return w.count(`select count(*) from resources where kind = 'database' and status = 'gone'`) == 1
			})
			w.equal("objects", len(w.engine.all()), 2)
			w.equal("secrets that are left", w.count(`select count(*) from secret_handoff`), 0)
			w.equal("run", w.runOf("install:"+o.Operation.String()).Status, Done)
			w.must(w.install(order7("wordpress", "/other"))) // the way is free
		})
	}
}

// An answer that got lost is looked for: nothing is installed twice.
func TestAnInstallationWhoseAnswerGotLostIsFound(t *testing.T) {
	w := newHouse(t)
	lost := false
	w.engine.tell(nil, func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") && !lost {
			lost = true
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	o := order7("drupal", "/")
	w.must(w.install(o))
	w.equal("end", w.over(o.Operation).Status, "succeeded")
	w.equal("installations", w.engine.creations("cms/bread.example/"), 1)
}

func TestAnInstallationIsOverWhenItIsApplied(t *testing.T) {
	w := newHouse(t)
	applied := make(chan struct{})
	w.engine.mu.Lock()
	w.engine.applied = func(o hosting.EngineObject) bool {
		select {
		case <-applied:
			return true
		default:
			return o.Kind != "cms"
		}
	}
	w.engine.mu.Unlock()
	o := order7("wordpress", "/")
	w.must(w.install(o))
	w.eventually("it is made", func() bool { return w.engine.creations("cms/bread.example/") == 1 })
	now, err := w.tables.For(projections.System).Operation(t.Context(), o.Operation)
	w.must(err)
	w.equal("status", now.Status, "running")
	close(applied)
	w.equal("end", w.over(o.Operation).Status, "succeeded")
}

// sync compares tenant 5 and waits for the end.
func (w *world) sync(how hosting.Sync) projections.Operation {
	w.t.Helper()
	id := uuid.New()
	w.must(w.Jobs().Sync(w.t.Context(), domain.Cause{Actor: "user:3"}, hosting.QueueOperation{
		ID: id, Kind: hosting.TenantSync, Tenant: 5, User: 3, About: hosting.Ref{Kind: "tenant", ID: 5}, Sync: &how,
	}))
	return w.over(id)
}

func (o counts) String() string {
	return fmt.Sprintf("created %d updated %d missing %d", o.Created, o.Updated, o.Missing)
}

type counts struct {
	Created, Updated, Missing int
	Drift                     []drift
}

func (w *world) found(o projections.Operation) (c counts) {
	w.t.Helper()
	w.equal("status", o.Status+o.Error, "succeeded")
	w.must(json.Unmarshal([]byte(result(o)), &c))
	return c
}

func (w *world) site7() hosting.Site {
	w.t.Helper()
	row, err := w.tables.For(projections.System).Resource(w.t.Context(), hosting.Ref{Kind: "site", ID: 7})
	w.must(err)
	var site hosting.Site
	w.must(row.Load(&site))
	return site
}

// meddle changes an object at the engine behind the panel's back.
func (w *world) meddle(name string, change func(*hosting.EngineObject)) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	o := w.engine.objects[name]
	values := field.Values{}
	for k, v := range o.Values {
		values[k] = v
	}
	o.Values = values
	if change(&o); o.Name == "" {
		delete(w.engine.objects, name)
		return
	}
	w.engine.objects[name] = o
}

func gone(o *hosting.EngineObject) { o.Name = "" }

func TestWhatIsAsThePanelHasItNeedsNothing(t *testing.T) {
	w := newHouse(t)
	found := w.found(w.sync(hosting.Sync{}))
	w.equal("found", fmt.Sprint(found, len(found.Drift)), "created 0 updated 0 missing 0 0")
	row, err := w.tables.For(projections.System).Resource(t.Context(), hosting.Ref{Kind: "tenant", ID: 5})
	w.must(err)
	w.equal("last synced", row.SyncedAt != nil, true)
}

func TestAComparisonMakesAnewWhatTheEngineHasLost(t *testing.T) {
	w := newHouse(t)
	w.meddle("site/bread.example", gone)
	w.equal("would be", w.found(w.sync(hosting.Sync{DryRun: true})).String(), "created 1 updated 0 missing 1")
	w.equal("objects after a dry run", len(w.engine.all()), 1)
	w.equal("found", w.found(w.sync(hosting.Sync{})).String(), "created 1 updated 0 missing 1")
	w.equal("made", w.engine.creations("site/bread.example"), 2)
	w.equal("found, again", w.found(w.sync(hosting.Sync{})).String(), "created 0 updated 0 missing 0")
}

func TestWhatDiffersIsReportedRepairedOrAdopted(t *testing.T) {
	w := newHouse(t)
	address := func(o *hosting.EngineObject) { o.Values["ip_address"] = json.RawMessage(`"192.0.2.1"`) }
	theirs := func() string { return string(w.engine.all()["site/bread.example"].Values["ip_address"]) }

	w.meddle("site/bread.example", address)
	for range 2 {
		found := w.found(w.sync(hosting.Sync{}))
		if len(found.Drift) != 1 || found.Updated != 0 {
			t.Fatal(found, found.Drift)
		}
		d := found.Drift[0]
		w.equal("drift", fmt.Sprint(d.Resource, d.ID, d.Field, string(d.Panel), string(d.Engine)), `site7ip_address"*""192.0.2.1"`)
	}
	w.equal("would be", w.found(w.sync(hosting.Sync{DryRun: true, Repair: true})).String(), "created 0 updated 1 missing 0")
	w.equal("theirs", theirs(), `"192.0.2.1"`)
	w.equal("repaired", w.found(w.sync(hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.equal("theirs", theirs(), `"*"`)

	w.meddle("site/bread.example", address)
	before := w.engine.changed["site/bread.example"]
	w.equal("would be", w.found(w.sync(hosting.Sync{DryRun: true, Adopt: true})).String(), "created 0 updated 1 missing 0")
	w.equal("adopted", w.found(w.sync(hosting.Sync{Adopt: true})).String(), "created 0 updated 1 missing 0")
	w.equal("ours", w.site7().IPAddress, "192.0.2.1")
	w.equal("changes at the engine", w.engine.changed["site/bread.example"], before)
	w.equal("drift that is left", len(w.found(w.sync(hosting.Sync{})).Drift), 0)
}

// What the panel may not say, it does not take over: it goes on reporting it.
func TestNothingIsAdoptedThatThePanelCouldNotSayItself(t *testing.T) {
	w := newHouse(t)
	w.do(hosting.Halt{Ref: hosting.Ref{Kind: "site", ID: 7}, By: hosting.BySite}) // not ByTenant: the tenant is in service, which reactions would notice
	w.have(hosting.Ref{Kind: "site", ID: 7})
	w.meddle("site/bread.example", func(o *hosting.EngineObject) {
		o.Values["is_active"] = json.RawMessage(`true`)
		o.Values["ip_address"] = json.RawMessage(`"no address"`)
	})
	found := w.found(w.sync(hosting.Sync{Adopt: true}))
	w.equal("found", fmt.Sprint(found, len(found.Drift)), "created 0 updated 0 missing 0 2")
	w.equal("ours", fmt.Sprint(w.site7().IsActive, w.site7().IPAddress), "false*")
	w.equal("repaired", w.found(w.sync(hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.equal("theirs", string(w.engine.all()["site/bread.example"].Values["is_active"]), "false")
}

func TestWhatTheEngineHasRefusedIsTriedAgain(t *testing.T) {
	w := newHouse(t)
	refusing := func(call, name string) error {
		if call == "create" && name == "dns_zone/bread.example." {
			return domain.Fail(domain.Permanent, "invalid", errLie)
		}
		return nil
	}
	w.engine.tell(refusing, nil)
	zone := hosting.Ref{Kind: "dns_zone", ID: 9}
	w.add("dns_zone", 9, &hosting.DNSZone{Origin: "bread.example.", NSPrimary: "ns.example.", AdminEmail: "a.bread.example.", TTL: 3600, IsActive: true})
	w.eventually("the zone is refused", func() bool {
		return w.count(`select count(*) from resources where kind = 'dns_zone' and sync_status = 'error'`) == 1
	})
	w.equal("refused again", w.found(w.sync(hosting.Sync{})).String(), "created 0 updated 0 missing 0")
	w.engine.tell(nil, nil)
	w.equal("found", w.found(w.sync(hosting.Sync{})).String(), "created 1 updated 0 missing 0")
	w.have(zone)
}

func TestAnEngineThatIsAwayIsSaidSo(t *testing.T) {
	w := newHouse(t, func(o *Options) { o.Times.SyncBudget = 300 * time.Millisecond })
	away := func(string, string) error { return domain.Fail(domain.Transient, "refused", errLie) }
	w.engine.tell(away, nil)
	err := w.Jobs().Sync(t.Context(), domain.Cause{}, hosting.QueueOperation{ID: uuid.New(), Kind: hosting.TenantSync, Tenant: 5})
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "engine_unavailable" || refusal.Code != domain.Unavailable {
		t.Fatal(err)
	}
	w.equal("operations", w.count(`select count(*) from operations`), 0)

	id := uuid.New() // which goes away right after
	w.do(hosting.QueueOperation{ID: id, Kind: hosting.TenantSync, Tenant: 5, About: hosting.Ref{Kind: "tenant", ID: 5}, Sync: &hosting.Sync{}})
	w.wake(engineQueue(w.engine))
	o := w.over(id)
	w.equal("end", o.Status+" "+o.Error, "failed engine_unavailable")
}

// Kinds that the engine does not have are nothing to compare.
func TestAnEngineWithoutAKindIsComparedInTheOthers(t *testing.T) {
	w := newHouse(t)
	w.add("ftp_account", 3, &hosting.FTPAccount{Site: 7, Username: "bread", Directory: "/", QuotaMB: -1, IsActive: true})
	w.have(hosting.Ref{Kind: "ftp_account", ID: 3})
	w.engine.tell(func(call, name string) error {
		if call == "list" && strings.HasPrefix(name, "ftp_account") {
			return domain.Fail(domain.Permanent, "not_supported", errLie)
		}
		return nil
	}, nil)
	w.meddle("site/bread.example", gone)
	w.meddle("ftp_account/bread", gone)
	w.equal("found", w.found(w.sync(hosting.Sync{})).String(), "created 1 updated 0 missing 1")
}

// Rows of work follow from what was asked for, like all others.
func TestOperationsStartTheirRuns(t *testing.T) {
	w := newWorld(t)
	for _, kind := range hosting.OperationKinds {
		w.do(hosting.QueueOperation{ID: uuid.New(), Kind: kind, Tenant: 5, About: hosting.Ref{Kind: "site", ID: 7}, Install: &hosting.Installation{CMS: "drupal"}})
	}
	var keys []string
	rows, err := w.pool.Query(t.Context(), `select split_part(key, ':', 1) from saga_run order by 1`)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var key string
		w.must(rows.Scan(&key))
		keys = append(keys, key)
	}
	w.equal("runs", slices.Sorted(slices.Values(keys)), []string{"install", "sync"})
}

// Who has waited for a day is told, and nothing of it stays.
func TestAnInstallationThatIsGivenUpHasFailed(t *testing.T) {
	w := newHouse(t, func(o *Options) { o.Times.EngineBudget = 500 * time.Millisecond })
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	o := order7("wordpress", "/")
	w.must(w.install(o))
	done := w.over(o.Operation)
	w.equal("end", done.Status+" "+done.Error, "failed busy")
	w.equal("run", w.runOf("install:"+o.Operation.String()).Status, Stopped)
	w.eventually("the database is gone", func() bool {
		return w.count(`select count(*) from resources where kind = 'database' and status = 'gone'`) == 1
	})
	w.engine.tell(nil, nil)
	run := w.runOf("install:" + o.Operation.String())
	w.must(w.RetryRun(t.Context(), domain.Cause{Actor: "operator:1"}, run.ID(), "it answers again"))
	w.eventually("the run is over", func() bool { return w.runOf(run.Key).Status == Done })
	w.equal("installations", w.engine.creations("cms/bread.example/"), 0) // nobody waits for it any more
}
