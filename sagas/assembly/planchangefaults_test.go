package assembly_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// A worker may die at any point between the payment and the engine, and the engine may
// lose an answer: the run goes on, and the limits come once.
func TestAWorkerMayDieWhileAPlanChanges(t *testing.T) {
	t.Parallel()
	for _, at := range []sagas.Point{sagas.BeforeComplete, sagas.AfterComplete} {
		for _, step := range []string{"limits", "limits.applied", "push"} {
			t.Run(fmt.Sprint(step, " ", at), func(t *testing.T) {
				t.Parallel()
				w := withPlans(t, func(o *assembly.Options) { o.Times.Lease = 500e6 })
				id := w.serves(ordering{})
				client := w.client(id)
				var once sync.Once
				w.fault.to(func(p sagas.Point, r sagas.Run) (err error) {
					if p == at && r.At().Name == step {
						once.Do(func() { err = sagas.ErrKilled })
					}
					return err
				})
				var lost sync.Once
				w.engine.tell(nil, func(call, name string) (err error) {
					if call == "change" && name == client {
						lost.Do(func() { err = domain.Fail(domain.Unknown, "timeout", errors.New("no answer")) })
					}
					return err
				})
				w.must(w.changes(id, largePlan, "monthly"))
				w.paysChange(id)
				w.planned(id, "Large", "10")
				w.equal("changes of the tenant", w.often(hosting.Ref{Kind: "tenant", ID: w.subscription(id).Tenant}.Stream(), "hosting.changed"), 1)
			})
		}
	}
}

// An engine that refuses the limits parks the run, where operators see it. The plan stays
// changed, because it is paid for, and the run goes on when they say so.
func TestARefusedLimitWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{})
	client := w.client(id)
	var refuses sync.Map
	refuses.Store("now", true)
	w.engine.tell(func(call, name string) error {
		if _, now := refuses.Load("now"); now && call == "change" && name == client {
			return domain.Fail(domain.Permanent, "invalid", errors.New("no"))
		}
		return nil
	}, nil)
	w.must(w.changes(id, largePlan, "monthly"))
	w.must(w.Billing.MarkPaid(t.Context(), caused(), w.subscription(id).Change.Invoice, "cash", "till"))
	var parked string
	w.eventually("the run is parked", func() bool {
		parked = w.text(`select coalesce(max(id::text), '') from saga_run where key like 'change-plan:%' and status = $1`, sagas.StatusParked)
		return parked != ""
	})
	w.equal("plan", w.subscription(id).PlanName, "Large")
	refuses.Delete("now")
	w.do(hosting.Push{Ref: hosting.Ref{Kind: "tenant", ID: w.subscription(id).Tenant}})
	w.eventually("the engine has the limits", func() bool { return w.sitesAtEngine(id) == "10" })
	w.must(w.RetryRun(t.Context(), operator, uuid.MustParse(parked), "it takes them now"))
	w.planned(id, "Large", "10")
}
