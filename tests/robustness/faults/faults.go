// Package faults is what goes wrong while a worker is at work: it dies, is stopped until
// its lease is over, or an operator takes its run away.
package faults

import (
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/sagas"
)

// A Sort is a sort of fault.
type Sort string

// The sorts of faults.
const (
	Dies      Sort = "dies"       // the process writes nothing more
	Sleeps    Sort = "sleeps"     // it is stopped until another one has its run
	Paused    Sort = "paused"     // an operator pauses the run
	TakenBack Sort = "taken back" // an operator has the run compensated
	Released  Sort = "released"   // an operator takes the run from the worker
)

// Sorts are all of them.
var Sorts = []Sort{Dies, Sleeps, Paused, TakenBack, Released}

// Points are where they strike.
var Points = []sagas.Point{
	sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete, sagas.Waiting,
}

// PointsOfOurOwn are those of steps that change only our own database.
var PointsOfOurOwn = []sagas.Point{sagas.BeforeComplete, sagas.AfterComplete, sagas.Waiting}

// A Fault strikes once, at a point.
type Fault struct {
	Sort Sort
	At   sagas.Point
	Nth  int // time that the point is reached, from 0
}

// String tells the fault in a trace.
func (f Fault) String() string {
	if f.Sort == "" {
		return ""
	}
	return fmt.Sprintf("(%s %s #%d)", f.Sort, f.At, f.Nth)
}

// Striking is the fault as workers meet it. Strike is what happens meanwhile.
func (f Fault) Striking(strike func(sagas.Run)) func(sagas.Point, sagas.Run) error {
	nth, struck := 0, f.Sort == ""
	return func(p sagas.Point, r sagas.Run) error {
		if struck || p != f.At {
			return nil
		}
		if nth++; nth <= f.Nth {
			return nil
		}
		struck = true
		if f.Sort == Dies {
			return sagas.ErrKilled
		}
		strike(r)
		if f.Sort == Sleeps && (p == sagas.AfterIntent || p == sagas.Sent) {
			return heldUp
		}
		return nil
	}
}

// heldUp is what a worker finds that sleeps before a call: the time of the call is over.
var heldUp = domain.Fail(domain.Transient, "held_up", errors.New("the time of the call is over"))
