//go:build system

package faults_test

import (
	"slices"
	"sync"
	"testing"
)

// An accident comes with the answer of a call, which is lost.
type accident struct {
	what  string
	only  string // call that counts; "": all
	left  int    // calls until it comes
	waits bool   // the answers wait until the story has done its part

	does func() (rest func()) // at once, and what the story does as soon as it can; nil: nothing
}

// accidents are what goes wrong with the answers of a hypervisor.
type accidents struct {
	mu     sync.Mutex
	known  map[string]bool // calls that lost an answer: each loses its first one
	now    []accident
	coming [][]accident // by stage
	calm   bool
	due    chan func() // that the story has to do
	over   <-chan struct{}
	counts map[string]int // of those that came
}

// bring lets accidents come from now on.
func (m *accidents) bring(more []accident) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = append(m.now, more...)
}

// loses decides about the answer of a call.
func (m *accidents) loses(call string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calm {
		return false
	}
	lost := !m.known[call]
	m.known[call] = true
	for i := range m.now {
		if m.now[i].only == "" || m.now[i].only == call {
			m.now[i].left--
			lost = lost || m.now[i].left == 0
		}
	}
	for _, each := range m.now {
		if each.left == 0 {
			m.comes(each)
		}
	}
	m.now = slices.DeleteFunc(m.now, func(each accident) bool { return each.left == 0 })
	return lost
}

func (m *accidents) comes(each accident) {
	if m.counts == nil {
		m.counts = map[string]int{}
	}
	m.counts[each.what]++
	if each.does == nil {
		return
	}
	rest, done := each.does(), make(chan struct{})
	m.due <- func() { rest(); close(done) }
	if each.waits {
		select {
		case <-done:
		case <-m.over:
		}
	}
}

// do does what is due.
func (m *accidents) do() {
	for {
		select {
		case rest := <-m.due:
			rest()
		default:
			return
		}
	}
}

// calmly lets nothing go wrong while the story looks.
func (m *accidents) calmly(look func()) {
	m.set(true)
	defer m.set(false)
	look()
}

func (m *accidents) set(calm bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calm = calm
}

// came checks that all accidents have come.
func (m *accidents) came(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Logf("%d calls lost their first answer; and: %v", len(m.known), m.counts)
	for _, each := range m.now {
		t.Errorf("%s did not come", each.what)
	}
}
