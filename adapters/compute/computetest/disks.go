package computetest

import (
	"io"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

func newDisk(m *compute.Machine) { m.Disk, m.Snapshot = m.Disk+1, "" }

// marked is a machine that is off, with a mark on its disk.
func (w *world) marked() (external string, m compute.Machine) {
	w.Helper()
	m = w.machine("a")
	m.On = false
	external = w.made(m)
	w.hasMark(m, false)
	w.Mark(w.T, m)
	w.hasMark(m, true)
	return external, m
}

// hasMark looks where the hypervisor's disks can be read.
func (w *world) hasMark(m compute.Machine, want bool) {
	w.Helper()
	if w.Mark != nil && w.Marked(w.T, m) != want {
		w.Errorf("the mark is on the disk of %s: %t", m.Name, !want)
	}
}

// reinstalled makes the disk anew; asked for again, what was written since stays.
func reinstalled(w *world) {
	external, m := w.marked()
	w.changed(external, &m, newDisk)
	w.hasMark(m, false)
	w.Mark(w.T, m)
	w.brought(external, m)
	w.hasMark(m, true)
	w.changed(external, &m, on)
	w.changed(external, &m, newDisk) // of a machine that runs
	w.changed(external, &m, off)
	w.hasMark(m, false)
}

func snapshots(w *world) {
	m := w.machine("a")
	external := w.made(m)
	w.hasSnapshots(external, m)
	for _, name := range []string{"one", "one", "two"} {
		w.taken(external, m, name)
	}
	w.hasSnapshots(external, m, "one", "two")
	for range 2 {
		w.dropped(external, m, "one")
	}
	w.hasSnapshots(external, m, "two")
	w.becomes(m)
	w.removed(external, m) // with the snapshot
	w.isGone(m)
}

func (w *world) taken(external string, m compute.Machine, name string) {
	w.Helper()
	if err := w.patiently(func() error { return w.TakeSnapshot(w.Context(), external, m, name) }); err != nil {
		w.Fatalf("take the snapshot %s: %v", name, err)
	}
}

func (w *world) dropped(external string, m compute.Machine, name string) {
	w.Helper()
	if err := w.patiently(func() error { return w.DropSnapshot(w.Context(), external, m, name) }); err != nil {
		w.Fatalf("drop the snapshot %s: %v", name, err)
	}
}

// hasSnapshots wants these, oldest first.
func (w *world) hasSnapshots(external string, m compute.Machine, want ...string) {
	w.Helper()
	all, err := w.Snapshots(w.Context(), external, m)
	var has []string
	for i, s := range all {
		if has = append(has, s.Name); s.At.IsZero() || i > 0 && s.At.Before(all[i-1].At) {
			w.Errorf("not oldest first: %+v", all)
		}
	}
	if err != nil || !slices.Equal(has, want) {
		w.Errorf("it has the snapshots %q, not %q (%v)", has, want, err)
	}
}

// restored brings the disk back once; asked for again, what was written since stays.
func restored(w *world) {
	m := w.machine("a")
	m.On = false
	external := w.made(m)
	w.taken(external, m, "before")
	w.Mark(w.T, m)
	w.changed(external, &m, fromSnapshot)
	w.hasMark(m, false)
	w.Mark(w.T, m)
	w.brought(external, m)
	w.hasMark(m, true)
	w.changed(external, &m, on)
	w.changed(external, &m, fromSnapshot) // of a machine that runs
	w.changed(external, &m, off)
	w.hasMark(m, false)
	w.hasSnapshots(external, m, "before")
	missing := m
	missing.Disk, missing.Snapshot, missing.Generation = m.Disk+1, "none", m.Generation+1
	w.fails(w.patiently(func() error { return w.Change(w.Context(), external, missing) }), domain.Permanent, "no_snapshot")
}

func fromSnapshot(m *compute.Machine) { m.Disk, m.Snapshot = m.Disk+1, "before" }

// rescued starts the rescue system and the own one again, with the same disk.
func rescued(w *world) {
	m := w.machine("a")
	external := w.made(m)
	if w.Mark != nil {
		w.changed(external, &m, off)
		w.Mark(w.T, m)
		w.changed(external, &m, on)
	}
	w.changed(external, &m, func(m *compute.Machine) { anew(m); m.Rescue = true })
	w.brought(external, m)
	w.changed(external, &m, func(m *compute.Machine) { anew(m); m.Rescue = false })
	w.changed(external, &m, off)
	w.hasMark(m, true)
}

func usage(w *world) {
	m := w.machine("a")
	external := w.made(m)
	before := w.used(external, m)
	for range 3 {
		before = w.usedSince(external, m, before)
	}
	w.changed(external, &m, anew)
	w.usedSince(external, m, before)
}

func (w *world) used(external string, m compute.Machine) compute.Usage {
	w.Helper()
	u, err := w.Usage(w.Context(), external, m)
	if err != nil || u.At.IsZero() || u.Epoch == "" || u.CPU < 0 || u.Received < 0 || u.Sent < 0 {
		w.Fatalf("usage: %+v, %v", u, err)
	}
	return u
}

// usedSince wants counters that go on, or another epoch.
func (w *world) usedSince(external string, m compute.Machine, before compute.Usage) compute.Usage {
	w.Helper()
	now := w.used(external, m)
	if now.At.Before(before.At) ||
		now.Epoch == before.Epoch && (now.CPU < before.CPU || now.Received < before.Received || now.Sent < before.Sent) {
		w.Errorf("it has fallen from %+v to %+v", before, now)
	}
	return now
}

// greeting is how a server of RFB begins.
const greeting = "RFB 003."

func screen(w *world) {
	m := w.machine("a")
	external := w.made(m)
	screen, _, err := w.Screen(w.Context(), external, m)
	if err != nil {
		w.Fatalf("the screen: %v", err)
	}
	defer func() { _ = screen.Close() }()
	said := make([]byte, len(greeting))
	if _, err := io.ReadFull(screen, said); err != nil || !strings.HasPrefix(string(said), greeting) {
		w.Errorf("it says %q, %v", said, err)
	}
}
