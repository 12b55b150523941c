package domain

import "time"

// A Replay tells what became of an earlier request with the same [IdempotencyKey].
type Replay struct {
	State    ReplayState
	Status   int    // of the answer that was given
	Location string // of the record that it showed
	ETag     string
	Body     []byte
}

// A ReplayState says how to treat a request that carries an [IdempotencyKey].
type ReplayState string

const (
	ReplayFree     ReplayState = "free"     // there was none
	ReplayRunning  ReplayState = "running"  // it has not ended yet
	ReplayFinished ReplayState = "finished" // its answer is kept
	ReplayOpen     ReplayState = "open"     // it ended, or broke off, before its answer was kept
	ReplayReused   ReplayState = "reused"   // it was another request
)

// A Quota is what is left of a limit after a call.
type Quota struct {
	Limit     int
	Window    time.Duration
	Allowed   bool
	Remaining int
	Wait      time.Duration // until a refused call would be allowed
	Reset     time.Duration // until the oldest counted call leaves the window
}
