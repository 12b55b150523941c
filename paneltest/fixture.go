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

// open opens a shop in that state.
func (f *fixture) open(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	f.once.Do(func() { f.fill(t) })
	if f.known == nil {
		t.Fatal("the state that this story begins with was not made")
	}
	url := Database(t)
	f.state.Restore(t, url)
	s := Over(t, url, eventstoretest.Pool(t, url), eventstoretest.Readers(t, url), options...)
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
