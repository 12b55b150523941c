//go:build system

package hosting_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
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
