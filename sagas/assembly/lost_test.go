package assembly_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// once tells whether it is asked for the first time.
func once() func() bool {
	var asked atomic.Bool
	return func() bool { return asked.CompareAndSwap(false, true) }
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
		w := newWorld(t)
		first := once()
		w.engine.tell(nil, func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, c.made) && first() {
				for object := range w.engine.all() {
					if strings.Contains(c.loses, object[:strings.Index(object, "/")+1]) {
						w.engine.forget(object)
					}
				}
			}
			return nil
		})
		w.goes()
		id := w.buy(ordering{domain: "lost.example.com"})
		w.becomes(id, order.StatusActive)
		w.settled(id)
		run := w.provision(id)
		client := w.engine.all()["tenant/"+hosting.CustomerNumber(run.Job.Tenant)]
		w.equal(c.loses+": clients made", w.engine.creations("tenant/"+client.Name), c.tenants)
		w.equal(c.loses+": client that the run knows", run.Job.Client, client.ID)
		w.equal(c.loses+": owner of the site", w.engine.all()["site/lost.example.com"].Owner, client.ID)
		w.equal(c.loses+": told", w.often(sagas.StreamOf(run.Key), "saga.effect_lost") > 0, true)
		w.end()
	}
}

func TestAMachineThatIsLostIsMadeAgain(t *testing.T) { // V5
	t.Parallel()
	w := newWorld(t)
	first := once()
	w.compute.tell(nil, func(call, _ string) error {
		if call == "create" && first() {
			w.compute.forget()
		}
		return nil
	})
	w.goes()
	id := w.buy(ordering{kind: "vps"})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("machines made", w.compute.creations(id.String()), 2)
	w.equal("machines", len(w.compute.all()), 1)
}

// An engine may show an object late. Until the quarantine is over that proves nothing.
func TestWhatIsShownLateIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Quarantine = time.Hour })
	var looks atomic.Int32
	w.engine.hidden = func(name string) bool { return strings.HasPrefix(name, "tenant/") && looks.Add(1) < 6 }
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.onlyOnce(id)
}

// What is lost each time needs an operator, whose retry starts anew.
func TestWhatIsLostAgainAndAgainNeedsAnOperator(t *testing.T) { // T14, T15
	t.Parallel()
	w := newWorld(t)
	w.engine.tell(nil, func(call, name string) error {
		if call == "create" {
			w.engine.forget(name)
		}
		return nil
	})
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusFailed)
	client := "tenant/" + hosting.CustomerNumber(w.provision(id).Job.Tenant)
	w.equal("step", w.order(id).Step, "tenant.ready")
	w.equal("made", w.engine.creations(client), 4)
	w.engine.tell(nil, nil)
	w.must(w.Retry(t.Context(), operator, id, nil, "the engine's disk was replaced"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("made", w.engine.creations(client), 5)
}

// stuck is an order whose wait is used up, and whose client the engine has lost.
func stuck(t *testing.T) (w *world, id uuid.UUID, client string) {
	w = newWorld(t, func(o *assembly.Options) { o.Times.ReadyBudget = 100 * time.Millisecond })
	w.engine.applied = func(hosting.EngineObject) bool { return false }
	w.goes()
	id = w.buy(ordering{})
	w.becomes(id, order.StatusFailed)
	w.equal("step", w.order(id).Step, "tenant.ready")
	client = hosting.CustomerNumber(w.provision(id).Job.Tenant)
	w.engine.mu.Lock()
	w.engine.applied = nil
	w.engine.mu.Unlock()
	w.engine.forget("tenant/" + client)
	return w, id, client
}

func TestARetryOfAWaitMakesAgainWhatIsGone(t *testing.T) { // T15
	t.Parallel()
	w, id, client := stuck(t)
	w.must(w.Retry(t.Context(), operator, id, nil, "the engine is back"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("made", w.engine.creations("tenant/"+client), 2)
}

func TestAWaitIsSkippedWithTheProofOfWhatItWaitsFor(t *testing.T) { // T15
	t.Parallel()
	w, id, client := stuck(t)
	skip := func(external string) error {
		return w.Skip(t.Context(), operator, id, "tenant.ready", external, "made by hand")
	}
	w.equal("nothing is there", domain.CodeOf(skip("7")), domain.Invalid)
	w.engine.put("tenant/"+client, hosting.EngineObject{Kind: "tenant", Name: client, Ref: client})
	made := w.engine.all()["tenant/"+client].ID
	w.equal("another number", domain.CodeOf(skip("7")), domain.Invalid)
	w.must(skip(fmt.Sprint(made)))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("client that the run knows", w.provision(id).Job.Client, made)
	w.equal("number of the tenant", *w.resource(hosting.Ref{Kind: "tenant", ID: w.provision(id).Job.Tenant}).EngineID, made)
	w.equal("made by the panel", w.engine.creations("tenant/"+client), 1)
}

// The hypervisor's data are gone with the machine, so it is not made again by itself.
func TestAMachineThatIsLostLaterShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	_, vm, tenant := w.machine()
	w.compute.tell(nil, func(call, _ string) error {
		if call == "switch" {
			w.compute.forget()
		}
		return nil
	})
	w.carry(hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.eventually("it is shown", func() bool { return w.resource(vm).SyncStatus == "error" })
	w.equal("why", w.resource(vm).SyncError, "absent")
	w.equal("machines", len(w.compute.all()), 0)
}

// Its passwords are gone by then, so the order of a program comes to its end.
func TestAProgramThatIsLostEndsItsOperation(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	w.engine.tell(nil, func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "cms/") {
			w.engine.forget(name)
		}
		return nil
	})
	o := order7("wordpress", "/blog")
	w.must(w.install(o))
	done := w.over(o.Operation)
	w.equal("status", done.Status, "failed")
	w.equal("installations", w.engine.creations("cms/bread.example/blog"), 1)
}

// What the engine refuses after it has accepted it is shown, and looked at again on
// an operator's word.
func TestARefusalAfterAcceptanceIsShown(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var refuses atomic.Bool
	h.engine.tell(func(call, name string) error {
		if call == "find" && name == "site/late.example.com" && refuses.Load() {
			return domain.Fail(domain.Permanent, "job_failed", errLie)
		}
		return nil
	}, func(call, name string) error {
		if call == "create" && name == "site/late.example.com" {
			refuses.Store(true)
		}
		return nil
	})
	s := h.ask(h.draw("site"), site("late.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error job_failed")
	refuses.Store(false)
	h.must(h.RetryRun(t.Context(), operator, sagas.RunID(fmt.Sprintf("engine:site-%d/1", s.ID)), "the job was mended"))
	row = h.stands(s.Ref, hosting.Running)
	h.equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.quiet()
	h.equal("made", h.engine.creations("site/late.example.com"), 1)
}

// A call has no answer and look-ups are refused: the request parks whatever is done.
// Only a later request that takes its place leads on.
func TestTheNextRequestSupersedesOneThatParksEachTime(t *testing.T) { // E-4
	t.Parallel()
	for _, next := range []string{"change", "remove"} {
		h := newHousehold(t)
		var refuses atomic.Bool
		h.engine.tell(func(call, name string) error {
			if call == "find" && strings.HasSuffix(name, "/torn.example.com") && refuses.Load() {
				return domain.Fail(domain.Permanent, "job_failed", errLie)
			}
			return nil
		}, func(call, name string) error {
			if call == "create" && strings.HasSuffix(name, "/torn.example.com") {
				refuses.Store(true)
				return domain.Fail(domain.Unknown, "timeout", errors.New("no answer"))
			}
			return nil
		})
		s := h.ask(h.draw("site"), site("torn.example.com"))
		h.carry(s)
		h.goes()
		run := fmt.Sprintf("engine:site-%d/", s.ID)
		h.eventually("it is parked", func() bool { return h.runOf(run+"1").Status == sagas.StatusParked })
		h.must(h.RetryRun(t.Context(), operator, sagas.RunID(run+"1"), "let us see"))
		h.eventually("it is parked again", func() bool { return h.often(sagas.StreamOf(run+"1"), "saga.parked") == 2 })
		h.carry(set(s.Ref, `{"ip_address":"192.0.2.9"}`))
		second := run + fmt.Sprint(h.resource(s.Ref).Wish)
		h.eventually("the next one is parked, too", func() bool { return h.runOf(second).Status == sagas.StatusParked })
		h.equal(next+": the first is over", h.runOf(run+"1").Status, sagas.StatusDone)
		h.equal(next+": its effect", h.count(`select count(*) from effect where key = $1 and state = 'deferred'`, fmt.Sprintf("e/site-%d/1", s.ID)), 1)
		refuses.Store(false)
		if next == "remove" {
			h.carry(hosting.Remove{Ref: s.Ref})
			h.stands(s.Ref, hosting.Gone)
			h.equal("left at the engine", len(h.engine.all()), 1) // the client
		} else {
			h.carry(set(s.Ref, `{"ip_address":"192.0.2.10"}`))
			h.stands(s.Ref, hosting.Running)
			h.equal("address", value(h.has("site", "torn.example.com"), "ip_address"), `"192.0.2.10"`)
		}
		h.quiet()
		h.equal(next+": made", h.engine.creations("site/torn.example.com"), 1)
		h.end()
	}
}
