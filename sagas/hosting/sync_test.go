package hosting_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// sync compares tenant 5 and waits for the end.
func syncs(w *sagastest.World, how hosting.Sync) projections.Operation {
	w.T.Helper()
	id := uuid.New()
	w.Must(w.Jobs.Sync(w.T.Context(), domain.Metadata{Actor: "user:3"}, hosting.QueueOperation{
		ID: id, Kind: hosting.TenantSync, Tenant: 5, User: 3, About: hosting.Ref{Kind: "tenant", ID: 5}, Sync: &how,
	}))
	return w.Over(id)
}

func (o counts) String() string {
	return fmt.Sprintf("created %d updated %d missing %d", o.Created, o.Updated, o.Missing)
}

type counts struct {
	Created, Updated, Missing int
	Drift                     []struct {
		Resource, Field string
		ID              int64
		Panel, Engine   json.RawMessage
	}
}

func countsOf(w *sagastest.World, o projections.Operation) (c counts) {
	w.T.Helper()
	w.Equal("status", o.Status+o.Error, "succeeded")
	w.Must(json.Unmarshal([]byte(result(o)), &c))
	return c
}

func site7(w *sagastest.World) hosting.Site {
	w.T.Helper()
	row, err := w.Tables.For(projections.System).Hosting().Resource(w.T.Context(), hosting.Ref{Kind: "site", ID: 7})
	w.Must(err)
	var site hosting.Site
	w.Must(row.Load(&site))
	return site
}

// meddle changes an object at the engine behind the panel's back.
func meddle(w *sagastest.World, name string, change func(*hosting.EngineObject)) {
	w.Quiet() // else a run that has made something would be the first to miss it
	w.Engine.Mu.Lock()
	defer w.Engine.Mu.Unlock()
	o := w.Engine.Objects[name]
	values := field.Values{}
	for k, v := range o.Values {
		values[k] = v
	}
	o.Values = values
	if change(&o); o.Name == "" {
		delete(w.Engine.Objects, name)
		return
	}
	w.Engine.Objects[name] = o
}

func gone(o *hosting.EngineObject) { o.Name = "" }

func TestWhatIsAsThePanelHasItNeedsNothing(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	found := countsOf(w, syncs(w, hosting.Sync{}))
	w.Equal("found", fmt.Sprint(found, len(found.Drift)), "created 0 updated 0 missing 0 0")
	row, err := w.Tables.For(projections.System).Hosting().Resource(t.Context(), hosting.Ref{Kind: "tenant", ID: 5})
	w.Must(err)
	w.Equal("last synced", row.SyncedAt != nil, true)
}

func TestAComparisonMakesAnewWhatTheEngineHasLost(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", gone)
	w.Equal("would be", countsOf(w, syncs(w, hosting.Sync{DryRun: true})).String(), "created 1 updated 0 missing 1")
	w.Equal("objects after a dry run", len(w.Engine.All()), 1)
	w.Equal("found", countsOf(w, syncs(w, hosting.Sync{})).String(), "created 1 updated 0 missing 1")
	w.Equal("made", w.Engine.Creations("site/bread.example"), 2)
	w.Equal("found, again", countsOf(w, syncs(w, hosting.Sync{})).String(), "created 0 updated 0 missing 0")
}

// A cron job's name is unique in its site only, so the engine's name of it begins
// with the site's number there.
func TestAnObjectUnderAnotherNumberIsFoundByItsNameInItsParent(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	add(w, "cron_job", 9, &hosting.CronJob{Site: 7, Schedule: "@daily", Command: "https://bread.example/bake", IsActive: true})
	have(w, hosting.Ref{Kind: "cron_job", ID: 9})
	site := have(w, hosting.Ref{Kind: "site", ID: 7})
	name := fmt.Sprintf("cron_job/%d 0 0 * * * https://bread.example/bake", *site.EngineID)
	w.Equal("made", w.Engine.Creations(name), 1)
	meddle(w, name, func(o *hosting.EngineObject) { o.ID += 1000 })
	w.Equal("found", countsOf(w, syncs(w, hosting.Sync{DryRun: true})).String(), "created 0 updated 0 missing 0")
}

// What the panel may not say, it does not take over: it goes on reporting it.
// The limits that a package sets are no fields of the tenant. They are compared all
// the same, and repaired; the engine's own are never adopted.
func TestLimitsOfATenantAreComparedAsWell(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	p := hosting.Package{Name: "P", Slug: "p", Limits: hosting.NoLimits().With("sites", 5), IsActive: true}
	w.Carry(hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: p.Fields().Values()})
	w.Carry(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Spec: field.Values{"package": []byte("1")}})
	name := "tenant/" + hosting.CustomerNumber(5)
	theirs := func() string { return string(w.Engine.All()[name].Values["max_sites"]) }
	w.Eventually("the engine knows the limit", func() bool { return theirs() == "5" })
	have(w, hosting.Ref{Kind: "tenant", ID: 5})
	w.Equal("drift", len(countsOf(w, syncs(w, hosting.Sync{})).Drift), 0)

	meddle(w, name, func(o *hosting.EngineObject) { o.Values["max_sites"] = []byte("500") })
	for _, how := range []hosting.Sync{{}, {Adopt: true}} {
		found := countsOf(w, syncs(w, how))
		if len(found.Drift) != 1 || found.Updated != 0 {
			t.Fatal(found, found.Drift)
		}
		d := found.Drift[0]
		w.Equal("drift", fmt.Sprint(d.Resource, d.ID, d.Field, string(d.Panel), string(d.Engine)), "tenant5max_sites5500")
	}
	w.Equal("repaired", countsOf(w, syncs(w, hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("theirs", theirs(), "5")
}

func TestNothingIsAdoptedThatThePanelCouldNotSayItself(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	// not ByTenant: the tenant is in service, which reactions would notice
	w.Does(hosting.Disable{Ref: hosting.Ref{Kind: "site", ID: 7}, By: hosting.BySite})
	have(w, hosting.Ref{Kind: "site", ID: 7})
	meddle(w, "site/bread.example", func(o *hosting.EngineObject) {
		o.Values["is_active"] = json.RawMessage(`true`)
		o.Values["ip_address"] = json.RawMessage(`"no address"`)
	})
	found := countsOf(w, syncs(w, hosting.Sync{Adopt: true}))
	w.Equal("found", fmt.Sprint(found, len(found.Drift)), "created 0 updated 0 missing 0 2")
	w.Equal("ours", fmt.Sprint(site7(w).IsActive, site7(w).IPAddress), "false*")
	w.Equal("repaired", countsOf(w, syncs(w, hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("theirs", string(w.Engine.All()["site/bread.example"].Values["is_active"]), "false")
}

// Kinds that the engine does not have are nothing to compare.
func TestAnEngineWithoutAKindIsComparedInTheOthers(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	add(w, "ftp_account", 3, &hosting.FTPAccount{Site: 7, Username: "bread", Directory: "/", QuotaMB: -1, IsActive: true})
	have(w, hosting.Ref{Kind: "ftp_account", ID: 3})
	w.Engine.Tell(func(call, name string) error {
		if call == "list" && strings.HasPrefix(name, "ftp_account") {
			return domain.Fail(domain.Permanent, "not_supported", sagastest.ErrLie)
		}
		return nil
	}, nil)
	meddle(w, "site/bread.example", gone)
	meddle(w, "ftp_account/bread", gone)
	w.Equal("found", countsOf(w, syncs(w, hosting.Sync{})).String(), "created 1 updated 0 missing 1")
}
