package reconcile

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"hostpanel/domain/compute"
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
	calls, err := r.rehearsed(ctx, w.object)
	return calls, sagas.NothingSent(err)
}

// MakeCalls are the calls that [Reconciler.Push] would make at the engine for requests of
// an order, the owner before what belongs to it. An object whose name another has there is
// returned as taken instead; if that is the first one, nothing else can be made. Nothing is
// made.
func (r *Reconciler) MakeCalls(ctx context.Context, client int64, requests ...hosting.Request) (
	calls []hosting.EngineCall, taken []hosting.EngineObject, err error,
) {
	var free []hosting.EngineObject
	for i, request := range requests {
		w, err := r.requested(ctx, request, client)
		if err != nil {
			return nil, nil, err
		}
		_, is, err := w.shown(ctx, r.engine)
		switch {
		case errors.Is(err, errNotOurs):
			if taken = append(taken, w.object); i == 0 {
				return nil, taken, nil
			}
		case err != nil:
			return nil, nil, sagas.NothingSent(err)
		case !is:
			free = append(free, w.object)
		}
	}
	calls, err = r.rehearsed(ctx, free...)
	return calls, taken, sagas.NothingSent(err)
}

// MachineCall is the call that would make a machine. False: the hypervisor has no room for
// it. Nothing is made.
func (r *Reconciler) MachineCall(ctx context.Context, m *hosting.Machine) (call hosting.EngineCall, hasRoom bool, err error) {
	number := func(field string, n int64) hosting.EngineChange {
		return hosting.EngineChange{Field: field, To: strconv.FormatInt(n, 10)}
	}
	call = hosting.EngineCall{Call: "create", Record: "vm " + m.Name, Changes: []hosting.EngineChange{
		{Field: "os", To: m.OS},
		number("cores", m.Cores), number("memory_mb", m.MemoryMB),
		number("disk_gb", m.DiskGB), number("traffic_tb", m.TrafficTB),
	}}
	at, err := r.compute.Of(m.Server)
	if err != nil {
		return call, false, err
	}
	hosts, err := at.Hosts(ctx)
	return call, compute.HasRoom(hosts, m.Wanted(r.installation, first, true, "")), sagas.NothingSent(err)
}

// rehearsed are the calls for objects in the engine's words, or in the panel's if the
// engine does not tell its own.
func (r *Reconciler) rehearsed(ctx context.Context, objects ...hosting.EngineObject) (calls []hosting.EngineCall, err error) {
	if engine, can := r.engine.(hosting.Rehearser); can {
		return engine.Rehearse(ctx, objects...)
	}
	for _, o := range objects {
		found, is, err := r.engine.Find(ctx, o.Kind, o.Name, o.Ref)
		if err != nil {
			return nil, err
		}
		call := hosting.EngineCall{Call: "change", Record: o.Kind + " " + o.Name, Changes: otherValues(found.Values, o.Values)}
		if !is {
			call.Call, call.Changes = "create", allValues(o.Values)
		}
		if !is || len(call.Changes) > 0 {
			calls = append(calls, call)
		}
	}
	return calls, nil
}

// wouldBe reads a resource as it would be after a change.
func (r *Reconciler) wouldBe(ctx context.Context, ref hosting.Ref, change field.Values) (desired, error) {
	w := r.resource(ref)
	found, err := r.system().Hosting().Recorded(ctx, ref)
	if err != nil {
		return w, err
	}
	w.row = found[ref]
	w.row.Spec = maps.Clone(w.row.Spec)
	maps.Copy(w.row.Spec, change)
	return w, r.complete(ctx, &w)
}

// allValues are the fields of a new object that say something.
func allValues(want field.Values) (all []hosting.EngineChange) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value := string(want[name]); !slices.Contains([]string{`""`, "null", "[]"}, value) {
			all = append(all, hosting.EngineChange{Field: name, To: value})
		}
	}
	return all
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
