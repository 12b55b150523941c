//go:build system

package faults_test

import (
	"sync"
	"testing"
	"time"

	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A worker that dies while it renews a certificate leads to no second order.
func TestAWorkerMayDieWhileItTendsToACertificate(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil)
	w.Pace.Lease = 300 * time.Millisecond
	var mu sync.Mutex
	died := map[string]bool{}
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		here := string(p) + " " + c.At().Name
		if kindOf(c) != "ssl_certificate" || died[here] {
			return nil
		}
		died[here] = true
		return sagas.ErrKilled
	})
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(90*sagastest.Day))
	clock.Set(sagastest.Noon.Add(60 * sagastest.Day))
	w.Goes()
	w.Eventually("it is ordered", func() bool { return w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered") == 1 })
	w.Eventually("the run after it waits", func() bool {
		return w.Count(`select count(*) from saga_run where key like 'renewal:%' and status <> 'done'`) == 1
	})
	w.Eventually("it has died before and after each of the three steps", func() bool { // the last time right after the order
		mu.Lock()
		defer mu.Unlock()
		return len(died) == 6
	})
	w.Equal("ordered", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 1)
}
