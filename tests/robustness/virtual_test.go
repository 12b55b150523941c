package robustness

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/faults"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/traffic"
	"hostpanel/tests/robustness/trips"
)

// A world is the model with workers and operators of its own, in virtual time: it has no
// database. Each of them wakes at moments that no other has, so that a seed orders them.
type world struct {
	mu        sync.Mutex
	model     *model.Model
	generator *traffic.Generator
	calm      bool // no fault, and every call is answered
	trace     []string
	over      chan struct{}
	all       sync.WaitGroup
}

// every calls do at moments of its own, until the world ends.
func (w *world) every(pause func() time.Duration, offset time.Duration, do func()) {
	w.all.Go(func() {
		for next := time.After(offset); ; {
			select {
			case <-w.over:
				return
			case <-next:
			}
			w.mu.Lock()
			w.model.Now = time.Now().UTC()
			do()
			next = time.After(pause())
			w.mu.Unlock()
		}
	})
}

func (w *world) work(queue string) {
	if len(w.model.Due(queue)) == 0 {
		return
	}
	o := traffic.Operation{Kind: "work", Queue: queue}
	if !w.calm {
		for range w.generator.IntN(4) {
			o.Answers = append(o.Answers, trips.Answers[w.generator.IntN(len(trips.Answers))])
		}
		if w.generator.IntN(8) == 0 {
			o.Fault = faults.Fault{Sort: faults.Dies, At: faults.Points[w.generator.IntN(len(faults.Points))]}
		}
	}
	w.carryOut(o)
}

// operate asks for what callers and operators ask for. Work and time are not theirs.
func (w *world) operate() {
	if o := w.generator.Next(); !w.calm && o.Kind != "work" && o.Kind != "time" {
		w.carryOut(o)
	}
}

func (w *world) carryOut(o traffic.Operation) {
	before := len(w.model.Events)
	line := fmt.Sprintf("%s %s = %v", w.model.Now.Format(time.RFC3339Nano), o, o.OnModel(w.model))
	w.trace = append(w.trace, line)
	for _, e := range w.model.Events[before:] {
		w.trace = append(w.trace, fmt.Sprintf("    %s/%d %s %s", e.Stream, e.Version, e.Event.EventName(), e.ID))
	}
}

// live lets a seed live for so many days, and then for ten more without trouble.
func live(t *testing.T, seed uint64, days int) *world {
	t.Helper()
	w := &world{model: model.New(eventstoretest.Cause, time.Now().UTC()), over: make(chan struct{})}
	w.generator = traffic.NewGenerator(seed, w.model)
	minute := func() time.Duration { return time.Minute }
	for n, queue := range slices.Sorted(maps.Keys(model.Queues)) {
		w.every(minute, time.Duration(n+1)*time.Millisecond, func() { w.work(queue) })
	}
	const late = 20 * time.Second // less than any quarantine
	w.every(func() time.Duration { return late }, 10*time.Millisecond, func() { w.model.Outside.Pass(late) })
	w.every(func() time.Duration { return time.Duration(10+w.generator.IntN(110)) * time.Minute }, 20*time.Millisecond, w.operate)
	time.Sleep(time.Duration(days) * 24 * time.Hour)
	w.mu.Lock()
	w.calm = true
	for _, q := range w.model.Queues {
		q.Most, q.Paused = 4, false
	}
	w.mu.Unlock()
	time.Sleep(10 * 24 * time.Hour)
	close(w.over)
	w.all.Wait()
	return w
}

// A month passes in seconds: nothing is done twice, and once there is no trouble any more
// no run is left that a worker could go on with. The same seed tells the same story.
func TestAMonthPassesInVirtualTimeAndASeedTellsTheSameStoryTwice(t *testing.T) {
	t.Parallel()
	seed := setting(t, "HOSTPANEL_ROBUSTNESS_SEED", 1)
	var traces [2][]string
	for n := range traces {
		synctest.Test(t, func(t *testing.T) {
			w := live(t, seed, 20)
			traces[n] = w.trace
			if len(w.model.Outside.Twice) > 0 {
				t.Errorf("seed %d: done twice: %q", seed, w.model.Outside.Twice)
			}
			ended := 0
			for _, r := range w.model.Runs {
				if r.Run.Over() {
					ended++
				}
				if r.Status == "running" || r.Status == "ready" {
					t.Errorf("seed %d: %s is still %s", seed, r.Run.Key, r.Status)
				}
			}
			if ended < 10 {
				t.Errorf("seed %d: only %d runs of %d have ended", seed, ended, len(w.model.Runs))
			}
			for queue := range model.Queues {
				for _, r := range w.model.Due(queue) {
					if w.model.Business().Sub(r.RunAt) > sagas.Defaults.BreakMax {
						t.Errorf("seed %d: %s is due since %s", seed, r.Run.Key, r.RunAt)
					}
				}
			}
		})
	}
	if !slices.Equal(traces[0], traces[1]) {
		t.Errorf("two lives of seed %d differ:\n%s", seed, firstDifference(traces[0], traces[1]))
	}
	t.Logf("seed %d: %d lines", seed, len(traces[0]))
}

func firstDifference(one, other []string) string {
	for n := range min(len(one), len(other)) {
		if one[n] != other[n] {
			return one[n] + "\n" + other[n]
		}
	}
	return "one is longer than the other"
}
