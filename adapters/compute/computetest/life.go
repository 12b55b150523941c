package computetest

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

func off(m *compute.Machine)      { m.On, m.Soft = false, false }
func on(m *compute.Machine)       { m.On = true }
func askedOff(m *compute.Machine) { m.On, m.Soft = false, true }
func anew(m *compute.Machine)     { m.On, m.Boot = true, m.Boot+1 }

// life makes a machine, finds it by its id and by its name, lists it, and removes it twice.
func life(w *world) {
	m := w.machine("a")
	w.isGone(m)
	external := w.made(m)
	byName := m
	byName.ID = w.machine("b").ID
	for _, seen := range []compute.Seen{w.there(m), w.there(byName), w.isOnce(m)} {
		if why := w.differs(m, seen); why != "" || seen.External != external {
			w.Errorf("%s: %+v", why, seen)
		}
	}
	for _, given := range m.Network.Addresses {
		if seen := w.there(m); !slices.Contains(seen.Addresses, given.Addr()) {
			w.Errorf("it has %v, and was given %v", seen.Addresses, given)
		}
	}
	w.changed(external, &m, off)
	for range 2 {
		w.removed(external, m)
		w.isGone(m)
	}
	for _, seen := range w.all() {
		if seen.Name == m.Name {
			w.Errorf("listed: %+v", seen)
		}
	}
}

// hosts have the template, and one of them runs the machine.
func hosts(w *world) {
	m := w.machine("a")
	w.made(m)
	all, err := w.Hosts(w.Context())
	if err != nil || len(all) == 0 {
		w.Fatalf("%+v, %v", all, err)
	}
	if !slices.IsSortedFunc(all, func(a, b compute.Host) int { return strings.Compare(a.Name, b.Name) }) {
		w.Errorf("not by name: %+v", all)
	}
	at := w.there(m).Host
	i := slices.IndexFunc(all, func(h compute.Host) bool { return h.Name == at })
	if i < 0 {
		w.Fatalf("it runs on %q, which is none of %+v", at, all)
	}
	host := all[i]
	if !slices.Contains(host.Templates, m.Template) || host.Cores < 1 || host.MemoryMB < 1 || host.DiskGB < 1 || host.FreeGB > host.DiskGB {
		w.Errorf("%+v", host)
	}
}

func switched(w *world) {
	m := w.machine("a")
	external := w.made(m)
	starts := w.starts(m)
	for _, wants := range []func(*compute.Machine){off, off, on, on} {
		w.changed(external, &m, wants)
		w.brought(external, m) // again changes nothing
		w.becomes(m)
	}
	w.hasStarted(m, 1, starts)
}

func shutDown(w *world) {
	m := w.machine("a")
	external := w.made(m)
	w.changed(external, &m, askedOff)
}

func madeOff(w *world) {
	m := w.machine("a")
	m.On = false
	external := w.made(m)
	w.changed(external, &m, on)
}

// restarted starts a machine anew, once for each number, also when it is asked for again.
func restarted(w *world) {
	m := w.machine("a")
	external := w.made(m)
	starts := w.starts(m)
	for n := 1; n <= 2; n++ {
		w.changed(external, &m, anew)
		w.brought(external, m)
		w.becomes(m)
		w.hasStarted(m, n, starts)
	}
}

// suspended stops two machines, of which one was off before, and brings them back.
func suspended(w *world) {
	for _, name := range []string{"a", "b"} {
		m := w.machine(name)
		m.On = name == "a"
		external := w.made(m)
		was, before := m, w.there(m)
		w.changed(external, &m, off)
		w.changed(external, &m, func(m *compute.Machine) { m.On = was.On })
		before.Generation = m.Generation
		w.isUntouched(m, before)
	}
}

func resized(w *world) {
	m := w.machine("a")
	external := w.made(m)
	w.changed(external, &m, func(m *compute.Machine) {
		m.Cores, m.MemoryMB, m.DiskGB = m.Cores+1, m.MemoryMB*2, m.DiskGB+1
	})
	w.changed(external, &m, anew)
	smaller := m
	smaller.DiskGB--
	smaller.Generation++
	w.fails(w.patiently(func() error { return w.Change(w.Context(), external, smaller) }), domain.Permanent, "disk_shrinks")
	m.Generation = w.there(m).Generation // a refused one may count
	w.becomes(m)
	w.changed(external, &m, off)
	w.changed(external, &m, func(m *compute.Machine) { m.DiskGB++ })
}

func removedRunning(w *world) {
	m := w.machine("a")
	external := w.made(m)
	for range 2 {
		w.removed(external, m)
		w.isGone(m)
	}
}

// overtaken asks for what was wanted before, once more has been asked for.
func overtaken(w *world) {
	m := w.machine("a")
	external := w.made(m)
	before := m
	before.Generation++
	m.Generation++
	w.changed(external, &m, off)
	w.fails(w.Change(w.Context(), external, before), domain.Permanent, "overtaken")
	if _, err := w.Create(w.Context(), before); err != nil {
		w.fails(err, domain.Permanent, "overtaken")
	}
	w.becomes(m)
}

func absent(w *world) {
	m := w.machine("a")
	w.fails(w.Change(w.Context(), "", m), domain.Permanent, "absent")
	external := w.made(m)
	w.removed(external, m)
	m.Generation++
	w.fails(w.Change(w.Context(), external, m), domain.Permanent, "absent")
	w.isGone(m)
}

func templateless(w *world) {
	m := w.machine("a")
	m.Template = "no-such-template"
	_, err := w.Create(w.Context(), m)
	w.fails(err, domain.Permanent, "no_template")
	w.isGone(m)
}

func repeated(w *world) {
	m := w.machine("a")
	external := w.made(m)
	starts, was := w.starts(m), w.there(m)
	for range 2 {
		if again := w.created(m); again != external {
			w.Errorf("it is %s, and was %s", again, external)
		}
	}
	w.isUntouched(m, was)
	w.isOnce(m)
	w.hasStarted(m, 0, starts)
}

// twins are asked for at once; one is made.
func twins(w *world) {
	m := w.machine("a")
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			_, err := w.Create(w.Context(), m)
			if class := domain.ClassOf(err); err != nil && class != domain.Waiting && class != domain.Transient {
				w.Errorf("create: %v", err)
			}
		})
	}
	all.Wait()
	external := w.made(m)
	if seen := w.isOnce(m); seen.External != external {
		w.Errorf("%s: %+v", external, seen)
	}
}

func unsupported(w *world) {
	if len(w.Lacks) == 0 {
		return
	}
	m := w.machine("a")
	external := w.made(m)
	calls := map[string]func() error{
		Snapshots: func() error {
			_, err := w.Snapshots(w.Context(), external, m)
			return errors.Join(err, w.TakeSnapshot(w.Context(), external, m, "one"), w.DropSnapshot(w.Context(), external, m, "one"))
		},
		Usage: func() error { _, err := w.Usage(w.Context(), external, m); return err },
		Screen: func() error {
			_, _, err := w.Screen(w.Context(), external, m)
			return err
		},
		Rescue: func() error {
			m.Rescue, m.Boot, m.Generation = true, m.Boot+1, m.Generation+1
			return w.Change(w.Context(), external, m)
		},
	}
	for _, lacked := range w.Lacks {
		if call := calls[lacked]; call != nil {
			w.fails(call(), domain.Permanent, "not_supported")
		} else if lacked != ShuttingDown && lacked != Templates {
			w.Errorf("there is no %q to lack", lacked)
		}
	}
}
