package sagas

import (
	"time"
)

// Times are the durations that the runner lives by (docs/sagas.md, "Times").
// Tests shrink them.
type Times struct {
	Lease      time.Duration // how long a run belongs to a worker that is silent
	Poll       time.Duration // between two looks for work without a wake-up
	Grace      time.Duration // for calls that are running when the program stops
	Call       time.Duration // of a step whose policy names no other limit
	Write      time.Duration // of a transaction
	Floor      time.Duration // the least pause between two attempts
	Break      time.Duration // a queue's breaker is open after failures in a row, at first
	BreakMax   time.Duration // and at last
	Quarantine time.Duration // before "not found" is proof
	LocalBase  time.Duration // back-off of steps in our own database
	LocalCap   time.Duration
	UndoBase   time.Duration // back-off of compensation
	UndoCap    time.Duration
	UndoBudget time.Duration // until it needs an operator
	KeyLife    time.Duration // of an idempotency key at the other side
	Keep       time.Duration // of attempts
	Sweep      time.Duration // between two rounds of the janitor
}

const day = 24 * time.Hour

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	Lease: 30 * time.Second, Poll: time.Second, Grace: 15 * time.Second, Call: 20 * time.Second, Write: 5 * time.Second,
	Floor: 200 * time.Millisecond,
	Break: 30 * time.Second, BreakMax: 5 * time.Minute, Quarantine: time.Minute,
	LocalBase: 200 * time.Millisecond, LocalCap: 5 * time.Second,
	UndoBase: 5 * time.Second, UndoCap: 10 * time.Minute, UndoBudget: 7 * day,
	KeyLife: 23 * time.Hour, Keep: 90 * day, Sweep: time.Minute,
}

// LocalPolicy is that of steps that change only our own database.
func (t Times) LocalPolicy() Policy {
	return Policy{Timeout: t.Write, Attempts: 10, Base: t.LocalBase, Cap: t.LocalCap}
}

// UndoPolicy is that of effects that are undone.
func (t Times) UndoPolicy() Policy {
	return Policy{Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap}
}
