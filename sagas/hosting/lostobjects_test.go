package hosting_test

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
	"hostpanel/sagas/sagastest"
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

func TestAMachineThatIsLostIsMadeAgain(t *testing.T) { // V5
	t.Parallel()
	w := sagastest.NewWorld(t)
	first := once()
	w.Compute.Tell(nil, func(call, _ string) error {
		if call == "create" && first() {
			w.Compute.Forget()
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("machines made", w.Compute.Creations(id.String()), 2)
	w.Equal("machines", len(w.Compute.All()), 1)
}

// An engine may show an object late. Until the quarantine is over that proves nothing.
func TestWhatIsShownLateIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Quarantine = time.Hour })
	var looks atomic.Int32
	w.Engine.Hidden = func(name string) bool { return strings.HasPrefix(name, "tenant/") && looks.Add(1) < 6 }
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
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

// stuck is an order whose wait is used up, and whose client the engine has lost.
func stuck(t *testing.T) (w *sagastest.World, id uuid.UUID, client string) {
	w = sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.ReadyBudget = 100 * time.Millisecond })
	w.Engine.Applied = func(hosting.EngineObject) bool { return false }
	w.Goes()
	id = w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusFailed)
	w.Equal("step", w.Order(id).Step, "tenant.ready")
	client = hosting.CustomerNumber(w.Provision(id).Job.Tenant)
	w.Engine.Mu.Lock()
	w.Engine.Applied = nil
	w.Engine.Mu.Unlock()
	w.Engine.Forget("tenant/" + client)
	return w, id, client
}

func TestARetryOfAWaitMakesAgainWhatIsGone(t *testing.T) { // T15
	t.Parallel()
	w, id, client := stuck(t)
	w.Must(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "the engine is back"))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("made", w.Engine.Creations("tenant/"+client), 2)
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

// What the engine refuses after it has accepted it is shown, and looked at again on
// an operator's word.
func TestARefusalAfterAcceptanceIsShown(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	var refuses atomic.Bool
	h.Engine.Tell(func(call, name string) error {
		if call == "find" && name == "site/late.example.com" && refuses.Load() {
			return domain.Fail(domain.Permanent, "job_failed", sagastest.ErrLie)
		}
		return nil
	}, func(call, name string) error {
		if call == "create" && name == "site/late.example.com" {
			refuses.Store(true)
		}
		return nil
	})
	s := h.Ask(h.Draw("site"), sagastest.Site("late.example.com"))
	h.Carry(s)
	h.Goes()
	row := h.Stands(s.Ref, hosting.Refused)
	h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error job_failed")
	refuses.Store(false)
	h.Must(
		h.Runner.Operators.RetryRun(
			t.Context(), sagastest.Operator, sagas.RunID(fmt.Sprintf("engine:site-%d/1", s.ID)), "the job was mended",
		),
	)
	row = h.Stands(s.Ref, hosting.Running)
	h.Equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.Quiet()
	h.Equal("made", h.Engine.Creations("site/late.example.com"), 1)
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
