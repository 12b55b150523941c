package reconcile

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// Whatever is asked of a hosting resource starts a run for it, which brings the
// engine to what the resource is by then. Runs of one resource go one by one, in
// the order of the generations; what a later generation has overtaken has nothing
// to do.

// EngineQueue is the queue of steps that call the engine.
func (r *Reconciler) EngineQueue() string { return "engine:" + r.engine.Server() }

// ComputeQueue is the queue of steps that call a hypervisor; "" is the first one.
func (r *Reconciler) ComputeQueue(server string) string { return r.compute.Queue(server) }

// callsAtOnce limits the runs that call one hypervisor at once.
const callsAtOnce = 4

// register registers the runs for one resource each.
func (r *Reconciler) register() {
	policies, engine := r.Policies(), r.EngineQueue()
	compute := func(g hosting.Generation) string { return r.ComputeQueue(g.Server) }
	for _, each := range r.compute {
		r.runner.AddQueue(r.ComputeQueue(each.Server()), callsAtOnce)
	}
	r.engineRuns = r.registerRuns("engine",
		sagas.Step[hosting.Generation]{
			Name: "push", Says: "bring the hosting engine to what is wanted", Queue: engine, Policy: policies.Engine,
			Effect: &sagas.Effect[hosting.Generation]{Key: pushKey, Prepare: r.pushRecorded},
		},
		sagas.Step[hosting.Generation]{
			Name: "applied", Says: "wait until the hosting engine has applied it", Queue: engine, Policy: policies.Ready,
			Wait: r.applied, Of: "push",
		})
	r.machineRuns = r.registerRuns("machine",
		sagas.Step[hosting.Generation]{
			Name: "machine", Says: "bring the hypervisor to what is wanted of the machine", QueueOf: compute, Policy: policies.Engine,
			Effect: &sagas.Effect[hosting.Generation]{Key: pushKey, Prepare: r.pushRecorded},
		},
		sagas.Step[hosting.Generation]{
			Name: "machine.applied", Says: "wait until the hypervisor has carried it out", QueueOf: compute, Policy: policies.Machine,
			Wait: r.applied, Of: "machine",
		})
}

func (r *Reconciler) registerRuns(name string, steps ...sagas.Step[hosting.Generation]) sagas.Definition[hosting.Generation] {
	return sagas.Register(r.runner, sagas.Saga[hosting.Generation]{
		Name: name, Definition: name + "/1", Steps: steps,
		Serial: func(g hosting.Generation) (domain.Stream, int) { return g.Ref().Stream(), g.Version },
		Parked: func(g hosting.Generation, _, code string) []domain.Command {
			return []domain.Command{hosting.Decline{Ref: g.Ref(), Code: code, Version: g.Version, At: r.runner.Now()}}
		},
	})
}

// pushRecorded prepares the call of a run of the resource's own: it brings what the
// tables have of the resource.
func (r *Reconciler) pushRecorded(ctx context.Context, run *hosting.Generation) (sagas.Call, error) {
	w, err := r.read(ctx, run)
	if err != nil {
		return sagas.Call{}, err
	}
	if done, err := r.upToDate(ctx, run, w); err != nil || done {
		return w.nothing(), err
	}
	return r.push(ctx, run, w)
}

// pushKey is the key of a run's effect: "e/site-42/3".
func pushKey(g hosting.Generation) string { return "e/" + g.String() }

// run is the run for a generation.
func (r *Reconciler) run(g hosting.Generation) sagas.Start {
	if kind, _ := hosting.KindNamed(g.Kind); kind.Backend == hosting.Compute {
		return r.machineRuns.Start(g.String(), g, uuid.Nil)
	}
	return r.engineRuns.Start(g.String(), g, uuid.Nil)
}

// starts are the runs that begin with events about hosting resources: one for the
// last generation of each, unless it is confirmed along with it.
func (r *Reconciler) starts(ctx context.Context, events []eventstore.RecordedEvent) (starts []eventstore.Start, err error) {
	last := map[domain.Stream]int{}
	for i, e := range events {
		switch {
		case raisesGeneration(e):
			last[e.Stream] = i
		case confirmsGeneration(e):
			delete(last, e.Stream)
		}
	}
	for i, e := range events {
		if at, raised := last[e.Stream]; raised && at == i {
			g := hosting.GenerationOf(e.Stream, e.Version)
			if g.Server, err = r.serverOf(ctx, g.Ref()); err != nil {
				return nil, err
			}
			starts = append(starts, r.runner.Starting(i, r.run(g)))
		}
	}
	return starts, nil
}

// serverOf is the hypervisor of a machine that was there before; "": it is none, or on the
// first hypervisor.
func (r *Reconciler) serverOf(ctx context.Context, ref hosting.Ref) (string, error) {
	if kind, _ := hosting.KindNamed(ref.Kind); kind.Backend != hosting.Compute || len(r.compute) < 2 {
		return "", nil
	}
	w := r.resource(ref)
	found, err := r.system().Hosting().Recorded(ctx, ref)
	if w.row = found[ref]; err != nil || w.row.Kind == "" {
		return "", err
	}
	m, err := w.machineSpec()
	return m.Server, err
}

// raisesGeneration tells whether the engine or the hypervisor has something to do
// after an event. What an order has asked for is made by the order's own run.
func raisesGeneration(fact eventstore.RecordedEvent) bool {
	kind, known := hosting.KindNamed(fact.Stream.Category)
	if !known || kind.Backend == hosting.Local {
		return false
	}
	switch e := fact.Event.(type) {
	case hosting.Requested:
		return e.For == ""
	case hosting.Changed, hosting.Disabled, hosting.Enabled, hosting.MovedToBin, hosting.Restored, hosting.RemovalRequested,
		hosting.PushRequested, hosting.CertificateOrdered:
		return true
	}
	return false
}

// confirmsGeneration tells whether an event leaves nothing to do for the generations
// before it.
func confirmsGeneration(fact eventstore.RecordedEvent) bool {
	switch e := fact.Event.(type) {
	case hosting.Removed:
		return true
	case hosting.EngineConfirmed:
		return e.Version == 0 || e.Version == fact.Version-1
	}
	return false
}
