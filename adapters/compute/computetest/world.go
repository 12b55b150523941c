package computetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/conformance"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// A world is a hypervisor, and the machines of one check. The tag begins their names.
type world struct {
	conformance.T
	Hypervisor
	tag string
}

func newWorld(t conformance.T, h Hypervisor, tag string) *world {
	return &world{T: t, Hypervisor: h, tag: tag}
}

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1qtUvb0j6wVQmRhZ2yTqzY0o1cW0S8xv3mJQ2cYd7H ada@acme.test"

// machine is one of the check's, as it is wanted first. The first one, "a", has the
// addresses of the network.
func (w *world) machine(name string) compute.Machine {
	m := w.Like
	m.Name = w.tag + name
	m.ID, m.Service = compute.ID("computetest", m.Name), compute.ID("computetest service", m.Name).String()
	m.Generation, m.Boot, m.Disk, m.On = 1, 1, 1, true
	m.Cores, m.MemoryMB, m.DiskGB = cmp.Or(m.Cores, 1), cmp.Or(m.MemoryMB, 256), cmp.Or(m.DiskGB, 1)
	m.Hostname, m.Keys = m.Name+".example.test", []string{key}
	if name != "a" {
		m.Network.Addresses, m.Network.Gateways = nil, nil
	}
	return m
}

// names are those of the machines of a check, without its tag.
var names = []string{"a", "b", "c"}

// namesake is another machine with the name of m.
func (w *world) namesake(m compute.Machine) compute.Machine {
	other := w.machine("c")
	other.Name = m.Name
	return other
}

// made creates a machine that has to be made, and waits until it is as wanted.
func (w *world) made(m compute.Machine) (external string) {
	w.Helper()
	external = w.created(m)
	w.becomes(m)
	return external
}

func (w *world) created(m compute.Machine) (external string) {
	w.Helper()
	err := w.patiently(func() (err error) {
		external, err = w.Create(w.Context(), m)
		return err
	})
	if err != nil || external == "" {
		w.Fatalf("create %s: %q, %v", m.Name, external, err)
	}
	return external
}

// changed brings a machine to what is wanted with a new generation, and waits until it is so.
func (w *world) changed(external string, m *compute.Machine, wants func(*compute.Machine)) compute.Seen {
	w.Helper()
	wants(m)
	m.Generation++
	w.brought(external, *m)
	return w.becomes(*m)
}

func (w *world) brought(external string, m compute.Machine) {
	w.Helper()
	if err := w.patiently(func() error { return w.Change(w.Context(), external, m) }); err != nil {
		w.Fatalf("change %s: %v", m.Name, err)
	}
}

func (w *world) removed(external string, m compute.Machine) {
	w.Helper()
	if err := w.patiently(func() error { return w.Remove(w.Context(), external, m) }); err != nil {
		w.Fatalf("remove %s: %v", m.Name, err)
	}
}

func (w *world) look(m compute.Machine) (compute.Seen, bool) {
	w.Helper()
	seen, is, err := w.Find(w.Context(), m)
	if err != nil {
		w.Fatalf("find %s: %v", m.Name, err)
	}
	return seen, is
}

func (w *world) there(m compute.Machine) compute.Seen {
	w.Helper()
	seen, is := w.look(m)
	if !is {
		w.Fatalf("there is no %s", m.Name)
	}
	return seen
}

func (w *world) isGone(m compute.Machine) {
	w.Helper()
	if seen, is := w.look(m); is {
		w.Errorf("still there: %+v", seen)
	}
}

// becomes waits until a machine is as it is wanted.
func (w *world) becomes(m compute.Machine) compute.Seen {
	w.Helper()
	var seen compute.Seen
	if !w.eventually(func() bool { seen = w.there(m); return w.differs(m, seen) == "" }) {
		w.Fatalf("%s is not as wanted within %s: %s", m.Name, w.patience(), w.differs(m, seen))
	}
	return seen
}

// differs describes the first difference between a machine and what is wanted; "": none.
func (w *world) differs(m compute.Machine, seen compute.Seen) string {
	state := compute.Stopped
	if m.On {
		state = compute.Running
	}
	var all []string
	for _, of := range []struct {
		what         string
		wanted, seen any
	}{
		{"id", m.ID, seen.ID},
		{"name", m.Name, seen.Name},
		{"ours", true, seen.Ours},
		{"service", m.Service, seen.Service},
		{"host", cmp.Or(m.Host, seen.Host), seen.Host},
		{"generation", m.Generation, seen.Generation},
		{"cores", m.Cores, seen.Cores},
		{"memory", m.MemoryMB, seen.MemoryMB},
		{"disk size", m.DiskGB, seen.DiskGB},
		{"state", state, seen.State},
		{"boot", m.Boot, seen.Boot},
		{"disk", m.Disk, seen.Disk},
		{"rescue", m.Rescue, seen.Rescue},
		{"partial", false, seen.Partial},
	} {
		if of.wanted != of.seen {
			all = append(all, fmt.Sprintf("its %s is %v, not %v", of.what, of.seen, of.wanted))
		}
	}
	return strings.Join(all, ", ")
}

// isUntouched wants a machine to be as it was.
func (w *world) isUntouched(m compute.Machine, was compute.Seen) {
	w.Helper()
	now := w.there(m)
	if now.Addresses, was.Addresses = nil, nil; fmt.Sprint(now) != fmt.Sprint(was) {
		w.Errorf("touched: it is %+v, and was %+v", now, was)
	}
}

// isOnce wants one machine with the id, and one with the name.
func (w *world) isOnce(m compute.Machine) compute.Seen {
	w.Helper()
	var found []compute.Seen
	for _, seen := range w.all() {
		if seen.ID == m.ID || seen.Name == m.Name {
			found = append(found, seen)
		}
	}
	if len(found) != 1 {
		w.Fatalf("%d machines are %s: %+v", len(found), m.Name, found)
	}
	return found[0]
}

func (w *world) all() []compute.Seen {
	w.Helper()
	all, err := w.List(w.Context())
	if err != nil {
		w.Fatalf("list: %v", err)
	}
	return all
}

func (w *world) starts(m compute.Machine) int {
	if w.Starts == nil {
		return 0
	}
	return w.Starts(w.T, m)
}

// hasStarted wants a machine to have been started so many times since.
func (w *world) hasStarted(m compute.Machine, times, since int) {
	w.Helper()
	if w.Starts == nil {
		return
	}
	if now := w.Starts(w.T, m); now-since != times {
		w.Errorf("%s was started %d times, not %d", m.Name, now-since, times)
	}
}

func (w *world) patience() time.Duration { return cmp.Or(w.Patience, time.Minute) }

// eventually asks again, less often with time.
func (w *world) eventually(is func() bool) bool {
	for begun, pause := time.Now(), 10*time.Millisecond; !is(); pause = min(2*pause, time.Second) {
		if time.Since(begun) > w.patience() || w.Context().Err() != nil {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// patiently repeats a call whose failure asks for that.
func (w *world) patiently(call func() error) (err error) {
	w.eventually(func() bool {
		err = call()
		class := domain.ClassOf(err)
		return err == nil || class != domain.Waiting && class != domain.Transient
	})
	return err
}

// fails wants a failure of a class, with one of the codes; none: with any.
func (w *world) fails(err error, class domain.Class, codes ...string) {
	w.Helper()
	f, ok := errors.AsType[*domain.Failure](err)
	if !ok || f.Class != class || len(codes) > 0 && !slices.Contains(codes, f.Code) {
		w.Errorf("a %s failure %s was expected, not: %v", class, strings.Join(codes, " or "), err)
	}
}

// clean deletes everything that a check has made, and returns what it cannot delete.
func (w *world) clean(before []string) (left []string) {
	left = w.vacate()
	now, err := w.left(w.Context())
	if err != nil {
		left = append(left, fmt.Sprintf("what is left is not told: %v", err))
	}
	for _, one := range now {
		if !slices.Contains(before, one) {
			left = append(left, one)
		}
	}
	return left
}

// vacate removes the machines of a check.
func (w *world) vacate() (left []string) {
	hypervisors := []compute.Hypervisor{w.Hypervisor.Hypervisor}
	if w.Other != nil {
		hypervisors = append(hypervisors, w.Other)
	}
	for _, h := range hypervisors {
		all, err := h.List(w.Context())
		if err != nil {
			left = append(left, fmt.Sprintf("machines are not listed: %v", err))
		}
		wanted := map[uuid.UUID]compute.Machine{}
		for _, seen := range all {
			if seen.Ours && strings.HasPrefix(seen.Name, w.tag) {
				wanted[seen.ID] = compute.Machine{ID: seen.ID, Name: seen.Name, Service: seen.Service}
			}
		}
		for _, name := range append(slices.Clone(names), hostile) {
			m := w.machine(name)
			wanted[m.ID] = m
		}
		for _, m := range wanted {
			left = append(left, w.expelled(h, m)...)
		}
	}
	return left
}

// expelled removes a machine if it is there.
func (w *world) expelled(h compute.Hypervisor, m compute.Machine) (left []string) {
	err := w.patiently(func() error {
		seen, is, err := h.Find(w.Context(), m)
		if err != nil || !is || seen.ID != m.ID || !seen.Ours {
			return err
		}
		return h.Remove(w.Context(), seen.External, m)
	})
	if err != nil {
		left = append(left, fmt.Sprintf("the machine %s: %v", m.Name, err))
	}
	return left
}
