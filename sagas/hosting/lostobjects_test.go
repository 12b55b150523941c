package hosting_test

import (
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
