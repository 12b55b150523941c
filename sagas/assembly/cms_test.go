package assembly_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

func order7(cms, directory string) hosting.InstallationOrder {
	return hosting.InstallationOrder{
		Operation: uuid.New(), User: 3, Tenant: 5, Site: 7,
		Installation: hosting.Installation{CMS: cms, Version: "1", Domain: "bread.example", Directory: directory, URL: "https://bread.example/", AdminUser: "admin"},
		Secrets:      hosting.InstallationSecrets{SiteTitle: "Bread", AdminEmail: "ana@example.com", Language: "es"},
	}
}

func (w *world) install(o hosting.InstallationOrder) error {
	return w.Jobs.Install(w.t.Context(), domain.Metadata{Actor: "user:3"}, o)
}

func result(o projections.Operation) string {
	text, _ := json.Marshal(o.Result)
	return string(text)
}

func TestAProgramIsInstalledWithADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
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

	password, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("password", password, made.Secrets["admin_password"])
	w.equal("long enough", len(password) >= 22 && len(made.Secrets["db_password"]) >= 22, true)
	again, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("password, once more", again, "")
	w.equal("secrets that are left", w.count(`select count(*) from secret_handoff`), 0)
	for _, secret := range []string{password, made.Secrets["db_password"], "ana@example.com"} {
		w.equal("events with a secret", w.count(`select count(*) from events where data::text like '%' || $1 || '%'`, secret), 0)
		w.equal("logs that know a secret", strings.Contains(w.logged.String(), secret), false)
	}
}

func TestAPasswordOfOnesOwnIsNotShown(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	o := order7("joomla", "/")
	o.Secrets.AdminPassword = "chosen by Ana"
	w.must(w.install(o))
	w.equal("status", w.over(o.Operation).Status, "succeeded")
	w.equal("sent", w.engine.all()["cms/bread.example/"].Secrets["admin_password"], "chosen by Ana")
	shown, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.must(err)
	w.equal("shown", shown, "")
}

func TestInASiteOneInstallationRunsAtATime(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
			w.equal("run", w.runOf("install:"+o.Operation.String()).Status, sagas.StatusDone)
			w.must(w.install(order7("wordpress", "/other"))) // the way is free
		})
	}
}

// An answer that got lost is looked for: nothing is installed twice.
func TestAnInstallationWhoseAnswerGotLostIsFound(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// Who has waited for a day is told, and nothing of it stays.
func TestAnInstallationThatIsGivenUpHasFailed(t *testing.T) {
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) {
		if err := clock.Install(t.Context(), eventstoretest.Owner(t, o.Store.Pool().Config().ConnString())); err != nil {
			t.Fatal(err)
		}
	})
	var tries atomic.Int64
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			tries.Add(1)
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	o := order7("wordpress", "/")
	w.must(w.install(o))
	w.eventually("the engine has refused", func() bool { return tries.Load() > 1 })
	w.must(w.store.Clock().Advance(t.Context(), 2*quick.EngineBudget))
	done := w.over(o.Operation)
	w.equal("end", done.Status+" "+done.Error, "failed busy")
	w.equal("run", w.runOf("install:"+o.Operation.String()).Status, sagas.StatusParked)
	w.eventually("the database is gone", func() bool {
		return w.count(`select count(*) from resources where kind = 'database' and status = 'gone'`) == 1
	})
	w.engine.tell(nil, nil)
	run := w.runOf("install:" + o.Operation.String())
	w.must(w.RetryRun(t.Context(), domain.Metadata{Actor: "operator:1"}, run.ID(), "it answers again"))
	w.eventually("the run is over", func() bool { return w.runOf(run.Key).Status == sagas.StatusDone })
	w.equal("installations", w.engine.creations("cms/bread.example/"), 0) // the operation has ended
}
