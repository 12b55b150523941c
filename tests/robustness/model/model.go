package model

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// A Model is the state of the whole engine.
type Model struct {
	Origin   domain.Cause // of commands without a cause
	Now      time.Time    // the real clock
	Ahead    time.Duration
	Events   []Event
	Runs     map[uuid.UUID]*Row
	Queues   map[string]*Queue
	Effects  map[string]*Effect
	Claims   map[Place]Held
	Attempts map[AttemptKey]*Attempt
	Outside  *trips.Outside
	Inbox    *Inbox
	Seen     []string                           // what steps came to, since the last operation
	Fault    func(sagas.Point, sagas.Run) error // at the points of a worker; nil: none

	streams map[domain.Stream]*stream
}

// Queues of the test saga, with the runs that may be worked on at once.
var Queues = map[string]int{sagas.LocalQueue: 4, trips.Engine: 2, trips.Bank: 1, trips.Post: 2}

// New is an empty engine.
func New(origin domain.Cause, now time.Time) *Model {
	m := &Model{
		Origin: origin, Now: now, Runs: map[uuid.UUID]*Row{}, Queues: map[string]*Queue{}, Effects: map[string]*Effect{},
		Claims: map[Place]Held{}, Attempts: map[AttemptKey]*Attempt{}, Outside: trips.NewOutside(), streams: map[domain.Stream]*stream{},
	}
	m.Inbox = &Inbox{m: m, Watches: map[uuid.UUID]*Watch{}}
	for queue, most := range Queues {
		m.Queues[queue] = &Queue{Most: most}
	}
	return m
}

// Business is the business time.
func (m *Model) Business() time.Time { return m.Now.Add(m.Ahead) }

// Pass lets real time pass. What is on its way outside arrives.
func (m *Model) Pass(d time.Duration) {
	m.Now = m.Now.Add(d)
	m.Outside.Pass(d)
}

func (m *Model) at(p sagas.Point, c claimed) error {
	if m.Fault == nil {
		return nil
	}
	return m.Fault(p, c.Run)
}
