package sagas

import "errors"

// ErrKilled ends a worker in tests like a killed process: it releases and writes
// nothing.
var ErrKilled = errors.New("killed")

// Point is a place where tests can kill, stop or delay a worker.
type Point string

const (
	BeforeIntent   Point = "before_intent"   // before the effect stands in the ledger
	AfterIntent    Point = "after_intent"    // after that, before the call
	Sent           Point = "sent"            // the call may have been made
	Answered       Point = "answered"        // the call was answered
	BeforeComplete Point = "before_complete" // before the step is recorded as done
	AfterComplete  Point = "after_complete"  // after that
	Waiting        Point = "waiting"         // before a wait for a stream is recorded
	RenewingLeases Point = "renewing_leases" // an error keeps the process from it
	Notifying      Point = "notifying"       // an error keeps processes from waking each other
)

// faults are what tests let go wrong; nil: nothing.
type faults func(Point, Run) error

// at asks the tests, if any, for a fault at this point of a run.
func (f faults) at(p Point, r Run) error {
	if f == nil {
		return nil
	}
	return f(p, r)
}

// FaultAt asks the tests, if any, for a fault at this point of a run.
func (s *Runner) FaultAt(p Point, r Run) error { return s.fault.at(p, r) }
