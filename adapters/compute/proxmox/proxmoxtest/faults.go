package proxmoxtest

import (
	"net/http"
	"sync"
	"time"
)

// Faults are what goes wrong.
type Faults struct {
	mu       sync.Mutex
	lose     int                            // the answer of the nth call from now on
	cut      int                            // the same, of all calls
	losing   func(method, path string) bool // the answer of the next call that fits
	always   func(method, path string) bool // the answers of all that fit
	failing  map[string]string              // kind of task → the text with which the next one ends
	holding  map[string]bool                // kinds whose tasks do not go on
	every    int                            // calls between the steps of a task
	slowness time.Duration
}

// LoseAnswer loses the answer of the nth call from now on that changes something. The call
// is carried out.
func (f *Faults) LoseAnswer(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose = n
}

// CutAnswer loses the answer of the nth call from now on, whatever it is.
func (f *Faults) CutAnswer(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = n
}

// Cut tells whether that answer was lost, and loses none any more.
func (f *Faults) Cut() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.cut == 0
	f.cut = 0
	return was
}

// LoseAnswerOf loses the answer of the next call that fits.
func (f *Faults) LoseAnswerOf(fits func(method, path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.losing = fits
}

// LoseAnswersOf loses the answers of all calls that fit; nil: of none.
func (f *Faults) LoseAnswersOf(fits func(method, path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.always = fits
}

// Lost tells whether the answer that was to be lost was lost.
func (f *Faults) Lost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lose == 0 && f.losing == nil
}

func (f *Faults) loses(method, path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.losing != nil && f.losing(method, path) {
		f.losing = nil
		return true
	}
	if f.always != nil && f.always(method, path) {
		return true
	}
	if f.cut > 0 {
		f.cut--
		return f.cut == 0
	}
	if f.lose > 0 && method != http.MethodGet {
		f.lose--
		return f.lose == 0
	}
	return false
}

// FailTask lets the next task of a kind ("qmclone", "qmstart", …) end with a text.
func (f *Faults) FailTask(kind, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing[kind] = text
}

func (f *Faults) fails(kind string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.failing[kind]
	delete(f.failing, kind)
	return text
}

// Hold stops tasks of a kind, those that begin from now on, until Release.
func (f *Faults) Hold(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holding[kind] = true
}

// Release lets the tasks of a kind go on.
func (s *Server) Release(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Faults.mu.Lock()
	defer s.Faults.mu.Unlock()
	delete(s.Faults.holding, kind)
	for _, t := range s.tasks {
		t.held = t.held && t.kind != kind
	}
}

func (f *Faults) holds(kind string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holding[kind]
}

// Pace sets how many calls pass between the steps of a task.
func (f *Faults) Pace(calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every = calls
}

func (f *Faults) pace() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(1, f.every)
}

// Slow delays each answer.
func (f *Faults) Slow(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slowness = by
}

func (f *Faults) wait() {
	f.mu.Lock()
	by := f.slowness
	f.mu.Unlock()
	time.Sleep(by)
}

// Away takes a node from the network, or brings it back.
func (s *Server) Away(name string, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[name].away = away
}

// Fall lets a node fall and come back: its tasks end with no status, their locks stay, and
// its machines are off.
func (s *Server) Fall(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		if t.node == name && t.exit == "" {
			t.exit = "unexpected status"
		}
	}
	for _, m := range s.machines {
		if m.node == name {
			m.running = false
		}
	}
}

// Revoke takes a privilege from the token; Grant gives it.
func (s *Server) Revoke(privilege string) { s.grant(privilege, false) }

// Grant gives a privilege to the token.
func (s *Server) Grant(privilege string) { s.grant(privilege, true) }

func (s *Server) grant(privilege string, granted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted[privilege] = granted
}

// Pass lets time pass, in calls.
func (s *Server) Pass(calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(calls)
}
