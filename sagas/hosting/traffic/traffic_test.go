package traffic_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/hosting/traffic"
	"hostpanel/sagas/sagastest"
)

const gigabyte = 1_000_000_000

// meters are the counters of machines at a hypervisor.
type meters struct {
	mu    sync.Mutex
	of    map[int64]compute.Usage
	asked int
	down  bool
}

func (m *meters) MachineUsage(_ context.Context, machine hosting.Ref) (compute.Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.down {
		return compute.Usage{}, errors.New("no answer")
	}
	return m.of[machine.ID], nil
}

func (m *meters) set(machine int64, u compute.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of[machine] = u
}

// machine is one of tenant 1 with two terabytes a month.
func machine(w *sagastest.World, id int64) hosting.Ref {
	w.T.Helper()
	ref, order := hosting.MachineRef(id), "6f1c2b4e-0000-4000-8000-000000000001"
	vm := hosting.NewMachine(id, order)
	vm.Cores, vm.MemoryMB, vm.DiskGB, vm.TrafficTB, vm.OS = 2, 2048, 40, 2, "debian-12"
	w.Does(
		hosting.Request{Ref: ref, Tenant: 1, Spec: vm.Fields().Values(), For: "order:" + order},
		hosting.Confirm{Ref: ref, External: "ext-" + vm.Name},
	)
	return ref
}

func used(w *sagastest.World, machine int64) hosting.MachineUsage {
	w.T.Helper()
	u, err := projections.MachineUsage(w.T.Context(), w.Tables.For(projections.System).Hosting(), machine, w.Runner.Now())
	w.Must(err)
	return u
}

func reading(at time.Time, epoch string, received, sent int64) compute.Usage {
	return compute.Usage{At: at, Epoch: epoch, CPU: at.Sub(noon) / 2, MemoryMB: 512, DiskMB: 900, Received: received, Sent: sent}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func deps(w *sagastest.World) *traffic.Deps {
	return &traffic.Deps{
		Runner: w.Runner, Store: w.Store, Tables: w.Tables, Excess: hosting.StopTraffic, Times: traffic.Times{Every: time.Hour},
	}
}

// Each byte counts once: over restarts of a machine, readings that come twice, and late ones.
func TestTrafficIsTheSumOfDifferences(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Tenant(1, 11)
	vm, d := machine(w, 77), deps(w)
	for _, c := range []struct {
		what string
		u    compute.Usage
		sum  int64
	}{
		{"the first reading counts whole", reading(after(0), "a", 100, 10), 110},
		{"a difference", reading(after(1), "a", 150, 30), 180},
		{"the same reading again", reading(after(1), "a", 150, 30), 180},
		{"an earlier reading that comes late", reading(after(0), "a", 100, 10), 180},
		{"nothing", reading(after(2), "a", 150, 30), 180},
		{"another epoch", reading(after(3), "b", 7, 1), 188},
		{"counters that have fallen in the same epoch", reading(after(4), "b", 2, 1), 191},
		{"one of the two has fallen", reading(after(5), "b", 5, 0), 196},
		{"on", reading(after(6), "b", 6, 4), 201},
	} {
		w.Must(d.Record(t.Context(), w.Resource(vm), c.u))
		if u := used(w, 77); u.Received+u.Sent != c.sum {
			t.Errorf("%s: %d, not %d", c.what, u.Received+u.Sent, c.sum)
		}
	}
	u := used(w, 77)
	if u.Cores == nil || *u.Cores < 0.49 || *u.Cores > 0.51 || u.MemoryMB != 512 || u.DiskMB != 900 || !u.ReadAt.Equal(after(6)) {
		t.Errorf("%+v", u)
	}
}

// Processes that read one machine at once count each byte once.
func TestReadingsAtOnceCountOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Tenant(1, 11)
	vm, d := machine(w, 77), deps(w)
	row := w.Resource(vm)
	for minute := range 5 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := d.Record(t.Context(), row, reading(after(minute), "a", int64(100*(minute+1)), 0)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.Equal("traffic", used(w, 77).Received, int64(100*(minute+1)))
	}
}

// A machine whose traffic is used up is off until the month ends, also if it cannot be read.
func TestAMachineIsReadInTurnAndStoppedUntilTheMonthEnds(t *testing.T) {
	t.Parallel()
	m := &meters{of: map[int64]compute.Usage{}}
	w := sagastest.NewWorldWithClock(t)
	w.Tenant(1, 11)
	vm := machine(w, 77)
	m.set(77, reading(w.Runner.Now(), "a", 1700*gigabyte, 0))
	traffic.Add(traffic.Deps{
		Runner: w.Runner, Store: w.Store, Tables: w.Tables, Machines: m, Excess: hosting.StopTraffic,
		Times: traffic.Times{Every: 20 * time.Millisecond, Poll: 5 * time.Millisecond},
	})
	w.Goes()
	reached := func(percent int) int {
		return w.Count(`select count(*) from events where name = 'hosting.traffic_reached' and (data ->> 'percent')::int = $1`, percent)
	}
	w.Eventually("its owner is told of 80 %", func() bool { return reached(80) == 1 })
	m.set(77, reading(w.Runner.Now().Add(time.Second), "a", 1700*gigabyte, 400*gigabyte))
	w.Eventually("it is off", func() bool { return len(w.Reasons(vm)) == 1 && w.Reasons(vm)[0] == hosting.ByTraffic })
	w.Equal("marks", reached(80)+reached(100), 2)
	m.mu.Lock()
	m.down = true
	asked := m.asked
	m.mu.Unlock()
	w.Eventually("it was asked again", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.asked > asked+1 })
	w.Equal("reasons", len(w.Reasons(vm)), 1)
	w.Must(w.Store.Clock().Advance(t.Context(), 31*sagastest.Day))
	w.Eventually("it is on again", func() bool { return len(w.Reasons(vm)) == 0 })
	w.Does(hosting.Remove{Ref: vm})
	w.Eventually("it is forgotten", func() bool {
		return w.Count(`select count(*) from machine_usage`)+w.Count(`select count(*) from machine_traffic`) == 0
	})
}
