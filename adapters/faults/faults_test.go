package faults_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func twoProcesses(t *testing.T) (here, there *faults.Ordered) {
	url := eventstoretest.URL(t, eventstore.Migration{Area: "faults", Files: faults.Migrations})
	return faults.For(eventstoretest.Pool(t, url), "engine"), faults.For(eventstoretest.Pool(t, url), "engine")
}

var createSite = faults.Call{Call: faults.Create, Kind: "site", Name: "acme.test"}

func order(t *testing.T, o *faults.Ordered, f faults.Fault) int64 {
	t.Helper()
	id, err := o.Order(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// outcome tells whether a call was carried out and how it was answered.
func outcome(t *testing.T, o *faults.Ordered, c faults.Call) (done bool, err error) {
	t.Helper()
	err = o.Around(t.Context(), c, func(faults.Fault) error { done = true; return nil })
	return done, err
}

func TestEachFaultIsCarriedOutAndAnsweredAsItsNameSays(t *testing.T) {
	o, _ := twoProcesses(t)
	for _, c := range []struct {
		what  faults.What
		done  bool
		class domain.Class // empty: success
		code  string
	}{
		{faults.Slow, true, "", ""},
		{faults.TimeoutBefore, false, domain.Unknown, "timeout"},
		{faults.TimeoutAfter, true, domain.Unknown, "timeout"},
		{faults.ResetBefore, false, domain.Unknown, "reset"},
		{faults.ResetAfter, true, domain.Unknown, "reset"},
		{faults.ErrorBefore, false, domain.Unknown, "error_500"},
		{faults.ErrorAfter, true, domain.Unknown, "error_500"},
		{faults.Busy, false, domain.Transient, "busy"},
		{faults.Refuse, false, domain.Permanent, "refused"},
		{faults.Auth, false, domain.Permanent, "auth_refused"},
		{faults.DeniesDoing, true, domain.Transient, "busy"},
		{faults.ClaimsDone, false, "", ""},
		{faults.Late, true, "", ""},
		{faults.TimeoutLate, true, domain.Unknown, "timeout"},
		{faults.Forget, true, "", ""},
	} {
		order(t, o, faults.Fault{What: c.what, Call: faults.Create})
		done, err := outcome(t, o, createSite)
		var f *domain.Failure
		if errors.As(err, &f); done != c.done || (err != nil) != (c.class != "") || f != nil && (f.Class != c.class || f.Code != c.code) {
			t.Errorf("%s: done %v, answered %v", c.what, done, err)
		}
		if done, err := outcome(t, o, createSite); !done || err != nil {
			t.Errorf("%s struck twice: %v", c.what, err)
		}
	}
}

func TestAFaultStrikesAsOftenAsOrderedOverAllProcesses(t *testing.T) {
	here, there := twoProcesses(t)
	order(t, here, faults.Fault{What: faults.Busy, Call: faults.Create, Kind: "site", Times: 7})
	var struck int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			o := []*faults.Ordered{here, there}[i%2]
			if err := o.Around(t.Context(), createSite, func(faults.Fault) error { return nil }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				struck++
			}
		})
	}
	if all.Wait(); struck != 7 {
		t.Errorf("struck %d times, ordered were 7", struck)
	}
	if open, err := there.Open(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("still open: %v, %v", open, err)
	}
}

func TestAFaultStrikesOnlyTheCallsItNames(t *testing.T) {
	o, _ := twoProcesses(t)
	order(t, o, faults.Fault{What: faults.Busy, Call: faults.Create, Kind: "site", Name: "other.test"})
	order(t, o, faults.Fault{What: faults.Busy, Call: faults.Find})
	order(t, o, faults.Fault{What: faults.Busy, Kind: "tenant"})
	if done, err := outcome(t, o, createSite); !done || err != nil {
		t.Errorf("a fault for other calls struck: %v", err)
	}
	if open, err := o.Open(t.Context()); err != nil || len(open) != 3 || open[0].Name != "other.test" || open[0].Times != 1 {
		t.Errorf("open orders: %v, %v", open, err)
	}
	if err := o.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := outcome(t, o, faults.Call{Call: faults.Find, Kind: "tenant"}); !done || err != nil {
		t.Errorf("struck after it was taken back: %v", err)
	}
}

func TestASeedReplaysTheSameStrikes(t *testing.T) {
	o, _ := twoProcesses(t)
	strikes := func(seed int64) (pattern []bool) {
		order(t, o, faults.Fault{What: faults.Busy, Times: 1000, Chance: 300, Seed: seed})
		for range 60 {
			_, err := outcome(t, o, createSite)
			pattern = append(pattern, err != nil)
		}
		if err := o.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		return pattern
	}
	first, again, other := strikes(42), strikes(42), strikes(43)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("seed 42: %v\nagain:   %v\nseed 43: %v", first, again, other)
	}
	if !slices.Contains(first, true) || !slices.Contains(first, false) {
		t.Errorf("300 of 1000 strike, but: %v", first)
	}
}

func TestOrdersThatMakeNoSenseAreRefused(t *testing.T) {
	o, _ := twoProcesses(t)
	for _, f := range []faults.Fault{
		{What: "explode"},
		{},
		{What: faults.Late, Call: faults.Find},
		{What: faults.ClaimsDone}, // a look-up cannot claim to have done something
		{What: faults.Busy, Chance: 1001},
		{What: faults.Busy, Times: -1},
		{What: faults.Busy, Delay: -1},
	} {
		if _, err := o.Order(t.Context(), f); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
