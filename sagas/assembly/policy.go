package assembly

import "hostpanel/sagas"

// policies are how long and how often each sort of step is tried
// (docs/sagas.md, "Policies").
type policies struct{ local, compare, engine, push, ready, vm, bin, left, due sagas.Policy }

func policiesOf(t Times) policies {
	return policies{
		due:   sagas.Policy{Timeout: t.Write, First: t.CertificateLook, Last: t.CertificateLook, Base: t.LocalBase, Cap: t.LocalCap},
		local: t.LocalPolicy(),
		engine: sagas.Policy{
			Timeout: t.Call, Budget: t.EngineBudget, Base: t.EngineBase, Cap: t.EngineCap, Quarantine: t.Quarantine,
			First: t.Poll, Last: t.ReadyLast,
		},
		push: sagas.Policy{
			Timeout: t.Call, Budget: t.EngineBudget, Base: t.EngineBase, Cap: t.EngineCap, Quarantine: t.Quarantine,
			First: t.Poll, Last: t.ReadyLast,
		},
		left:    sagas.Policy{Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap, First: t.ReadyFirst, Last: t.UndoCap},
		bin:     sagas.Policy{Timeout: t.Write},
		ready:   sagas.Policy{Timeout: t.Call / 2, Budget: t.ReadyBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase, Cap: t.EngineCap},
		compare: sagas.Policy{Timeout: t.Call, Budget: t.ReadyBudget, First: t.EngineBase, Last: 5 * t.EngineBase, Base: t.EngineBase, Cap: t.EngineCap},
		vm:      sagas.Policy{Timeout: t.Call / 2, Budget: t.VMBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase, Cap: t.EngineCap},
	}
}
