// Package reconcile brings hosting resources to the hosting engine, and machines
// to the hypervisor (docs/sagas.md, "Engine").
//
// There is one way to them: five phases, which [Reconciler.push] calls in this
// order. Each has a file:
//
//	read       read.go      the resource as it is now, and the object that the engine is to have
//	order      order.go     what comes first: earlier runs, parents, parts, namesakes
//	claim      claim.go     the object's name, which one resource has at a time
//	act        act.go       change, adopt, create or remove the object
//	read back  readback.go  what the engine shows, until it has applied the change
//
// A resource takes the phases in a run of its own (runs.go), or in the run of the
// order that has requested it (ordered.go). Certificates and machines differ in
// some phases: each is a [strategy] (certificate.go, machine.go).
package reconcile

import (
	"context"

	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what a reconciler works with.
type Deps struct {
	Runner  *sagas.Runner
	Store   *eventstore.Store
	Tables  *projections.Tables
	Vault   *credentials.Vault
	Engine  hosting.EngineServer
	Compute compute.Fleet
	Times   Times

	Installation string // the id of this one, from which the ids of machines follow
}

// A Reconciler brings the engine and the hypervisor to what is wanted.
type Reconciler struct {
	runner  *sagas.Runner
	store   *eventstore.Store
	tables  *projections.Tables
	vault   *credentials.Vault
	engine  hosting.EngineServer
	compute compute.Fleet
	times   Times

	installation string

	engineRuns  sagas.Definition[hosting.Generation]
	machineRuns sagas.Definition[hosting.Generation]
}

// New registers the runs of the reconciler.
func New(d Deps) *Reconciler {
	r := &Reconciler{
		runner: d.Runner, store: d.Store, tables: d.Tables, vault: d.Vault, engine: d.Engine, compute: d.Compute, times: d.Times,
		installation: d.Installation,
	}
	r.register()
	d.Runner.OnAppend(r.starts)
	return r
}

// system reads as the program itself.
func (r *Reconciler) system() projections.Scope { return r.tables.For(projections.System) }

// push takes a generation of a resource through the phases after it was read. Of
// what it prepares, the runner makes the claim and the act, and repeats them. The
// next step, applied, reads back until the engine has carried it out.
func (r *Reconciler) push(ctx context.Context, run *hosting.Generation, w desired) (call sagas.Call, err error) {
	if err := r.order(ctx, run, w); err != nil {
		return sagas.Call{}, err
	}
	a := &attempt{reconciler: r, want: w}
	if call, err = w.strategy.call(a, run); err != nil {
		return sagas.Call{}, err
	}
	call.Contested = r.contested
	if call.Claim, err = a.claim(ctx); err != nil {
		return sagas.Call{}, err
	}
	if call.Do, call.Confirmed, err = a.act(ctx, run); err != nil {
		return sagas.Call{}, err
	}
	return call, nil
}

// An attempt is one attempt to bring a resource to the engine.
type attempt struct {
	reconciler    *Reconciler
	want          desired
	former        []string               // names that it may still have there
	opened        []string               // keys of its secrets in the vault
	secretMissing bool                   // a secret is gone
	suspended     []projections.Resource // children that the engine may have switched on
	woken         bool                   // it has
	ending        []projections.Resource // parts that end with it at the hypervisor
	seen          hosting.EngineObject   // read back after the act
}

// A strategy is what differs between kinds of objects outside.
type strategy interface {
	// namesake is the resource after whose spec the object is called.
	namesake(*desired) projections.Resource
	// nameWith is the object's name if its namesake had another spec.
	nameWith(w *desired, spec field.Values) string
	// awaitName waits for the name that the claim depends on.
	awaitName(*attempt) error
	// claimOn is the claim on a name; zero: there is none.
	claimOn(w *desired, name string) sagas.Claim
	// hasClaimed tells whether an object of that name can be the resource's.
	hasClaimed(ctx context.Context, w *desired, name string) (bool, error)
	// unheld refuses an object that another resource has.
	unheld(ctx context.Context, w *desired, found hosting.EngineObject) error
	// call is the call without claim and act: its request, its look-up and its undoing.
	call(a *attempt, run *hosting.Generation) (sagas.Call, error)
	// untouched tells whether the engine is to be left alone.
	untouched(context.Context, *attempt) (bool, error)
	// refused decides about a failure of the act; nil stays nil.
	refused(ctx context.Context, a *attempt, failure error) error
	// create makes the object.
	create(context.Context, *attempt) (sagas.Result, error)
	// bring changes the object to what is wanted, or creates it.
	bring(context.Context, *attempt) (sagas.Result, error)
	// remove removes what the resource has outside.
	remove(context.Context, *attempt) error
	// applied tells whether the engine has carried out the last change.
	applied(ctx context.Context, w *desired) (bool, sagas.Work, error)
}

// plain is the strategy for all objects but certificates and machines.
type plain struct{ reconciler *Reconciler }
