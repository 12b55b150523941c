package reconcile

import (
	"context"
	"strconv"

	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What an order has bought takes the phases in the order's own run. The order's request
// is the first generation of the resource. It may be recorded together with the step that
// brings it, so that the tables do not show it yet: the request itself says what is wanted.

// first is the generation that a request begins.
const first = 1

// Push prepares the call that brings what an order has requested. Client is the engine's
// number of the tenant; 0: it has none.
func (r *Reconciler) Push(ctx context.Context, request hosting.Request, client int64) (sagas.Call, error) {
	w, err := r.requested(ctx, request, client)
	if err != nil {
		return sagas.Call{}, err
	}
	run := hosting.GenerationOf(request.Stream(), first)
	return r.push(ctx, &run, w)
}

// Applied tells whether it has been carried out. What is lost is [sagas.ErrAbsent]. Of the
// spec only the object's name counts.
func (r *Reconciler) Applied(ctx context.Context, request hosting.Request, client int64) (bool, sagas.Work, error) {
	w, err := r.requested(ctx, request, client)
	if err != nil {
		return false, sagas.Work{}, err
	}
	return w.strategy.applied(ctx, &w)
}

// IsGone tells whether nothing is left of it outside. What has its name by now and is
// another's does not count.
func (r *Reconciler) IsGone(ctx context.Context, request hosting.Request, client int64) (bool, error) {
	w, err := r.requested(ctx, request, client)
	if err != nil {
		return false, err
	}
	run := hosting.GenerationOf(request.Stream(), first)
	call, err := w.strategy.call(&attempt{reconciler: r, want: w}, &run)
	if err != nil {
		return false, err
	}
	_, found, err := call.Lookup(ctx)
	return found == sagas.No, foreign(err)
}

// requested is a resource as an order has requested it, in its tenant.
func (r *Reconciler) requested(ctx context.Context, request hosting.Request, client int64) (desired, error) {
	w := r.resource(request.Ref)
	w.byOrder = true
	w.row = projections.Resource{
		Kind: request.Kind, ID: request.ID, Tenant: request.Tenant, Status: hosting.Wanted, Spec: request.Spec, Active: true,
		Wish: first, RequestedFor: request.For,
	}
	if needs := w.needs(); w.kind.Owner && needs[0].ID != 0 { // the package
		return w, r.complete(ctx, &w)
	}
	tenant := w.tenant()
	w.beside = map[hosting.Ref]projections.Resource{tenant: {Kind: tenant.Kind, ID: tenant.ID, EngineID: &client}}
	return w, r.shape(ctx, &w)
}

// call: an order makes the object once. What a look-up finds is adopted as it is. Values
// may change while the run tries; what the object is may not. A run of the resource's own
// brings it to what is wanted, as often as it is repeated.
func (plain) call(a *attempt, run *hosting.Generation) (sagas.Call, error) {
	if !a.want.byOrder {
		return sagas.Call{Request: *run, Repeatable: true, Lookup: a.look}, nil
	}
	o := a.want.object
	asked := hosting.EngineObject{Kind: o.Kind, Owner: o.Owner, Name: o.Name, Ref: o.Ref}
	return sagas.Call{Request: asked, Lookup: a.lookOurs, Undo: a.undo}, nil
}

// lookOurs finds the whole object under its present name. Another creation completes one
// that is half made.
func (a *attempt) lookOurs(ctx context.Context) (sagas.Result, sagas.Found, error) {
	found, is, err := a.want.shown(ctx, a.reconciler.engine)
	if err != nil || !is || found.Partial {
		return sagas.Result{}, sagas.No, err
	}
	a.seen, a.want.object.ID = found, found.ID
	return a.result(), sagas.Yes, nil
}

// undo removes what was made, as what leaves is removed.
func (a *attempt) undo(ctx context.Context, made sagas.Result) error {
	a.want.object.ID, _ = strconv.ParseInt(made.External, 10, 64) // a machine has none
	return a.want.strategy.remove(ctx, a)
}
