package sagas

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// Whatever is asked of a hosting resource starts a run for it, which brings
// the engine to what the resource is by then (docs/sagas.md, "Engine"). Runs
// of one resource take turns, in the order of the wishes; what a later wish
// has overtaken has nothing to do.

const engineDef = "engine/1"

// The steps of a run that works for one resource.
const (
	pushStep    = "push"
	appliedStep = "applied"
)

func (s *Sagas) engineSteps() []step {
	queue := engineQueue(s.engine)
	return []step{
		{
			name: pushStep, says: "bring the hosting engine to what is wanted", queue: queue, policy: s.policies.push,
			effect: &effect{key: pushKey, prepare: s.push},
		},
		{
			name: appliedStep, says: "wait until the hosting engine has applied it", queue: queue, policy: s.policies.ready,
			wait: &until{ready: s.applied},
		},
	}
}

func (s *Sagas) engineSagas() []saga {
	decline := func(j Job, _, code string) []domain.Command {
		return []domain.Command{hosting.Decline{Ref: j.ref(), Code: code, Version: j.Version, At: s.now()}}
	}
	return []saga{
		{name: "engine", def: engineDef, turns: true, parked: decline},
		{name: "machine", def: machineDef, turns: true, parked: decline},
		{name: "grace", def: graceDef},
	}
}

// engineKey is the key of the run for a wish: "engine:site-42/3".
func engineKey(j Job) string { return "engine:" + wishOf(j) }

// pushKey is the key of its effect: "e/site-42/3".
func pushKey(j Job) string { return "e/" + wishOf(j) }

func wishOf(j Job) string { return fmt.Sprintf("%s/%d", j.ref().Stream(), j.Version) }

// pushing is the run for a wish.
func (s *Sagas) pushing(j Job) Start {
	if j.Kind == "vm" {
		return s.powering(j)
	}
	return Start{Key: engineKey(j), Def: engineDef, Steps: s.places([]string{pushStep, appliedStep}), Job: j}
}

// engineStarts are the runs that begin with facts about hosting resources: one
// for the last wish of each, unless it is fulfilled along with it, and one for
// everything that goes into the bin.
func (s *Sagas) engineStarts(facts []eventstore.Recorded) (starts []eventstore.Start) {
	last := map[domain.Stream]int{}
	for i, fact := range facts {
		switch {
		case isWish(fact):
			last[fact.Stream] = i
		case isAnswer(fact):
			delete(last, fact.Stream)
		}
	}
	for i, fact := range facts {
		if _, trashed := fact.Event.(hosting.Trashed); trashed {
			starts = append(starts, s.starting(i, s.grace(jobOf(fact))))
		}
		if at, wished := last[fact.Stream]; wished && at == i {
			starts = append(starts, s.starting(i, s.pushing(jobOf(fact))))
		}
	}
	return oneQueueRow(starts)
}

func (s *Sagas) starting(fact int, run Start) eventstore.Start {
	first := Decider.Evolve(Run{}, Started(run))
	return eventstore.Start{Fact: fact, Command: run, Rows: s.startRows(first), Begun: func() { s.wake(first.Place().Queue) }}
}

// oneQueueRow leaves out the rows of queues but the first of each: one append
// may start hundreds of runs.
func oneQueueRow(starts []eventstore.Start) []eventstore.Start {
	seen := map[string]bool{}
	for i, start := range starts {
		if queue := start.Rows[0].Key; seen[queue] {
			starts[i].Rows = start.Rows[1:]
		} else {
			seen[queue] = true
		}
	}
	return starts
}

// isWish tells whether the engine, or the hypervisor, has something to do after
// a fact. What an order has asked for its own run brings there.
func isWish(fact eventstore.Recorded) bool {
	kind, known := hosting.KindNamed(fact.Stream.Category)
	if !known || kind.Alone {
		return false
	}
	switch e := fact.Event.(type) {
	case hosting.Requested:
		return e.For == ""
	case hosting.Changed, hosting.Halted, hosting.Released, hosting.Trashed, hosting.Restored, hosting.RemovalRequested,
		hosting.PushRequested, hosting.CertificateOrdered:
		return true
	}
	return false
}

// isAnswer tells whether a fact leaves nothing to do for the wishes before it.
func isAnswer(fact eventstore.Recorded) bool {
	switch e := fact.Event.(type) {
	case hosting.Removed:
		return true
	case hosting.Confirmed:
		return e.Version == 0 || e.Version == fact.Version-1
	}
	return false
}

func jobOf(fact eventstore.Recorded) Job {
	ref := refOf(fact.Stream)
	return Job{Kind: ref.Kind, ID: ref.ID, Version: fact.Version}
}

// applied is when the engine has not only accepted the wish but carried it
// out. What it has observed by then is kept.
func (s *Sagas) applied(ctx context.Context, job Job) (bool, Work, error) {
	w, err := s.wanted(ctx, job)
	if err != nil || w.row.Wish > job.Version || w.row.Status != hosting.Running || w.object.ID == 0 {
		return err == nil, Work{}, err // a later wish, or nothing to wait for
	}
	if w.kind.Name == certificateKind {
		return s.certificateApplied(ctx, w)
	}
	found, is, err := s.engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	switch {
	case err != nil || !is:
		return false, Work{}, err
	case !w.ours(found):
		return false, Work{}, errNotOurs
	}
	seen := hosting.Confirm{Ref: w.ref, EngineID: found.ID, Observed: found.Observed, Version: w.row.Wish}
	return found.Applied, Work{Commands: []domain.Command{seen}}, nil
}
