package sagas

import (
	"testing"
	"testing/synctest"
	"time"
)

// A busy queue's slots are filled several at a time, and none stays free for long.
func TestABusyQueueFillsSeveralSlotsWithOneClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 8
		woken := make(chan struct{}, 1)
		all := slots{queues: map[string]*served{}}
		q := all.serve("engine", limit, woken)
		var taken []*slot
		fill := func(left bool) (free int) {
			free, ended := all.room(q)
			for range free {
				taken = append(taken, all.take("engine"))
			}
			if all.claimed(q, left, ended) {
				t.Error("a claim follows at once, without a run that has ended")
			}
			return free
		}
		ends := func(runs int) {
			for range runs {
				taken[0].leave()
				taken = taken[1:]
			}
		}
		isWoken := func() bool {
			synctest.Wait()
			select {
			case <-woken:
				return true
			default:
				return false
			}
		}
		expect := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %v instead of %v", what, got, want)
			}
		}
		expect("slots filled at first", fill(true), limit)
		ends(limit/2 - 1)
		expect("woken for less than half", isWoken(), false)
		expect("filled then, as others wake it", fill(true), 0)
		ends(1)
		expect("woken for half", isWoken(), true)
		expect("filled with half", fill(true), limit/2)
		time.Sleep(refill)
		isWoken()
		ends(1)
		time.Sleep(refill - 1)
		expect("woken for one, before its time", isWoken(), false)
		time.Sleep(time.Nanosecond)
		expect("woken for one, in time", isWoken(), true)
		expect("filled with one, nothing left", fill(false), 1)
		ends(1)
		expect("woken with nothing left", isWoken(), false)
		expect("filled with one", fill(false), 1)
	})
}
