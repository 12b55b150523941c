package computetest

import (
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// An act changes something at the hypervisor, with calls whose answers can be lost.
type act struct {
	name   string
	call   string // as Lose names it
	needs  string // what a hypervisor must not lack for it
	starts int    // how often the machine is started by it, where it is made before

	before func(w *world, external string, m *compute.Machine) // nil: the machine runs
	wants  func(*compute.Machine)                              // nil: the machine stays as it is
	do     func(w *world, external string, m compute.Machine) error
	after  func(w *world, external string, m compute.Machine) // nil: it is as wanted
}

var acts = []act{
	{name: "creation", call: "create", do: create},
	{name: "creation of one that is off", call: "create", do: create, wants: off},
	{name: "switching off", call: "change", do: change, wants: off},
	{name: "switching on", call: "change", do: change, before: isOff, wants: on, starts: 1},
	{name: "start anew", call: "change", do: change, wants: anew, starts: 1},
	{name: "growth", call: "change", do: change, wants: func(m *compute.Machine) { m.Cores, m.DiskGB = m.Cores+1, m.DiskGB+1 }},
	{name: "new disk", call: "change", do: change, before: hasWritten, wants: newDisk, after: isEmpty},
	{name: "new disk of one that runs", call: "change", do: change, wants: newDisk, starts: 1},
	{name: "restoration", call: "change", needs: Snapshots, do: change, before: hasWrittenSince, wants: fromSnapshot, after: isEmpty},
	{name: "rescue", call: "change", needs: Rescue, do: change, wants: func(m *compute.Machine) { anew(m); m.Rescue = true }, starts: 1},
	{name: "snapshot", call: "snapshot", needs: Snapshots, do: snapshot, after: hasOne},
	{name: "end of a snapshot", call: "drop", needs: Snapshots, do: drop, before: hasTwo, after: hasOne},
	{name: "removal", call: "remove", do: remove, after: isGone},
	{name: "removal with a snapshot", call: "remove", needs: Snapshots, do: remove, before: hasTwo, after: isGone},
}

func create(w *world, _ string, m compute.Machine) error {
	_, err := w.Create(w.Context(), m)
	return err
}

func change(w *world, external string, m compute.Machine) error {
	return w.Change(w.Context(), external, m)
}

func remove(w *world, external string, m compute.Machine) error {
	return w.Remove(w.Context(), external, m)
}

func snapshot(w *world, external string, m compute.Machine) error {
	return w.TakeSnapshot(w.Context(), external, m, "one")
}

func drop(w *world, external string, m compute.Machine) error {
	return w.DropSnapshot(w.Context(), external, m, "two")
}

func isOff(w *world, external string, m *compute.Machine) { w.changed(external, m, off) }

func hasWritten(w *world, external string, m *compute.Machine) {
	w.changed(external, m, off)
	if w.Mark != nil {
		w.Mark(w.T, *m)
	}
}

func hasWrittenSince(w *world, external string, m *compute.Machine) {
	w.taken(external, *m, "before")
	hasWritten(w, external, m)
}

func hasTwo(w *world, external string, m *compute.Machine) {
	w.taken(external, *m, "one")
	w.taken(external, *m, "two")
}

// isEmpty wants a disk as it was made, and that it is made once: what is written to it then
// outlives a repetition of the call.
func isEmpty(w *world, external string, m compute.Machine) {
	w.hasMark(m, false)
	if w.Mark != nil {
		w.Mark(w.T, m)
		w.brought(external, m)
		w.hasMark(m, true)
	}
}

func hasOne(w *world, external string, m compute.Machine) { w.hasSnapshots(external, m, "one") }
func isGone(w *world, _ string, m compute.Machine)        { w.isGone(m) }

// lost loses the answer of each call once.
func lost(w *world) {
	for _, a := range acts {
		if !w.lacks(a.needs) {
			w.disturbed(a, func() func() bool {
				w.Lose(w.T, a.call)
				return func() bool { return true }
			})
		}
	}
}

// cutsAtMost bounds how many network calls one call makes.
const cutsAtMost = 300

// cuts loses the answer of each network call of each call in turn.
func cuts(w *world) {
	for _, a := range acts {
		if w.lacks(a.needs) {
			continue
		}
		n := 1
		for w.disturbed(a, func() func() bool { return w.Cut(n) }) {
			if n++; n > cutsAtMost {
				w.Fatalf("%s takes more than %d network calls", a.name, cutsAtMost)
			}
		}
		if n == 1 {
			w.Errorf("no answer was lost over the %s", a.name)
		}
	}
}

// disturbed acts on a new machine, while an answer is lost, and then as the panel does.
// In the end there is one machine, as wanted, and none after its removal.
func (w *world) disturbed(a act, lose func() (lost func() bool)) (was bool) {
	w.Helper()
	before, err := w.left(w.Context())
	if err != nil {
		w.Fatalf("list what the hypervisor has: %v", err)
	}
	m, external := w.machine("a"), ""
	if a.call != "create" {
		external = w.made(m)
	}
	if a.before != nil {
		a.before(w, external, &m)
	}
	if a.wants != nil {
		a.wants(&m)
		m.Generation++
	}
	starts := 0
	if a.call != "create" {
		starts = w.starts(m)
	}
	lost := lose()
	err = a.do(w, external, m)
	was = lost()
	if external = w.again(a, external, m, err); a.call != "remove" {
		w.isOnce(m)
		w.becomes(m)
	}
	if a.call == "change" {
		w.hasStarted(m, a.starts, starts)
	}
	if a.after != nil {
		a.after(w, external, m)
	}
	w.removed(external, m)
	if left := w.clean(before); len(left) > 0 {
		w.Errorf("%s without an answer has left %q", a.name, left)
	}
	return was
}

// again does what the panel does after a call without an answer: it looks, and calls again
// unless what it finds is enough.
func (w *world) again(a act, external string, m compute.Machine, err error) string {
	w.Helper()
	if err != nil && domain.ClassOf(err) == domain.Permanent {
		w.Errorf("%s without an answer: %v", a.name, err)
	}
	seen, is := w.look(m)
	switch {
	case a.call == "create":
		if is && !seen.Partial {
			return seen.External
		}
		return w.created(m)
	case a.call == "remove":
		if is {
			w.removed(seen.External, m)
		}
	case err != nil:
		if err := w.patiently(func() error { return a.do(w, external, m) }); err != nil {
			w.Fatalf("%s again: %v", a.name, err)
		}
	}
	return external
}
