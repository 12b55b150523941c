package paneltest

import (
	"maps"
	"sync"
	"testing"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/http/route/routetest"
)

// A fixture is the state of a shop with which stories begin. It is made once in a test
// binary, and each story gets a copy of its rows.
type fixture struct {
	make func(testing.TB) *Shop

	once  sync.Once
	state eventstoretest.State
	known routetest.Known
}

// give gives the state to a shop in which nothing has happened.
func (f *fixture) give(t testing.TB, s *Shop) *Shop {
	t.Helper()
	f.once.Do(func() { f.fill(t) })
	if f.known == nil {
		t.Fatal("the state that this story begins with was not made")
	}
	f.state.Restore(t, s.url)
	maps.Copy(s.Known, f.known)
	s.Known["base"] = s.Public
	return s
}

// fill makes the state, with the workers at rest at its end.
func (f *fixture) fill(t testing.TB) {
	t.Helper()
	s := f.make(t)
	if s.Close != nil {
		s.Close()
	}
	f.state, f.known = eventstoretest.StateOf(t, s.url), s.Known
}

// isNew reports whether nothing has happened in a shop.
func (s *Shop) isNew(t testing.TB) bool {
	t.Helper()
	return s.Count(t, `select count(*) from events`) == 0
}
