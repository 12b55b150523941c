//go:build system

package faults_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// A worker may die at any point between the payment and the engine, and the engine may
// lose an answer: the run goes on, and the limits come once.
func TestAWorkerMayDieWhileAPlanChanges(t *testing.T) {
	t.Parallel()
	for _, at := range []sagas.Point{sagas.BeforeComplete, sagas.AfterComplete} {
		for _, step := range []string{"limits", "limits.applied", "push"} {
			t.Run(fmt.Sprint(step, " ", at), func(t *testing.T) {
				t.Parallel()
				w := sagastest.WithPlans(t, func(o *assembly.Options) { o.Times.Lease = 500e6 })
				id := w.Serves(sagastest.OrderForm{})
				client := w.Client(id)
				var once sync.Once
				w.Fault.To(func(p sagas.Point, r sagas.Run) (err error) {
					if p == at && r.At().Name == step {
						once.Do(func() { err = sagas.ErrKilled })
					}
					return err
				})
				var lost sync.Once
				w.Engine.Tell(nil, func(call, name string) (err error) {
					if call == "change" && name == client {
						lost.Do(func() { err = domain.Fail(domain.Unknown, "timeout", errors.New("no answer")) })
					}
					return err
				})
				w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
				w.PaysChange(id)
				w.Planned(id, "Large", "10")
				w.Equal(
					"changes of the tenant",
					w.Often(hosting.Ref{Kind: "tenant", ID: w.Subscription(id).Tenant}.Stream(), "hosting.changed"), 1,
				)
			})
		}
	}
}
