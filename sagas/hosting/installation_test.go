package hosting_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func order7(cms, directory string) hosting.InstallationOrder {
	return hosting.InstallationOrder{
		Operation: uuid.New(), User: 3, Tenant: 5, Site: 7,
		Installation: hosting.Installation{
			CMS: cms, Version: "1", Domain: "bread.example", Directory: directory, URL: "https://bread.example/",
			AdminUser: "admin",
		},
		Secrets: hosting.InstallationSecrets{SiteTitle: "Bread", AdminEmail: "ana@example.com", Language: "es"},
	}
}

func install(w *sagastest.World, o hosting.InstallationOrder) error {
	return w.Jobs.Install(w.T.Context(), domain.Metadata{Actor: "user:3"}, o)
}

func result(o projections.Operation) string {
	text, _ := json.Marshal(o.Result)
	return string(text)
}

func TestAProgramIsInstalledWithADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	o := order7("wordpress", "/blog")
	w.Must(install(w, o))
	done := w.Over(o.Operation)
	w.Equal("status", done.Status, "succeeded")
	w.Equal("database asked for", done.Install.Database > 0, true)
	made := w.Engine.All()["cms/bread.example/blog"]
	db := have(w, hosting.Ref{Kind: "database", ID: done.Install.Database})
	var spec hosting.Database
	w.Must(db.Load(&spec))
	w.Equal("database at the engine", made.Parents["database"], *db.EngineID)
	w.Equal("its name", string(made.Values["db_name"]), `"`+spec.EngineName+`"`)
	w.Equal("its site", *spec.Site, 7)
	w.Equal("our reference", made.Ref, o.Operation.String())
	w.Equal("title", string(made.Values["site_title"]), `"Bread"`)
	w.Equal("installations", w.Engine.Creations("cms/bread.example/blog"), 1)

	password, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.Must(err)
	w.Equal("password", password, made.Secrets["admin_password"])
	w.Equal("long enough", len(password) >= 22 && len(made.Secrets["db_password"]) >= 22, true)
	again, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.Must(err)
	w.Equal("password, once more", again, "")
	w.Equal("secrets that are left", w.Count(`select count(*) from secret_handoff`), 0)
	for _, secret := range []string{password, made.Secrets["db_password"], "ana@example.com"} {
		w.Equal("events with a secret", w.Count(`select count(*) from events where data::text like '%' || $1 || '%'`, secret), 0)
		w.Equal("logs that know a secret", strings.Contains(w.Logged.String(), secret), false)
	}
}

func TestAPasswordOfOnesOwnIsNotShown(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	o := order7("joomla", "/")
	o.Secrets.AdminPassword = "chosen by Ana"
	w.Must(install(w, o))
	w.Equal("status", w.Over(o.Operation).Status, "succeeded")
	w.Equal("sent", w.Engine.All()["cms/bread.example/"].Secrets["admin_password"], "chosen by Ana")
	shown, err := w.Jobs.TakePassword(t.Context(), o.Operation)
	w.Must(err)
	w.Equal("shown", shown, "")
}

func TestInASiteOneInstallationRunsAtATime(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	first, second := order7("wordpress", "/"), order7("drupal", "/other")
	w.Must(install(w, first))
	err := install(w, second)
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "in_progress" || refusal.Message != "An installation is already running." {
		t.Fatal(err)
	}
	w.Equal("databases", w.Count(`select count(*) from resources where kind = 'database'`), 1)
	w.Engine.Tell(nil, nil)
	w.Equal("first", w.Over(first.Operation).Status, "succeeded")
	w.Must(install(w, second))
	w.Equal("second", w.Over(second.Operation).Status, "succeeded")
}

// What an engine will not do ends the operation, and nothing of it stays.
func TestARefusalOfTheEngineEndsTheInstallation(t *testing.T) {
	t.Parallel()
	for refusal, code := range map[string]string{
		"not_supported": "not_supported", "docroot_not_empty": "docroot_not_empty", "name_taken": "docroot_not_empty",
	} {
		t.Run(refusal, func(t *testing.T) {
			w := newHouse(t)
			w.Engine.Tell(func(call, name string) error {
				if strings.HasPrefix(name, "cms/") && (call == "create" || refusal == "not_supported") {
					return domain.Fail(domain.Permanent, refusal, sagastest.ErrLie)
				}
				return nil
			}, nil)
			o := order7("wordpress", "/")
			w.Must(install(w, o))
			done := w.Over(o.Operation)
			w.Equal("end", done.Status+" "+done.Error, "failed "+code)
			w.Eventually("the database is gone", func() bool {
				return w.Count(`select count(*) from resources where kind = 'database' and status = 'gone'`) == 1
			})
			w.Equal("objects", len(w.Engine.All()), 2)
			w.Equal("secrets that are left", w.Count(`select count(*) from secret_handoff`), 0)
			w.Equal("run", w.RunOf("install:"+o.Operation.String()).Status, sagas.StatusDone)
			w.Must(install(w, order7("wordpress", "/other"))) // the way is free
		})
	}
}

func TestAnInstallationIsOverWhenItIsApplied(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	applied := make(chan struct{})
	w.Engine.Mu.Lock()
	w.Engine.Applied = func(o hosting.EngineObject) bool {
		select {
		case <-applied:
			return true
		default:
			return o.Kind != "cms"
		}
	}
	w.Engine.Mu.Unlock()
	o := order7("wordpress", "/")
	w.Must(install(w, o))
	w.Eventually("it is made", func() bool { return w.Engine.Creations("cms/bread.example/") == 1 })
	now, err := w.Tables.For(projections.System).Hosting().Operation(t.Context(), o.Operation)
	w.Must(err)
	w.Equal("status", now.Status, "running")
	close(applied)
	w.Equal("end", w.Over(o.Operation).Status, "succeeded")
}
