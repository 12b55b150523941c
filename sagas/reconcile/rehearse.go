package reconcile

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// ChangeCalls are the calls that a change of a record would make at the engine. The object
// is the one that a push of the changed record would bring, and nothing is changed.
func (r *Reconciler) ChangeCalls(ctx context.Context, ref hosting.Ref, change field.Values) ([]hosting.EngineCall, error) {
	w, err := r.wouldBe(ctx, ref, change)
	if err != nil {
		return nil, err
	}
	if engine, can := r.engine.(hosting.Rehearser); can {
		calls, err := engine.Rehearse(ctx, w.object)
		return calls, sagas.NothingSent(err)
	}
	found, is, err := r.engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	if err != nil {
		return nil, sagas.NothingSent(err)
	}
	call := hosting.EngineCall{Call: "change", Record: w.object.Kind + " " + w.object.Name, Changes: otherValues(found.Values, w.object.Values)}
	switch {
	case !is:
		call.Call = "create"
	case len(call.Changes) == 0:
		return nil, nil
	}
	return []hosting.EngineCall{call}, nil
}

// wouldBe reads a resource as it would be after a change.
func (r *Reconciler) wouldBe(ctx context.Context, ref hosting.Ref, change field.Values) (desired, error) {
	w := desired{ref: ref}
	w.kind, _ = hosting.KindNamed(ref.Kind)
	w.strategy = r.strategyFor(w.kind)
	found, err := r.system().Recorded(ctx, ref)
	if err != nil {
		return w, err
	}
	w.row = found[ref]
	w.row.Spec = maps.Clone(w.row.Spec)
	maps.Copy(w.row.Spec, change)
	if w.beside, err = r.system().Recorded(ctx, w.needs()...); err != nil {
		return w, err
	}
	return w, r.shape(ctx, &w)
}

// otherValues are the fields that an engine has otherwise than they are to be.
func otherValues(have, want field.Values) (all []hosting.EngineChange) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if before, told := have[name]; told && !bytes.Equal(before, want[name]) {
			all = append(all, hosting.EngineChange{Field: name, From: string(before), To: string(want[name])})
		}
	}
	return all
}
