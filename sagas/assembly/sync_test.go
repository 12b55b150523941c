package assembly_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// sync compares tenant 5 and waits for the end.
func (w *world) sync(how hosting.Sync) projections.Operation {
	w.t.Helper()
	id := uuid.New()
	w.must(w.Jobs.Sync(w.t.Context(), domain.Metadata{Actor: "user:3"}, hosting.QueueOperation{
		ID: id, Kind: hosting.TenantSync, Tenant: 5, User: 3, About: hosting.Ref{Kind: "tenant", ID: 5}, Sync: &how,
	}))
	return w.over(id)
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
	w.quiet() // else a run that has made something would be the first to miss it
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
	t.Parallel()
	w := newHouse(t)
	found := w.found(w.sync(hosting.Sync{}))
	w.equal("found", fmt.Sprint(found, len(found.Drift)), "created 0 updated 0 missing 0 0")
	row, err := w.tables.For(projections.System).Resource(t.Context(), hosting.Ref{Kind: "tenant", ID: 5})
	w.must(err)
	w.equal("last synced", row.SyncedAt != nil, true)
}

func TestAComparisonMakesAnewWhatTheEngineHasLost(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", gone)
	w.equal("would be", w.found(w.sync(hosting.Sync{DryRun: true})).String(), "created 1 updated 0 missing 1")
	w.equal("objects after a dry run", len(w.engine.all()), 1)
	w.equal("found", w.found(w.sync(hosting.Sync{})).String(), "created 1 updated 0 missing 1")
	w.equal("made", w.engine.creations("site/bread.example"), 2)
	w.equal("found, again", w.found(w.sync(hosting.Sync{})).String(), "created 0 updated 0 missing 0")
}

// A cron job's name is unique in its site only, so the engine's name of it begins
// with the site's number there.
func TestAnObjectUnderAnotherNumberIsFoundByItsNameInItsParent(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.add("cron_job", 9, &hosting.CronJob{Site: 7, Schedule: "@daily", Command: "https://bread.example/bake", IsActive: true})
	w.have(hosting.Ref{Kind: "cron_job", ID: 9})
	site := w.have(hosting.Ref{Kind: "site", ID: 7})
	name := fmt.Sprintf("cron_job/%d 0 0 * * * https://bread.example/bake", *site.EngineID)
	w.equal("made", w.engine.creations(name), 1)
	w.meddle(name, func(o *hosting.EngineObject) { o.ID += 1000 })
	w.equal("found", w.found(w.sync(hosting.Sync{DryRun: true})).String(), "created 0 updated 0 missing 0")
}

func TestWhatDiffersIsReportedRepairedOrAdopted(t *testing.T) {
	t.Parallel()
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
// The limits that a package sets are no fields of the tenant. They are compared all
// the same, and repaired; the engine's own are never adopted.
func TestLimitsOfATenantAreComparedAsWell(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	p := hosting.Package{Name: "P", Slug: "p", Limits: hosting.NoLimits().With("sites", 5), IsActive: true}
	w.carry(hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: p.Fields().Values()})
	w.carry(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Spec: field.Values{"package": []byte("1")}})
	name := "tenant/" + hosting.CustomerNumber(5)
	theirs := func() string { return string(w.engine.all()[name].Values["max_sites"]) }
	w.eventually("the engine knows the limit", func() bool { return theirs() == "5" })
	w.have(hosting.Ref{Kind: "tenant", ID: 5})
	w.equal("drift", len(w.found(w.sync(hosting.Sync{})).Drift), 0)

	w.meddle(name, func(o *hosting.EngineObject) { o.Values["max_sites"] = []byte("500") })
	for _, how := range []hosting.Sync{{}, {Adopt: true}} {
		found := w.found(w.sync(how))
		if len(found.Drift) != 1 || found.Updated != 0 {
			t.Fatal(found, found.Drift)
		}
		d := found.Drift[0]
		w.equal("drift", fmt.Sprint(d.Resource, d.ID, d.Field, string(d.Panel), string(d.Engine)), "tenant5max_sites5500")
	}
	w.equal("repaired", w.found(w.sync(hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.equal("theirs", theirs(), "5")
}

// A tenant that came with an order has limits of its own instead of a package.
func TestLimitsThatATenantCameWithAreCompared(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.carry(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Spec: field.Values{"max_sites": []byte("5")}})
	name := "tenant/" + hosting.CustomerNumber(5)
	theirs := func() string { return string(w.engine.all()[name].Values["max_sites"]) }
	w.eventually("the engine knows the limit", func() bool { return theirs() == "5" })
	w.have(hosting.Ref{Kind: "tenant", ID: 5})
	w.meddle(name, func(o *hosting.EngineObject) { o.Values["max_sites"] = []byte("500") })
	found := w.found(w.sync(hosting.Sync{}))
	w.equal("drift", len(found.Drift), 1)
	w.equal("repaired", w.found(w.sync(hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.equal("theirs", theirs(), "5")
}

func TestNothingIsAdoptedThatThePanelCouldNotSayItself(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.do(hosting.Disable{Ref: hosting.Ref{Kind: "site", ID: 7}, By: hosting.BySite}) // not ByTenant: the tenant is in service, which reactions would notice
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
	t.Parallel()
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
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) { o.Times.SyncBudget = 300 * time.Millisecond })
	away := func(string, string) error { return domain.Fail(domain.Transient, "refused", errLie) }
	w.engine.tell(away, nil)
	err := w.Jobs.Sync(t.Context(), domain.Metadata{}, hosting.QueueOperation{ID: uuid.New(), Kind: hosting.TenantSync, Tenant: 5})
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "engine_unavailable" || refusal.Code != domain.Unavailable {
		t.Fatal(err)
	}
	w.equal("operations", w.count(`select count(*) from operations`), 0)

	id := uuid.New() // which goes away right after
	w.do(hosting.QueueOperation{ID: id, Kind: hosting.TenantSync, Tenant: 5, About: hosting.Ref{Kind: "tenant", ID: 5}, Sync: &hosting.Sync{}})
	w.Wake(w.Reconciler.EngineQueue())
	o := w.over(id)
	w.equal("end", o.Status+" "+o.Error, "failed engine_unavailable")
}

// Kinds that the engine does not have are nothing to compare.
func TestAnEngineWithoutAKindIsComparedInTheOthers(t *testing.T) {
	t.Parallel()
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
