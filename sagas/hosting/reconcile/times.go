package reconcile

import (
	"time"

	"hostpanel/sagas"
)

// Times are those of resources on their way to the engine and the hypervisor.
type Times struct {
	EngineBase, EngineCap time.Duration
	EngineBudget          time.Duration
	SecretLife            time.Duration // of a password on its way to the engine
	ReadyBudget, VMBudget time.Duration
	ReadyFirst, ReadyLast time.Duration // between two looks
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	EngineBase: time.Second, EngineCap: 10 * time.Minute, EngineBudget: 24 * time.Hour, SecretLife: 72 * time.Hour,
	ReadyBudget: 2 * time.Hour, VMBudget: 30 * time.Minute, ReadyFirst: 5 * time.Second, ReadyLast: 20 * time.Second,
}

// Policies are how long and how often calls to the outside are tried (docs/sagas.md,
// "Policies").
type Policies struct {
	Engine  sagas.Policy // a call that changes something
	Ready   sagas.Policy // the wait until the engine has applied it
	Compare sagas.Policy // the wait of a comparison with the engine
	Machine sagas.Policy // the wait for a machine
}

// Policies follow from the times.
func (r *Reconciler) Policies() Policies {
	t, all := r.times, r.runner.Times()
	return Policies{
		Engine: sagas.Policy{
			Timeout: all.Call, Budget: t.EngineBudget, Base: t.EngineBase, Cap: t.EngineCap, Quarantine: all.Quarantine,
			First: all.Poll, Last: t.ReadyLast,
		},
		Ready: sagas.Policy{
			Timeout: all.Call / 2, Budget: t.ReadyBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase,
			Cap: t.EngineCap,
		},
		Compare: sagas.Policy{
			Timeout: all.Call, Budget: t.ReadyBudget, First: t.EngineBase, Last: 5 * t.EngineBase, Base: t.EngineBase,
			Cap: t.EngineCap,
		},
		Machine: sagas.Policy{
			Timeout: all.Call / 2, Budget: t.VMBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase,
			Cap: t.EngineCap,
		},
	}
}
