package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// The fourth phase: the object is changed, adopted, created or removed.

// act prepares the act and what follows from it. The act may be repeated: it
// brings the object to what is wanted, whatever was there.
func (a *attempt) act(
	ctx context.Context, run *hosting.Generation,
) (do func(context.Context) (sagas.Result, error), then func(sagas.Result) sagas.Work, err error) {
	if err := a.unseal(ctx); err != nil {
		return nil, nil, err
	}
	if err := a.findSuspended(ctx, run); err != nil {
		return nil, nil, err
	}
	if a.ending, err = a.reconciler.partsWithDisk(ctx, &a.want); err != nil {
		return nil, nil, err
	}
	kind := a.want.strategy
	bring, then := kind.bring, a.brought
	switch {
	case a.want.row.Status == hosting.Leaving:
		bring, then = remove, a.removed
	case a.want.byOrder:
		bring = kind.create // the runner looks first where it may be there
	}
	do = func(ctx context.Context) (sagas.Result, error) {
		if a.want.byOrder && a.secretMissing { // it was recorded together with the request
			if err := a.unseal(ctx); err != nil {
				return sagas.Result{}, sagas.NothingSent(err)
			}
		}
		result, err := bring(ctx, a)
		return result, kind.refused(ctx, a, err)
	}
	return do, then, nil
}

// findSuspended finds what belongs to a tenant and is off. An engine may switch
// it on along with a change of the tenant, and an attempt that was cut short may
// have left it so: then all of it is pushed once more (trap T3 in
// docs/engine-ispconfig.md).
func (a *attempt) findSuspended(ctx context.Context, run *hosting.Generation) error {
	if !a.want.kind.Owner || a.want.object.ID == 0 || a.want.row.Status == hosting.Leaving {
		return nil
	}
	known, err := a.reconciler.runner.Effect(ctx, pushKey(*run))
	if err != nil {
		return err
	}
	a.woken = known.MayHaveHappened()
	a.suspended, err = a.reconciler.system().Hosting().Asleep(ctx, a.want.ref.ID)
	return err
}

// refused: a failure of the act is what it is.
func (plain) refused(_ context.Context, _ *attempt, failure error) error { return failure }

// bring changes what is there, adopts what an earlier attempt has made, and
// creates what there is not, or what such an attempt may have left half made.
// Then it reads the object back (rule E-7).
func (p plain) bring(ctx context.Context, a *attempt) (sagas.Result, error) {
	if untouched, err := a.want.strategy.untouched(ctx, a); err != nil || untouched {
		return a.result(), err
	}
	if err := a.change(ctx); err == nil || !sagas.RefusedAs(err, "absent") {
		return a.readBack(ctx, a.retryIfNameFreed(ctx, err))
	}
	found, is, err := a.find(ctx)
	switch {
	case err != nil:
	case is && !found.Partial:
		a.want.object.ID = found.ID
		err = a.change(ctx)
	case !is && a.secretMissing:
		err = domain.Fail(domain.Permanent, "secret_needed", errors.New("the password has to be sent again"))
	default:
		if err = a.reconciler.afterOrder(ctx, a.want); err == nil {
			return p.create(ctx, a)
		}
	}
	return a.readBack(ctx, a.retryIfNameFreed(ctx, err))
}

// afterOrder waits where an object, or what it is a part of, is missing because of its order,
// which turns back and has removed it, or is about to make it again. The record of what was
// removed is gone by the end of the order, so that is asked first.
func (r *Reconciler) afterOrder(ctx context.Context, w desired) error {
	live, err := r.beingOrdered(ctx, w.row)
	if err != nil {
		return sagas.NothingSent(err)
	}
	now, err := r.system().Hosting().Recorded(ctx, w.ref)
	switch {
	case err != nil:
		return sagas.NothingSent(err)
	case live, now[w.ref].Status == hosting.Gone:
		return sagas.TooEarly("order", r.times.ReadyFirst)
	}
	return nil
}

func (p plain) create(ctx context.Context, a *attempt) (result sagas.Result, err error) {
	a.want.object.ID, err = p.reconciler.engine.Create(ctx, a.want.object)
	return a.readBack(ctx, a.retryIfNameFreed(ctx, a.retryIfWholeIsRemade(ctx, err)))
}

// retryIfWholeIsRemade waits for what the object is a part of, if the engine lacks
// it and its own run is not over: a wait of that run misses it as well, and makes
// it again. If that happened while the object was asked for, the number of the
// whole is another one by now.
func (a *attempt) retryIfWholeIsRemade(ctx context.Context, failure error) error {
	if !sagas.RefusedAs(failure, "parent_missing") && !sagas.RefusedAs(failure, "owner_missing") {
		return failure
	}
	for _, whole := range a.want.beside {
		live, err := a.reconciler.runner.IsLive(ctx, a.reconciler.run(hosting.GenerationOf(whole.Ref().Stream(), whole.Wish)).Key)
		if err == nil && !live {
			live, err = a.reconciler.beingOrdered(ctx, whole)
		}
		switch {
		case err != nil:
			return sagas.NothingSent(err)
		case live:
			return sagas.TooEarly("parent", a.reconciler.times.ReadyFirst)
		}
	}
	now, err := a.reconciler.system().Hosting().Recorded(ctx, slices.Collect(maps.Keys(a.want.beside))...)
	if err != nil {
		return sagas.NothingSent(err)
	}
	for ref, whole := range a.want.beside {
		if engineID(now[ref]) != engineID(whole) {
			return sagas.TooEarly("parent", a.reconciler.times.ReadyFirst)
		}
	}
	return failure
}

// untouched: the engine takes a plain object in any state.
func (plain) untouched(context.Context, *attempt) (bool, error) { return false, nil }

// retryIfNameFreed waits for a name that is taken, if it is about to become free:
// a resource of the same tenant has it, and is about to leave or to be renamed.
func (a *attempt) retryIfNameFreed(ctx context.Context, failure error) error {
	if !sagas.RefusedAs(failure, "name_taken") {
		return failure
	}
	found, is, err := a.reconciler.engine.Find(ctx, a.want.object.Kind, a.want.object.Name, a.want.object.Ref)
	switch {
	case err != nil:
		return sagas.NothingSent(err)
	case !is, !a.want.ours(found):
		return failure
	}
	switch err := a.want.strategy.unheld(ctx, &a.want, found); {
	case errors.Is(err, errNotOurs):
		return failure
	case err != nil:
		return err
	}
	return sagas.TooEarly("name_leaving", a.reconciler.times.ReadyFirst)
}

var errAbsent = domain.Fail(domain.Permanent, "absent", errors.New("it has no number at the engine"))

// change brings the object with our number to what is wanted, under whichever
// of its names the engine has it.
func (a *attempt) change(ctx context.Context) error {
	if a.want.object.ID == 0 {
		return errAbsent
	}
	o := a.want.object
	err := a.reconciler.engine.Change(ctx, o)
	if a.want.kind.Owner && err != nil && sagas.CodeOf(err) == "woken" {
		a.woken = true
		return nil
	}
	for _, o.Former = range a.former {
		if !sagas.RefusedAs(err, "drift") {
			break
		}
		err = a.reconciler.engine.Change(ctx, o)
	}
	return err
}

// remove removes the object, if there is one and it is the resource's.
func remove(ctx context.Context, a *attempt) (sagas.Result, error) {
	return sagas.Result{}, a.want.strategy.remove(ctx, a)
}

// remove removes the object with our number, and the one with our name: a change
// without an answer may have made another, with a number that we do not know.
func (plain) remove(ctx context.Context, a *attempt) error {
	if a.want.object.ID != 0 {
		if err := a.removeOne(ctx, a.want.object.ID); err != nil {
			return err
		}
	}
	found, is, err := a.find(ctx)
	if err != nil || !is {
		return foreign(err)
	}
	return a.removeOne(ctx, found.ID)
}

func (a *attempt) removeOne(ctx context.Context, id int64) error {
	o := hosting.EngineObject{
		Kind: a.want.object.Kind, ID: id, Owner: a.want.object.Owner, Name: a.want.object.Name, Ref: a.want.object.Ref,
		Parents: a.want.object.Parents,
	}
	err := a.reconciler.engine.Remove(ctx, o)
	for _, o.Name = range a.former {
		if !sagas.RefusedAs(err, "drift") {
			break
		}
		err = a.reconciler.engine.Remove(ctx, o)
	}
	return err
}

// foreign: an object that is another's was never made for the resource.
func foreign(err error) error {
	if errors.Is(err, errNotOurs) || sagas.RefusedAs(err, "not_supported") {
		return nil
	}
	return err
}
