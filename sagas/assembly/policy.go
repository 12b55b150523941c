package assembly

import "hostpanel/sagas"

// policies are how long and how often each sort of step is tried
// (docs/sagas.md, "Policies").
type policies struct{ local, bin, left sagas.Policy }

func policiesOf(t Times) policies {
	return policies{
		local: t.LocalPolicy(),
		left:  sagas.Policy{Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap, First: t.ReadyFirst, Last: t.UndoCap},
		bin:   sagas.Policy{Timeout: t.Write},
	}
}
