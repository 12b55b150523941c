package sagastest

import (
	"sync"
	"sync/atomic"
	"time"

	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
)

// ByHand gives a panel a clock of its own, which the story sets. No process is
// woken by that, so the panel looks often at what is due.
func ByHand(now func() time.Time) func(*assembly.Options) {
	const often = 20 * time.Millisecond
	return func(o *assembly.Options) {
		o.Now, o.Times.BillingLook, o.Times.BinLook, o.Times.CertificateLook = now, often, often, often
	}
}

// A TestClock is a clock that a story moves.
type TestClock struct {
	mu sync.Mutex
	At time.Time
}

// Now is the time of the clock.
func (v *TestClock) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.At
}

// Pass moves the clock.
func (v *TestClock) Pass(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.At = v.At.Add(d)
}

// A HandClock is a clock that a story sets without a lock.
type HandClock struct{ at atomic.Int64 }

// Now is the time of the clock.
func (c *HandClock) Now() time.Time { return time.Unix(0, c.at.Load()).UTC() }

// Set sets the clock.
func (c *HandClock) Set(to time.Time) { c.at.Store(to.UnixNano()) }

// Noon is when the stories about certificates begin.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Move moves the clock.
func (c *HandClock) Move(d time.Duration) { c.at.Add(int64(d)) }

// Moves gives the world's database a clock that can be advanced.
func (w *World) Moves() {
	w.T.Helper()
	w.Must(clock.Install(w.T.Context(), eventstoretest.Owner(w.T, w.URL())))
}

// URL is where the database is.
func (w *World) URL() string { return w.Store.Pool().Config().ConnString() }
