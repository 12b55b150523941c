package computetest

import (
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// nameTaken creates another machine with the name of one that is there.
func nameTaken(w *world) {
	m := w.machine("a")
	w.made(m)
	was, other := w.there(m), w.namesake(m)
	_, err := w.Create(w.Context(), other)
	w.fails(err, domain.Permanent, "name_taken")
	if seen := w.there(other); seen.ID != m.ID {
		w.Errorf("by its name it is %+v", seen)
	}
	w.isOnce(m)
	w.isUntouched(m, was)
}

// drift changes and removes a machine as if it were another one of its name.
func drift(w *world) {
	m := w.machine("a")
	external := w.made(m)
	was := w.there(m)
	w.isAnothers(external, w.namesake(m))
	w.isUntouched(m, was)
	if err := w.Remove(w.Context(), external, w.machine("b")); err != nil { // which is not there
		w.fails(err, domain.Permanent, "drift")
	}
	w.isUntouched(m, was)
}

// isAnothers wants no call for m to reach the machine that has its name and another id.
func (w *world) isAnothers(external string, m compute.Machine) {
	w.Helper()
	m.Generation, m.On, m.Boot, m.Disk = 1000, false, 1000, 1000
	w.fails(w.Change(w.Context(), external, m), domain.Permanent, "drift", "absent", "name_taken")
	w.fails(w.Remove(w.Context(), external, m), domain.Permanent, "drift")
	if !w.lacks(Snapshots) {
		w.fails(w.TakeSnapshot(w.Context(), external, m, "one"), domain.Permanent)
	}
	if !w.lacks(Screen) {
		screen, _, err := w.Screen(w.Context(), external, m)
		if w.fails(err, domain.Permanent); screen != nil {
			_ = screen.Close()
		}
	}
}

func otherInstallation(w *world) {
	m := w.machine("a")
	external, err := w.Other.Create(w.Context(), m)
	if err != nil {
		w.Fatalf("create: %v", err)
	}
	w.isStranger(external, m)
	if seen, is, err := w.Other.Find(w.Context(), m); err != nil || !is || !seen.Ours || seen.ID != m.ID || seen.Service != m.Service {
		w.Errorf("it is not its owner's: %+v, %v, %v", seen, is, err)
	}
	own := w.machine("b")
	w.made(own)
	if seen, is, err := w.Other.Find(w.Context(), own); err != nil || !is || seen.Ours {
		w.Errorf("ours is of another installation, too: %+v, %v, %v", seen, is, err)
	}
}

func stranger(w *world) {
	m := w.machine("a")
	defer w.Stranger(w.T, m.Name)()
	w.isStranger(w.there(m).External, m)
}

// isStranger wants the machine with the name of m to be a stranger's, and to stay.
func (w *world) isStranger(external string, m compute.Machine) {
	w.Helper()
	other := w.namesake(m)
	was := w.there(other)
	if was.Ours || was.External != external {
		w.Errorf("%s: %+v", external, was)
	}
	i := slices.IndexFunc(w.all(), func(seen compute.Seen) bool { return seen.Name == m.Name })
	if i < 0 || w.all()[i].Ours {
		w.Errorf("listed as ours, or not at all: %+v", w.all())
	}
	_, err := w.Create(w.Context(), other)
	w.fails(err, domain.Permanent, "name_taken")
	w.isAnothers(external, other)
	w.isUntouched(other, was)
}
