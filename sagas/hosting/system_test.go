//go:build system

package hosting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestAWorkerMayDieWhileItSwitchesAMachine(t *testing.T) { // F-1
	t.Parallel()
	var at atomic.Value
	at.Store(sagas.Point(""))
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 300 * time.Millisecond })
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		if c.At().Name == "machine" && at.CompareAndSwap(p, sagas.Point("")) {
			return sagas.ErrKilled
		}
		return nil
	})
	w.Goes()
	_, vm, _ := sagastest.Machine(w)
	// The machine is off by a reason that no reaction goes by: its tenant is in service, so
	// a reaction switches on again what is off by the tenant.
	for i, p := range []sagas.Point{
		sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete,
	} {
		at.Store(p)
		if i%2 == 0 {
			w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
			w.Powered(vm, "stopped")
		} else {
			w.Carry(hosting.Enable{Ref: vm, By: hosting.BySite})
			w.Powered(vm, "running")
		}
		w.Equal("died at "+string(p), at.Load(), sagas.Point(""))
	}
}

func TestDueRunsAreFoundByTheirIndexWithBothFormsOfTheClock(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	owner := eventstoretest.Owner(t, w.URL())
	_, err := owner.Exec(t.Context(), `
		insert into saga_queue (queue, max_in_flight) values ('local', 4) on conflict do nothing;
		insert into saga_run (id, key, cause, correlation, definition, steps, input, queue, status, run_at)
		select gen_random_uuid(), 'drill:' || n, gen_random_uuid()::text, gen_random_uuid(), 'drill/1', '[]', '{}',
			'local', 'waiting', business_now() + n * interval '1 minute' from generate_series(1, 20000) n;
		analyze saga_run`)
	w.Must(err)
	due := func(form string) {
		plan := planOf(t, owner, `select id from saga_run where queue = 'local' and status in ('ready', 'waiting')
			and run_at <= business_now() order by run_at limit 4 for update skip locked`)
		if !strings.Contains(plan, "saga_run_due") || !strings.Contains(plan, "Index Cond: ((queue = 'local'::text) AND (run_at <=") {
			t.Errorf("%s:\n%s", form, plan)
		}
	}
	due("production")
	w.Moves()
	due("demo")
}

// A suspension of many records is one append, with a run for each.
func TestManyRunsStartInOneAppend(t *testing.T) {
	t.Parallel()
	sagastest.ManyRuns(t, 60)
}

// An engine that confirms an object and loses it gets it made again, and nothing
// that it still has is made twice.
func TestWhatTheEngineLosesIsMadeAgain(t *testing.T) { // V5
	t.Parallel()
	for _, c := range []struct {
		made, loses string // the object after whose making the others are lost
		tenants     int
	}{
		{"tenant/", "tenant/", 2},
		{"site/", "site/", 1},
		{"site/", "tenant/ site/", 2},
	} {
		w := sagastest.NewWorld(t)
		first := once()
		w.Engine.Tell(nil, func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, c.made) && first() {
				for object := range w.Engine.All() {
					if strings.Contains(c.loses, object[:strings.Index(object, "/")+1]) {
						w.Engine.Forget(object)
					}
				}
			}
			return nil
		})
		w.Goes()
		id := w.Buy(sagastest.OrderForm{Domain: "lost.example.com"})
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		run := w.Provision(id)
		client := w.Engine.All()["tenant/"+hosting.CustomerNumber(run.Job.Tenant)]
		w.Equal(c.loses+": clients made", w.Engine.Creations("tenant/"+client.Name), c.tenants)
		w.Equal(c.loses+": client that the run knows", run.Job.Client, client.ID)
		w.Equal(c.loses+": owner of the site", w.Engine.All()["site/lost.example.com"].Owner, client.ID)
		w.Equal(c.loses+": told", w.Often(sagas.StreamOf(run.Key), "saga.effect_lost") > 0, true)
		w.End()
	}
}

// What belongs to an object that the engine has lost waits until that is made again.
func TestAPartWaitsForTheWholeThatTheEngineLostAndMakesAgain(t *testing.T) { // V5
	t.Parallel()
	for _, whole := range []string{"site/", "tenant/"} {
		h := sagastest.NewHousehold(t)
		first := once()
		h.Engine.Tell(nil, func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, whole) && first() {
				h.Engine.Forget(name)
			}
			return nil
		})
		s := h.Ask(h.Draw("site"), sagastest.Site("lost.example.com"))
		handle := uuid.New()
		f := h.Ask(
			h.Draw("ftp_account"),
			&hosting.FTPAccount{Site: s.ID, Username: "lost", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true},
		)
		h.Carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.Goes()
		h.Eventually("it is made again", func() bool {
			return h.Resource(f.Ref).Status == hosting.Running && h.Resource(s.Ref).Status == hosting.Running
		})
		h.Quiet()
		for _, ref := range []hosting.Ref{s.Ref, f.Ref} {
			h.Equal(whole+": "+ref.Stream().String(), h.Resource(ref).SyncStatus, "synced")
		}
		h.Equal(whole+": parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
		h.End()
	}
}

// A part is asked for while its whole is lost and made again under another number.
// The engine refuses the number that it was asked for with; the next call has the new one.
func TestAPartIsAskedForAgainWhenItsWholeWasMadeAgainMeanwhile(t *testing.T) { // V5
	t.Parallel()
	for whole, part := range map[string]string{"site/": "ftp_account/", "tenant/": "site/"} {
		h := sagastest.NewHousehold(t)
		s := h.Ask(h.Draw("site"), sagastest.Site("crossed.example.com"))
		handle := uuid.New()
		f := h.Ask(
			h.Draw("ftp_account"),
			&hosting.FTPAccount{Site: s.ID, Username: "crossed", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true},
		)
		asked, remade := make(chan struct{}), make(chan struct{})
		comes := func(c chan struct{}) {
			select {
			case <-c:
			case <-t.Context().Done():
			}
		}
		firstAsked := once()
		var read atomic.Int32
		h.Engine.Tell(func(call, name string) error {
			switch {
			case call == "create" && strings.HasPrefix(name, part) && firstAsked():
				close(asked)
				comes(remade)
			case call == "find" && strings.HasPrefix(name, whole) && h.Engine.Creations(name) == 1 && read.Add(1) > 1:
				// the first reads back
				h.Engine.Forget(name)
				comes(asked)
			}
			return nil
		}, nil)
		h.Carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.Goes()
		ref := s.Ref
		if whole == "tenant/" {
			ref = hosting.Ref{Kind: "tenant", ID: h.Tenant}
		}
		comes(asked)
		h.Eventually("its whole is made again", func() bool {
			return h.RunOf(fmt.Sprintf("engine:%s/1", ref.Stream())).Status == sagas.StatusDone
		})
		close(remade)
		h.Eventually("it is made", func() bool { return h.Resource(f.Ref).Status == hosting.Running })
		h.Quiet()
		h.Equal(whole+": lost", h.Often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", ref.Stream())), "saga.effect_lost"), 1)
		h.Equal(
			whole+": parked",
			h.Often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", f.Stream())), "saga.parked")+h.Often(
				sagas.StreamOf(fmt.Sprintf("engine:%s/1", s.Stream())), "saga.parked",
			),
			0,
		)
		h.End()
	}
}

func TestAnEngineThatIsAwayIsSaidSo(t *testing.T) {
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) { o.Times.SyncBudget = 300 * time.Millisecond })
	away := func(string, string) error { return domain.Fail(domain.Transient, "refused", sagastest.ErrLie) }
	w.Engine.Tell(away, nil)
	err := w.Jobs.Sync(t.Context(), domain.Metadata{}, hosting.QueueOperation{ID: uuid.New(), Kind: hosting.TenantSync, Tenant: 5})
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "engine_unavailable" || refusal.Code != domain.Unavailable {
		t.Fatal(err)
	}
	w.Equal("operations", w.Count(`select count(*) from operations`), 0)

	id := uuid.New() // which goes away right after
	w.Does(
		hosting.QueueOperation{
			ID: id, Kind: hosting.TenantSync, Tenant: 5, About: hosting.Ref{Kind: "tenant", ID: 5},
			Sync: &hosting.Sync{},
		},
	)
	w.Runner.Wake(w.Reconciler.EngineQueue())
	o := w.Over(id)
	w.Equal("end", o.Status+" "+o.Error, "failed engine_unavailable")
}

// What is lost each time needs an operator, whose retry starts anew.
func TestWhatIsLostAgainAndAgainNeedsAnOperator(t *testing.T) { // T14, T15
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Engine.Tell(nil, func(call, name string) error {
		if call == "create" {
			w.Engine.Forget(name)
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusFailed)
	client := "tenant/" + hosting.CustomerNumber(w.Provision(id).Job.Tenant)
	w.Equal("step", w.Order(id).Step, "tenant.ready")
	w.Equal("made", w.Engine.Creations(client), 4)
	w.Engine.Tell(nil, nil)
	w.Must(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "the engine's disk was replaced"))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("made", w.Engine.Creations(client), 5)
}

// The engine calls a certificate after its site, and has yet to rename the site,
// or does so between two looks at the certificate.
func TestACertificateLeavesWhileItsSiteIsRenamed(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"not yet", "meanwhile"} {
		h, a, ref := issuances(t, nil)
		h.Engine.Strict = true
		a.issue(sagastest.Noon.Add(90 * sagastest.Day))
		becomesCertificate(h, ref, "issued")
		h.Quiet()
		var renames sync.Once
		busy := func(call, _ string) error {
			if call == "change" {
				return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
			}
			return nil
		}
		h.Engine.Tell(func(call, name string) error {
			if call == "remove" && name == theOrder && when == "meanwhile" {
				renames.Do(func() {
					h.Engine.Tell(nil, nil)
					h.Eventually("the site is renamed", func() bool { return h.Resource(sagastest.TheSite).SyncStatus == "synced" })
				})
			}
			return busy(call, name)
		}, nil)
		h.Carry(sagastest.Set(sagastest.TheSite, `{"domain":"example.org"}`))
		h.Carry(hosting.Remove{Ref: ref})
		h.Stands(ref, hosting.Gone)
		h.Equal(when+", the site waits", h.Resource(sagastest.TheSite).SyncStatus == "pending", when == "not yet")
		h.Engine.Tell(nil, nil)
		h.Quiet()
		h.Equal(when+", at the engine", h.Has("site", "example.org").ID, *h.Resource(sagastest.TheSite).EngineID)
		h.Equal(when+", beside the client", len(h.Engine.All()), 2)
		h.Equal(when+", parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
		h.End()
	}
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
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			tries.Add(1)
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	o := order7("wordpress", "/")
	w.Must(install(w, o))
	w.Eventually("the engine has refused", func() bool { return tries.Load() > 1 })
	w.Must(w.Store.Clock().Advance(t.Context(), 2*sagastest.Quick.EngineBudget))
	done := w.Over(o.Operation)
	w.Equal("end", done.Status+" "+done.Error, "failed busy")
	w.Equal("run", w.RunOf("install:"+o.Operation.String()).Status, sagas.StatusParked)
	w.Eventually("the database is gone", func() bool {
		return w.Count(`select count(*) from resources where kind = 'database' and status = 'gone'`) == 1
	})
	w.Engine.Tell(nil, nil)
	run := w.RunOf("install:" + o.Operation.String())
	w.Must(w.Runner.Operators.RetryRun(t.Context(), domain.Metadata{Actor: "operator:1"}, run.ID(), "it answers again"))
	w.Eventually("the run is over", func() bool { return w.RunOf(run.Key).Status == sagas.StatusDone })
	w.Equal("installations", w.Engine.Creations("cms/bread.example/"), 0) // the operation has ended
}

// An advance of the business clock uses up a budget at once, though no time has passed for the
// engine. The step is still tried a few times.
func TestAnAdvanceAloneGivesNothingUp(t *testing.T) {
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) {
		if err := clock.Install(t.Context(), eventstoretest.Owner(t, o.Store.Pool().Config().ConnString())); err != nil {
			t.Fatal(err)
		}
	})
	var tries, left atomic.Int64
	left.Store(1 << 20)
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			tries.Add(1)
			if left.Add(-1) >= 0 {
				return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
			}
		}
		return nil
	}, nil)
	o := order7("wordpress", "/")
	w.Must(install(w, o))
	w.Eventually("the engine has refused", func() bool { return tries.Load() > 1 })
	left.Store(2)
	w.Must(w.Store.Clock().Advance(t.Context(), 2*sagastest.Quick.EngineBudget))
	done := w.Over(o.Operation)
	w.Equal("end", done.Status+" "+done.Error, "succeeded ")
	w.Equal("parked", w.Often(sagas.StreamOf("install:"+o.Operation.String()), "saga.parked"), 0)
}

// A record is synced once the engine has shown it. One that the engine loses after
// that is made again.
func TestARecordThatTheEngineLosesIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ look, confirmed int }{
		"at once": {1, 1}, "after it was read back": {2, 2},
	} {
		h := sagastest.NewHousehold(t)
		var looks atomic.Int32
		h.Engine.Tell(func(call, name string) error {
			if call == "find" && name == "site/lost.example.com" && h.Engine.Creations(name) == 1 && int(looks.Add(1)) == c.look {
				h.Engine.Forget(name)
			}
			return nil
		}, nil)
		s := h.Ask(h.Draw("site"), sagastest.Site("lost.example.com"))
		h.Carry(s)
		h.Goes()
		h.Eventually("it is made again", func() bool { return h.Engine.Creations("site/lost.example.com") == 2 })
		h.Quiet()
		h.Equal("number", h.Has("site", "lost.example.com").ID, *h.Resource(s.Ref).EngineID)
		h.Equal("sync", h.Resource(s.Ref).SyncStatus, "synced")
		h.Equal(name+": confirmed", h.Often(s.Stream(), "hosting.engine_confirmed"), c.confirmed)
		h.Equal(name+": told", h.Often(sagas.StreamOf(fmt.Sprintf("engine:site-%d/1", s.ID)), "saga.effect_lost"), c.confirmed-1)
		h.End()
	}
}

// TestACertificateLives from its first order to its end, a year long.
func TestACertificateLives(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil)
	w.Goes()
	ninety := sagastest.Noon.Add(90 * sagastest.Day)
	sagastest.Issues(w, sagastest.TheCertificate, ninety)
	var site hosting.Site
	w.Eventually("the site serves HTTPS", func() bool {
		row(w, sagastest.TheSite, &site)
		return site.SSLEnabled
	})
	clock.Set(ninety.Add(-30 * sagastest.Day).Add(-time.Minute))
	rests(w)
	w.Equal("ordered too early", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 0)

	clock.Set(ninety.Add(-30 * sagastest.Day))
	happens(w, sagastest.TheCertificate, "certificate.ordered", 1)
	var c hosting.Certificate
	row(w, sagastest.TheCertificate, &c)
	w.Equal("status", c.Status, "pending")
	w.Equal("replaces", c.Replaces.Equal(ninety), true)
	next := ninety.Add(60 * sagastest.Day)
	sagastest.Issues(w, sagastest.TheCertificate, next)
	c = hosting.Certificate{}
	row(w, sagastest.TheCertificate, &c)
	w.Equal("status", c.Status, "issued")
	w.Equal("expires", c.ExpiresAt.Equal(next), true)

	w.Asks(hosting.Change{Ref: sagastest.TheCertificate, Spec: field.Values{"auto_renew": []byte("false")}})
	clock.Set(next.Add(-30 * sagastest.Day))
	rests(w)
	w.Equal("renewed although renewal is off", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 1)
	clock.Set(next.Add(-14 * sagastest.Day))
	happens(w, sagastest.TheCertificate, "certificate.expiring", 1)
	clock.Set(next)
	happens(w, sagastest.TheCertificate, "certificate.expired", 1)
	w.Eventually("nothing is due any more", func() bool { return renewals(w) == 0 })
	w.Equal("warned", w.Often(sagastest.TheCertificate.Stream(), "certificate.expiring"), 1)
	w.Equal("ordered", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 1)
}

// A tenant that came with an order has limits of its own instead of a package.
func TestLimitsThatATenantCameWithAreCompared(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.Carry(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Spec: field.Values{"max_sites": []byte("5")}})
	name := "tenant/" + hosting.CustomerNumber(5)
	theirs := func() string { return string(w.Engine.All()[name].Values["max_sites"]) }
	w.Eventually("the engine knows the limit", func() bool { return theirs() == "5" })
	have(w, hosting.Ref{Kind: "tenant", ID: 5})
	meddle(w, name, func(o *hosting.EngineObject) { o.Values["max_sites"] = []byte("500") })
	found := countsOf(w, syncs(w, hosting.Sync{}))
	w.Equal("drift", len(found.Drift), 1)
	w.Equal("repaired", countsOf(w, syncs(w, hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("theirs", theirs(), "5")
}

// A call has no answer and look-ups are refused: the request parks whatever is done.
// Only a later request that takes its place leads on.
func TestTheNextRequestSupersedesOneThatParksEachTime(t *testing.T) { // E-4
	t.Parallel()
	for _, next := range []string{"change", "remove"} {
		h := sagastest.NewHousehold(t)
		var refuses atomic.Bool
		h.Engine.Tell(func(call, name string) error {
			if call == "find" && strings.HasSuffix(name, "/torn.example.com") && refuses.Load() {
				return domain.Fail(domain.Permanent, "job_failed", sagastest.ErrLie)
			}
			return nil
		}, func(call, name string) error {
			if call == "create" && strings.HasSuffix(name, "/torn.example.com") {
				refuses.Store(true)
				return domain.Fail(domain.Unknown, "timeout", errors.New("no answer"))
			}
			return nil
		})
		s := h.Ask(h.Draw("site"), sagastest.Site("torn.example.com"))
		h.Carry(s)
		h.Goes()
		run := fmt.Sprintf("engine:site-%d/", s.ID)
		h.Eventually("it is parked", func() bool { return h.RunOf(run+"1").Status == sagas.StatusParked })
		h.Must(h.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, sagas.RunID(run+"1"), "let us see"))
		h.Eventually("it is parked again", func() bool { return h.Often(sagas.StreamOf(run+"1"), "saga.parked") == 2 })
		h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.9"}`))
		second := run + fmt.Sprint(h.Resource(s.Ref).Wish)
		h.Eventually("the next one is parked, too", func() bool { return h.RunOf(second).Status == sagas.StatusParked })
		h.Equal(next+": the first is over", h.RunOf(run+"1").Status, sagas.StatusDone)
		h.Equal(
			next+": its effect",
			h.Count(`select count(*) from effect where key = $1 and state = 'deferred'`, fmt.Sprintf("e/site-%d/1", s.ID)),
			1,
		)
		refuses.Store(false)
		if next == "remove" {
			h.Carry(hosting.Remove{Ref: s.Ref})
			h.Stands(s.Ref, hosting.Gone)
			h.Equal("left at the engine", len(h.Engine.All()), 1) // the client
		} else {
			h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.10"}`))
			h.Stands(s.Ref, hosting.Running)
			h.Equal("address", sagastest.Value(h.Has("site", "torn.example.com"), "ip_address"), `"192.0.2.10"`)
		}
		h.Quiet()
		h.Equal(next+": made", h.Engine.Creations("site/torn.example.com"), 1)
		h.End()
	}
}

func TestWhatTheEngineHasRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	refusing := func(call, name string) error {
		if call == "create" && name == "dns_zone/bread.example." {
			return domain.Fail(domain.Permanent, "invalid", sagastest.ErrLie)
		}
		return nil
	}
	w.Engine.Tell(refusing, nil)
	zone := hosting.Ref{Kind: "dns_zone", ID: 9}
	add(
		w, "dns_zone", 9,
		&hosting.DNSZone{Origin: "bread.example.", NSPrimary: "ns.example.", AdminEmail: "a.bread.example.", TTL: 3600, IsActive: true},
	)
	w.Eventually("the zone is refused", func() bool {
		return w.Count(`select count(*) from resources where kind = 'dns_zone' and sync_status = 'error'`) == 1
	})
	w.Equal("refused again", countsOf(w, syncs(w, hosting.Sync{})).String(), "created 0 updated 0 missing 0")
	w.Engine.Tell(nil, nil)
	w.Equal("found", countsOf(w, syncs(w, hosting.Sync{})).String(), "created 1 updated 0 missing 0")
	have(w, zone)
}

func TestAMachineRestsWithItsTenant(t *testing.T) { // E-6
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant := sagastest.Machine(w)
	w.Carry(hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "stopped")
	w.Equal("clients made for the tenant of a machine", len(w.Engine.All()), 0)
	w.Carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "running")
	w.Carry(sagastest.Set(tenant, `{"status":"suspended"}`), hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "stopped")
	w.Carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder}) // it is still suspended
	w.Carry(hosting.Remove{Ref: vm})
	w.Stands(vm, hosting.Gone)
	w.Equal("machines", len(w.Compute.All()), 0)
}

// The engine owes the answer to the making of the first when it is renamed, and
// has yet to carry that out when another one takes the name.
func TestANameThatChangesHandsLeavesItsObjectWithTheFirst(t *testing.T) { // E-4
	t.Parallel()
	for _, how := range []string{"asked for", "renamed"} {
		h := sagastest.NewHousehold(t)
		h.Engine.Strict = true
		first, other := h.Ask(h.Draw("site"), sagastest.Site("one.example.com")), h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
		if how == "renamed" {
			other = h.Ask(other.ID, sagastest.Site("three.example.com"))
			h.Carry(other)
		}
		var once sync.Once
		takes := func() {
			if how == "renamed" {
				h.Carry(sagastest.Set(other.Ref, `{"domain":"one.example.com"}`))
			} else {
				h.Carry(other)
			}
			h.Eventually("the other one has got its turn", func() bool {
				return h.Count(
					`select count(*) from saga_run where about = $1 and awaits = $2`, other.Stream().String(),
					first.Stream().String(),
				) == 1 ||
					h.Resource(other.Ref).SyncStatus == "synced"
			})
		}
		h.Engine.Tell(func(call, name string) error {
			if call == "change" && name == "site/two.example.com" && h.Resource(first.Ref).EngineID == nil {
				once.Do(takes)
			}
			return nil
		}, func(call, name string) error {
			if call != "create" || name != "site/one.example.com" || h.Resource(first.Ref).Wish > 1 {
				return nil
			}
			h.Carry(sagastest.Set(first.Ref, `{"domain":"two.example.com"}`))
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		})
		h.Carry(first)
		h.Goes()
		h.Eventually("both are as wanted", func() bool {
			return h.Resource(first.Ref).SyncStatus == "synced" && h.Resource(other.Ref).SyncStatus == "synced"
		})
		h.Quiet()
		h.Equal(how+", the first", h.Has("site", "two.example.com").ID, *h.Resource(first.Ref).EngineID)
		h.Equal(how+", the other", h.Has("site", "one.example.com").ID, *h.Resource(other.Ref).EngineID)
		h.Equal(how+", at the engine", len(h.Engine.All()), 3) // with the client
		h.Equal(how+", claims of the first", claims(h.World, first.Ref), "two.example.com")
		h.Equal(how+", claims of the other", claims(h.World, other.Ref), "one.example.com")
		h.End()
	}
}

// The engine takes the order and drops it without a word.
func TestAnOrderThatIsDroppedHasFailed(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.Eventually("it is ordered", func() bool { return h.Resource(ref).SyncStatus == "synced" })
	h.Must(a.Remove(t.Context(), h.Has("ssl_certificate", "example.com")))
	becomesCertificate(h, ref, "failed")
	h.Quiet()
	c := certificate(h, ref)
	h.Equal("why", c.LastError, "not_issued")
	h.Equal("parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
	h.Carry(sagastest.Set(ref, `{"auto_renew":false}`), hosting.Push{Ref: ref})
	h.Quiet()
	h.Equal("ordered by the way", h.Engine.Creations(theOrder), 1)

	h.Carry(hosting.Order{Ref: ref, At: c.FailedAt.Add(time.Hour)})
	h.Eventually("it is ordered again", func() bool { return h.Engine.Creations(theOrder) == 2 })
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Equal("failures", certificate(h, ref).Failures, 0)
}

// Its passwords are gone by then, so the order of a program comes to its end.
func TestAProgramThatIsLostEndsItsOperation(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.Engine.Tell(nil, func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			w.Engine.Forget(name)
		}
		return nil
	})
	o := order7("wordpress", "/blog")
	w.Must(install(w, o))
	done := w.Over(o.Operation)
	w.Equal("status", done.Status, "failed")
	w.Equal("installations", w.Engine.Creations("cms/bread.example/blog"), 1)
}

// Records with frequent changes are suspended with their tenant too, and do not
// delay others.
func TestWhatIsBusyFollowsItsTenantToo(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses("engine:one") // which is not what this is about
	tenant := w.Tenant(1, 11)
	const sites = 8
	for n := range int64(sites) {
		w.Does(
			hosting.Request{
				Ref: hosting.Ref{Kind: "site", ID: n}, Tenant: 1,
				Spec: (&hosting.Site{Domain: fmt.Sprint("s", n, ".example"), IsActive: true}).Fields().Values(),
				For:  "test",
			},
		)
	}
	w.Goes()
	ctx, halt := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for n := range int64(sites) {
		writers.Go(func() { keepsWriting(w, ctx, hosting.Ref{Kind: "site", ID: n}) })
	}
	const resting = `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`
	for _, state := range []struct {
		status string
		rest   int
	}{{hosting.Suspended, sites}, {hosting.InService, 0}} {
		w.Does(hosting.Change{Ref: tenant, Spec: field.Values{"status": field.AppendText(nil, state.status)}})
		w.Eventually("the sites do as their tenant", func() bool { return w.Count(resting) == state.rest })
	}
	halt()
	writers.Wait()
	w.Equal("given up", w.Count(`select count(*) from poisoned`), 0)
}

// The bin's run sleeps in one process; another one advances the clock. Polls are
// far apart, so what is done at once was woken by the advance.
func TestAnAdvanceOfTheClockEndsTheGraceInAnotherProcess(t *testing.T) {
	t.Parallel()
	patient := sagastest.Quick
	patient.Poll, patient.BinLook = 20*time.Second, sagastest.Day
	h := sagastest.NewHousehold(t, func(o *assembly.Options) { o.Times = patient })
	other := h.Node(h.URL(), func(o *assembly.Options) { o.Times = patient })
	h.Moves()
	h.Start(other)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	_, err := other.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, s)
	h.Must(err)
	h.Stands(s.Ref, hosting.Running)
	_, err = other.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, hosting.MoveToBin{Ref: s.Ref})
	h.Must(err)
	h.Eventually("its run waits for the end of the grace", func() bool {
		return h.Count(`select count(*) from saga_run where key like 'grace:%' and status = 'waiting' and run_at > now()`) == 1
	})
	moved := lastEvent(h.World)
	begun := time.Now()
	h.Must(h.Store.Clock().Advance(t.Context(), 31*sagastest.Day))
	h.Stands(s.Ref, hosting.Gone)
	if took := time.Since(begun); took > patient.Poll/2 {
		t.Errorf("the bin was emptied after %v: the advance has not woken its run", took)
	}
	if aged := lastEvent(h.World).Sub(moved); aged < 31*sagastest.Day || aged > 31*sagastest.Day+time.Hour {
		t.Errorf("the log says that it took %s", aged)
	}
	h.Equal(
		"runs whose lease ends with the offset",
		h.Count(`select count(*) from saga_run where lease_until > now() + interval '1 day'`), 0,
	)
}

func TestWhatDiffersIsReportedRepairedOrAdopted(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	address := func(o *hosting.EngineObject) { o.Values["ip_address"] = json.RawMessage(`"192.0.2.1"`) }
	theirs := func() string { return string(w.Engine.All()["site/bread.example"].Values["ip_address"]) }

	meddle(w, "site/bread.example", address)
	for range 2 {
		found := countsOf(w, syncs(w, hosting.Sync{}))
		if len(found.Drift) != 1 || found.Updated != 0 {
			t.Fatal(found, found.Drift)
		}
		d := found.Drift[0]
		w.Equal("drift", fmt.Sprint(d.Resource, d.ID, d.Field, string(d.Panel), string(d.Engine)), `site7ip_address"*""192.0.2.1"`)
	}
	w.Equal("would be", countsOf(w, syncs(w, hosting.Sync{DryRun: true, Repair: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("theirs", theirs(), `"192.0.2.1"`)
	w.Equal("repaired", countsOf(w, syncs(w, hosting.Sync{Repair: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("theirs", theirs(), `"*"`)

	meddle(w, "site/bread.example", address)
	before := w.Engine.Changed["site/bread.example"]
	w.Equal("would be", countsOf(w, syncs(w, hosting.Sync{DryRun: true, Adopt: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("adopted", countsOf(w, syncs(w, hosting.Sync{Adopt: true})).String(), "created 0 updated 1 missing 0")
	w.Equal("ours", site7(w).IPAddress, "192.0.2.1")
	w.Equal("changes at the engine", w.Engine.Changed["site/bread.example"], before)
	w.Equal("drift that is left", len(countsOf(w, syncs(w, hosting.Sync{})).Drift), 0)
}

// The hypervisor's data are gone with the machine, so it is not made again by itself.
func TestAMachineThatIsLostLaterShowsIt(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant := sagastest.Machine(w)
	w.Compute.Tell(nil, func(call, _ string) error {
		if call == "switch" {
			w.Compute.Forget()
		}
		return nil
	})
	w.Carry(hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.Eventually("it is shown", func() bool { return w.Resource(vm).SyncStatus == "error" })
	w.Equal("why", w.Resource(vm).SyncError, "absent")
	w.Equal("machines", len(w.Compute.All()), 0)
}

// The same, and the name is another one since: what was made gets it.
func TestWhatWasMadeUnderAnEarlierNameIsRenamedAndNotLeftBehind(t *testing.T) {
	t.Parallel()
	for _, then := range []hosting.Status{hosting.Running, hosting.Gone} {
		h := sagastest.NewHousehold(t)
		h.Engine.Strict = true
		s := h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
		h.Engine.Tell(nil, func(call, name string) error {
			if call != "create" || name != "site/one.example.com" {
				return nil
			}
			h.Carry(sagastest.Set(s.Ref, `{"domain":"two.example.com"}`))
			if then == hosting.Gone {
				h.Carry(hosting.Remove{Ref: s.Ref})
			}
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		})
		h.Carry(s)
		h.Goes()
		h.Stands(s.Ref, then)
		h.Quiet()
		if then == hosting.Running {
			h.Equal("number", h.Has("site", "two.example.com").ID, *h.Resource(s.Ref).EngineID)
		}
		h.Equal("made", h.Engine.Creations("site/one.example.com")+h.Engine.Creations("site/two.example.com"), 1)
		h.Equal("at the engine", len(h.Engine.All()), map[hosting.Status]int{hosting.Running: 2, hosting.Gone: 1}[then]) // with the client
	}
}

// A renewal that fails leaves what there is.
func TestARenewalThatFailsLeavesWhatThereIs(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	ends := sagastest.Noon.Add(90 * sagastest.Day)
	a.issue(ends)
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Engine.Tell(func(call, name string) error {
		if call == "change" && name == theOrder {
			return domain.Fail(domain.Permanent, "not_issued", errors.New("no"))
		}
		return nil
	}, nil)
	h.Carry(hosting.Order{Ref: ref, At: sagastest.Noon, Anew: true})
	becomesCertificate(h, ref, "failed")
	h.Equal("expires", certificate(h, ref).ExpiresAt.Equal(ends), true)
}

func TestHaltedResourcesAreOffAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	on, off := h.Ask(h.Draw("site"), sagastest.Site("on.example.com")), h.Ask(h.Draw("site"), sagastest.Site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.Carry(on, off)
	h.Goes()
	h.Stands(on.Ref, hosting.Running)
	h.Stands(off.Ref, hosting.Running)
	h.Carry(hosting.Disable{Ref: on.Ref, By: hosting.BySite}, hosting.Disable{Ref: off.Ref, By: hosting.BySite})
	h.Eventually("both are off", func() bool {
		return h.Resource(on.Ref).SyncStatus == "synced" && h.Resource(off.Ref).SyncStatus == "synced"
	})
	h.Equal("on", sagastest.Value(h.Has("site", "on.example.com"), "is_active"), "false")
	h.Equal("active", h.Resource(on.Ref).Active, false)
	h.Carry(hosting.Enable{Ref: on.Ref, By: hosting.BySite}, hosting.Enable{Ref: off.Ref, By: hosting.BySite})
	h.Eventually("both are as they were", func() bool {
		return h.Resource(on.Ref).SyncStatus == "synced" && h.Resource(off.Ref).SyncStatus == "synced"
	})
	h.Equal("on", sagastest.Value(h.Has("site", "on.example.com"), "is_active"), "true")
	h.Equal("off", sagastest.Value(h.Has("site", "off.example.com"), "is_active"), "false")
}

// The run of the first time finds it in the bin, but not since then.
func TestWhatIsThrownAwayAgainHasThirtyDaysAnew(t *testing.T) {
	t.Parallel()
	clock := &sagastest.TestClock{At: time.Now()}
	h := sagastest.NewHousehold(t, sagastest.ByHand(clock.Now))
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	h.Carry(hosting.MoveToBin{Ref: s.Ref})
	h.Carry(hosting.Restore{Ref: s.Ref})
	ended := fmt.Sprintf("grace:site-%d/2", s.ID)
	h.Fault.To(func(p sagas.Point, c sagas.Run) error { // between the end of the wait and the removal
		if p == sagas.BeforeComplete && c.Key == ended && c.Step == 0 {
			h.Carry(hosting.MoveToBin{Ref: s.Ref})
		}
		return nil
	})
	h.Goes()
	h.Eventually("its run ends", func() bool { return h.RunOf(ended).Status == sagas.StatusDone })
	h.Quiet()
	clock.Pass(29 * sagastest.Day)
	h.Equal("after 29 days", h.Resource(s.Ref).Status, hosting.Running)
	h.Equal("off", sagastest.Value(h.Has("site", "example.com"), "is_active"), "false")
	clock.Pass(2 * sagastest.Day)
	h.Stands(s.Ref, hosting.Gone)
}

func TestADirectoryThatIsNotEmptyIsRefusedAtOnceWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	first := order7("wordpress", "/")
	w.Must(install(w, first))
	w.Over(first.Operation)
	err := install(w, order7("drupal", "/"))
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "docroot_not_empty" ||
		refusal.Message != "The document root is not empty." || refusal.Code != domain.Conflict {
		t.Fatal(err)
	}
}

func TestALaterRequestForAMachineWins(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, _ := sagastest.Machine(w)
	var asked atomic.Int32
	w.Compute.Tell(nil, func(call, _ string) error {
		if call == "switch" && asked.Add(1) == 1 {
			w.Carry(hosting.Enable{Ref: vm, By: hosting.BySite}) // while the answer gets lost
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Powered(vm, "running")
	w.Equal("events", strings.Join(w.Happened(vm.Stream())[2:], " "), "hosting.disabled hosting.enabled hosting.engine_confirmed")
}

// It was refused under two names, and wants a third by now.
func TestANameUnderWhichNothingWasMadeIsFreeForOthers(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s, other := refusedTwice(h)
	refusing(h, "worse.example.com")
	h.Carry(other)
	h.Stands(other.Ref, hosting.Running)
	h.Equal("claims of the other", claims(h.World, other.Ref), "bad.example.com")
	h.Equal("claims of the one", claims(h.World, s.Ref), "worse.example.com")
}

// Each is to be called as the other is, by way of a name in between, and the
// engine does nothing before all of it has been asked for.
func TestTwoExchangeTheirNames(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Strict = true
	one, two := h.Ask(h.Draw("site"), sagastest.Site("one.example.com")), h.Ask(h.Draw("site"), sagastest.Site("two.example.com"))
	h.Carry(one, two)
	h.Goes()
	numbers := []int64{*h.Stands(one.Ref, hosting.Running).EngineID, *h.Stands(two.Ref, hosting.Running).EngineID}
	h.Quiet()
	h.Engine.Tell(func(call, _ string) error {
		if call == "change" {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	h.Carry(sagastest.Set(one.Ref, `{"domain":"between.example.com"}`))
	h.Carry(sagastest.Set(two.Ref, `{"domain":"one.example.com"}`))
	h.Carry(sagastest.Set(one.Ref, `{"domain":"two.example.com"}`))
	h.Engine.Tell(nil, nil)
	for _, ref := range []hosting.Ref{one.Ref, two.Ref} {
		h.Eventually("it is as wanted", func() bool { return h.Resource(ref).SyncStatus == "synced" })
	}
	h.Quiet()
	h.Equal("numbers", []int64{h.Has("site", "two.example.com").ID, h.Has("site", "one.example.com").ID}, numbers)
	h.Equal("claims", claims(h.World, one.Ref)+" "+claims(h.World, two.Ref), "two.example.com one.example.com")
}

func TestAWaitIsSkippedWithTheProofOfWhatItWaitsFor(t *testing.T) { // T15
	t.Parallel()
	w, id, client := stuck(t)
	skip := func(external string) error {
		return w.Orders.Skip(t.Context(), sagastest.Operator, id, "tenant.ready", external, "made by hand")
	}
	w.Equal("nothing is there", domain.CodeOf(skip("7")), domain.Invalid)
	w.Engine.Put("tenant/"+client, hosting.EngineObject{Kind: "tenant", Name: client, Ref: client})
	made := w.Engine.All()["tenant/"+client].ID
	w.Equal("another number", domain.CodeOf(skip("7")), domain.Invalid)
	w.Must(skip(fmt.Sprint(made)))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("client that the run knows", w.Provision(id).Job.Client, made)
	w.Equal("number of the tenant", *w.Resource(hosting.Ref{Kind: "tenant", ID: w.Provision(id).Job.Tenant}).EngineID, made)
	w.Equal("made by the panel", w.Engine.Creations("tenant/"+client), 1)
}

// The run of an order creates its resources at the engine. Later changes have runs
// of their own.
func TestWhatAnOrderHasMadeIsChangedLikeEverythingElse(t *testing.T) {
	t.Parallel()
	h := &sagastest.Household{World: sagastest.NewWorld(t)}
	id := h.Placed(sagastest.OrderForm{Domain: "ordered.example.com"})
	_, err := h.Payments.Pages.OpenSession(t.Context(), id)
	h.Must(err)
	h.Engine.Tell(func(call, name string) error {
		if call == "create" && name == "site/ordered.example.com" {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	h.Goes()
	h.Paid(id)
	h.Eventually("the site is asked for", func() bool {
		return h.Provision(id).Job.Site != 0 && h.Resource(hosting.Ref{Kind: "site", ID: h.Provision(id).Job.Site}).Kind != ""
	})
	ref := hosting.Ref{Kind: "site", ID: h.Provision(id).Job.Site}
	h.Equal("runs of its own", h.Count(`select count(*) from saga_run where about <> ''`), 0)
	h.Carry(sagastest.Set(ref, `{"ip_address":"192.0.2.3"}`)) // before the order's run has made it
	h.Eventually("it waits for the order", func() bool {
		return h.Count(`select count(*) from saga_run where about = $1 and awaits = $1`, ref.Stream().String()) == 1
	})
	h.Engine.Tell(nil, nil)
	h.Becomes(id, order.StatusActive)
	h.Eventually("it is as wanted", func() bool { return h.Resource(ref).SyncStatus == "synced" && h.Resource(ref).Wish == 2 })
	h.Equal("address", sagastest.Value(h.Has("site", "ordered.example.com"), "ip_address"), `"192.0.2.3"`)
	h.Equal("made", h.Engine.Creations("site/ordered.example.com"), 1)
}

// A comparison orders a lost certificate anew. Disabled sites are skipped.
func TestACertificateThatTheEngineLostIsOrderedAnew(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Must(a.Remove(t.Context(), h.Has("ssl_certificate", "example.com")))
	h.Carry(hosting.Disable{Ref: ref, By: hosting.BySite})
	h.Quiet()
	h.Equal("ordered while its site is off", h.Engine.Creations(theOrder), 1)
	h.Carry(hosting.Enable{Ref: ref, By: hosting.BySite})
	h.Eventually("it is ordered anew", func() bool { return h.Engine.Creations(theOrder) == 2 })
	h.Quiet()
	h.Equal("status", certificate(h, ref).Status, "issued")
}

// An open order stays open while its site is in the bin, and is not repeated after.
func TestAnOrderStandsWhileItsSiteIsOff(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, nil)
	h.Eventually("the run waits", func() bool { return h.RunOf("engine:"+ref.Stream().String()+"/1").Step == 1 })
	h.Carry(hosting.Disable{Ref: ref, By: hosting.BySite}) // an engine is told nothing of that
	h.Quiet()
	h.Equal("changed", h.Engine.Changes(theOrder), 0)
	h.Carry(hosting.Enable{Ref: ref, By: hosting.BySite})
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Quiet()
	h.Equal("made", h.Engine.Creations(theOrder), 1)
}

// What the engine has accepted and then would not carry out is no more as it was
// asked for, whatever it said first. The next request tries again.
func TestWhatTheEngineRefusesAfterItHasAcceptedItIsShown(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	var mu sync.Mutex
	refuses := true
	h.Engine.Refused = func(o hosting.EngineObject) bool {
		mu.Lock()
		defer mu.Unlock()
		return refuses && o.Name == "bad.example.com"
	}
	s := h.Ask(h.Draw("site"), sagastest.Site("bad.example.com"))
	h.Carry(s)
	h.Goes()
	row := h.Stands(s.Ref, hosting.Refused)
	h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error engine_refused")
	mu.Lock()
	refuses = false
	mu.Unlock()
	h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.1"}`))
	row = h.Stands(s.Ref, hosting.Running)
	h.Equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.Quiet()
}

func TestRunsForTheEngineSurviveARestart(t *testing.T) {
	t.Parallel()
	url := sagastest.Database(t)
	w := &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	w.Instance = w.Node(url)
	h := &sagastest.Household{World: w, Tenant: w.Draw("tenant")}
	h.Engine.Tell(func(string, string) error { return domain.Fail(domain.Transient, "away", sagastest.ErrLie) }, nil)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(h.NewTenant(h.Tenant), s)
	h.Goes()
	h.Eventually("an attempt was made", func() bool { return h.Count(`select count(*) from saga_attempt where outcome = 'retry'`) > 0 })
	h.End()
	h.Engine.Tell(nil, nil)
	h.Instance = h.Node(url)
	loses(h.World)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Quiet()
	h.Equal("made", h.Engine.Creations("site/example.com"), 1)
}

// The tenant is confirmed after its site's run has looked for it, and before that run
// waits: it is not woken, and has to see that there is nothing to wait for.
func TestAConfirmationBeforeTheWaitLetsTheRunGoOn(t *testing.T) {
	t.Parallel()
	h := newHesitantHousehold(t)
	s := h.asksForASite()
	close(h.answers)
	h.Eventually("the tenant's own run is done", func() bool {
		return h.RunOf(fmt.Sprintf("engine:tenant-%d/1", h.Tenant)).Status == sagas.StatusDone
	})
	close(h.waits)
	h.standsSoon(s)
}

// The run of a site begins to wait while the confirmation of its tenant is being
// committed: neither sees what the other has written.
func TestAWaitThatBeginsWhileItsEndIsCommittedIsNotMissed(t *testing.T) {
	t.Parallel()
	h := newHesitantHousehold(t)
	s := h.asksForASite()
	writer, err := eventstoretest.Owner(t, h.URL()).Begin(t.Context())
	h.Must(err)
	_, err = writer.Exec(t.Context(), `select pg_advisory_xact_lock(4801223014)`) // the writers' lock
	h.Must(err)
	blocked := func() int {
		return h.Count(`select count(*) from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database())`)
	}
	close(h.answers)
	h.Eventually("the confirmation has released who waits, and waits for its commit", func() bool { return blocked() == 1 })
	close(h.waits)
	h.Eventually("the site's run begins to wait", func() bool { return blocked() == 2 || h.siteWaits() })
	h.Must(writer.Rollback(t.Context()))
	h.standsSoon(s)
}

// An answer that got lost is looked for: nothing is installed twice.
func TestAnInstallationWhoseAnswerGotLostIsFound(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	lost := false
	w.Engine.Tell(nil, func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") && !lost {
			lost = true
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	o := order7("drupal", "/")
	w.Must(install(w, o))
	w.Equal("end", w.Over(o.Operation).Status, "succeeded")
	w.Equal("installations", w.Engine.Creations("cms/bread.example/"), 1)
}

func TestARequestIsNotAcknowledgedBeforeTheEngineHasAnswered(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	version := h.Carry(s).Versions[s.Stream()]
	acknowledged := func(version int) bool {
		yes, err := h.Tables.For(projections.Caller{Tenant: h.Tenant}).Hosting().Acknowledged(t.Context(), s.Ref, version)
		h.Must(err)
		return yes
	}
	h.Equal("before", acknowledged(version), false)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Equal("after", acknowledged(version), true)
	h.Engine.Tell(func(call, _ string) error {
		if call == "remove" {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	version = h.Carry(hosting.Remove{Ref: s.Ref}).Versions[s.Stream()]
	h.Equal("of the removal", acknowledged(version), false)
	h.Equal("of a later version", acknowledged(version+1), false)
	h.Engine.Tell(nil, nil)
	h.Stands(s.Ref, hosting.Gone)
	h.Equal("after the removal", acknowledged(version), true)
}
