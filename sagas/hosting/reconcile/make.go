package reconcile

import (
	"context"
	"errors"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// What an order has bought is made by the order's own run. Names follow from our
// numbers and are known before the call (rule E-1); our reference stands in a
// searchable field (E-2); only what is ours is adopted (E-3).

// Make is the call that makes one object at the engine, for a resource. What
// follows is told of the object's number and of what the engine shows.
func (r *Reconciler) Make(ref hosting.Ref, o hosting.EngineObject, then func(id int64, seen hosting.EngineObject) sagas.Work) sagas.Call {
	m := &making{Reconciler: r, object: o}
	return sagas.Call{
		// Values may change while we try; what the object is may not.
		Request:   hosting.EngineObject{Kind: o.Kind, Owner: o.Owner, Name: o.Name, Ref: o.Ref},
		Claim:     sagas.Claim{Server: r.engine.Server(), Kind: o.Kind, Name: o.Name, Owner: ref.Stream()},
		Contested: r.contested, Lookup: m.look, Do: m.create, Undo: m.remove,
		Confirmed: func(result sagas.Result) sagas.Work {
			id, _ := strconv.ParseInt(result.External, 10, 64) // written by us, below
			return then(id, m.seen)
		},
	}
}

// making is an object that is made for an order.
type making struct {
	*Reconciler
	object, seen hosting.EngineObject // seen: as the engine shows it, once we have looked
}

func (m *making) look(ctx context.Context) (sagas.Result, sagas.Found, error) {
	found, is, err := m.findOurs(ctx, m.object)
	if err != nil || !is || found.Partial {
		return sagas.Result{}, sagas.No, err // half made: another creation completes it
	}
	m.seen = found
	return sagas.Result{External: strconv.FormatInt(found.ID, 10)}, sagas.Yes, nil
}

// create reads the owner again (rule E-7). No answer to that changes nothing: the
// wait looks again.
func (m *making) create(ctx context.Context) (sagas.Result, error) {
	id, err := m.engine.Create(ctx, m.object)
	if err != nil {
		return sagas.Result{}, err
	}
	if _, _, err := m.look(ctx); errors.Is(err, errNotOurs) {
		return sagas.Result{}, err
	}
	return sagas.Result{External: strconv.FormatInt(id, 10)}, nil
}

func (m *making) remove(ctx context.Context, made sagas.Result) error {
	id, err := strconv.ParseInt(made.External, 10, 64)
	if err != nil {
		return domain.Fail(domain.Permanent, "no_id", err)
	}
	if _, is, err := m.findOurs(ctx, m.object); err != nil || !is {
		return err
	}
	o := m.object
	return m.engine.Remove(ctx, hosting.EngineObject{Kind: o.Kind, ID: id, Owner: o.Owner, Name: o.Name, Ref: o.Ref})
}

// findOurs finds an object, and refuses one that is another's: a client is ours if
// number and login agree, everything else if our client owns it.
func (r *Reconciler) findOurs(ctx context.Context, o hosting.EngineObject) (hosting.EngineObject, bool, error) {
	found, is, err := r.engine.Find(ctx, o.Kind, o.Name, o.Ref)
	kind, _ := hosting.KindNamed(o.Kind)
	w := desired{kind: kind, object: o}
	if err == nil && is && !w.ours(found) {
		err = errNotOurs
	}
	return found, is, err
}

// IsMade tells whether the engine has carried out an object. One that it accepted
// and would not carry out is a permanent failure, one that it has lost is
// [sagas.ErrAbsent].
func (r *Reconciler) IsMade(ctx context.Context, o hosting.EngineObject) (bool, error) {
	found, is, err := r.findOurs(ctx, o)
	switch {
	case err != nil:
		return false, err
	case !is:
		return false, sagas.ErrAbsent
	case found.Refused:
		return false, errRefused
	}
	return found.Applied, nil
}

// IsGone tells whether nothing is left of what a call has made. What has its name
// by now and is another's does not count.
func (r *Reconciler) IsGone(ctx context.Context, call sagas.Call) (bool, error) {
	_, found, err := call.Lookup(ctx)
	if sagas.RefusedAs(err, sagas.CodeOf(errNotOurs)) {
		return true, nil
	}
	return found == sagas.No, err
}

// MakeMachine is the call that makes a virtual server. It is ours only with our
// tag.
func (r *Reconciler) MakeMachine(ref hosting.Ref, vm hosting.VM) sagas.Call {
	return sagas.Call{
		Request:   vm,
		Claim:     sagas.Claim{Server: r.compute.Server(), Kind: "vm", Name: vm.Name, Owner: ref.Stream()},
		Contested: r.contested,
		Lookup: func(ctx context.Context) (sagas.Result, sagas.Found, error) {
			found, is, err := r.compute.FindVM(ctx, vm.Tag, vm.Name)
			switch {
			case err != nil || !is:
				return sagas.Result{}, sagas.No, err
			case found.Tag != vm.Tag:
				return sagas.Result{}, sagas.No, errNotOurs
			}
			return sagas.Result{External: found.External}, sagas.Yes, nil
		},
		Do: func(ctx context.Context) (sagas.Result, error) {
			external, err := r.compute.CreateVM(ctx, vm)
			return sagas.Result{External: external}, err
		},
		Undo: func(ctx context.Context, _ sagas.Result) error {
			found, is, err := r.compute.FindVM(ctx, vm.Tag, vm.Name)
			if err != nil || !is || found.Tag != vm.Tag {
				return err
			}
			return r.compute.RemoveVM(ctx, found.External)
		},
	}
}

// RunningMachine finds a machine that has booted and has an address: only then is
// it as it was ordered. One that the hypervisor has lost is [sagas.ErrAbsent].
func (r *Reconciler) RunningMachine(ctx context.Context, tag, name string) (vm hosting.VM, runs bool, err error) {
	vm, is, err := r.compute.FindVM(ctx, tag, name)
	switch {
	case err != nil:
		return vm, false, err
	case !is:
		return vm, false, sagas.ErrAbsent
	case vm.Tag != tag:
		return hosting.VM{}, false, errNotOurs
	}
	return vm, vm.State == "running" && vm.Address != "", nil
}
