package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The first phase: the resource as it is now, what it depends on, and the object
// that the engine is to have.

// A desired resource is one that is to be brought to the engine.
type desired struct {
	ref      hosting.Ref
	kind     hosting.Kind
	strategy strategy
	row      projections.Resource
	beside   map[hosting.Ref]projections.Resource // its tenant, what it refers to, a tenant's package
	object   hosting.EngineObject                 // as it is to be outside
	byOrder  bool                                 // it is as an order has requested it, in the order's own run
}

// read reads the resource of a run, for the generation that is to be brought: the
// last one, or the run's own while another resource has the later name.
func (r *Reconciler) read(ctx context.Context, run *hosting.Generation) (desired, error) {
	w, err := r.desired(ctx, run)
	if err != nil {
		return w, err
	}
	return r.yieldName(ctx, run, w)
}

// desired reads a resource with what it depends on.
func (r *Reconciler) desired(ctx context.Context, run *hosting.Generation) (desired, error) {
	w := r.resource(run.Ref())
	var err error
	if w.row, err = r.recorded(ctx, run); err != nil {
		return w, err
	}
	return w, r.complete(ctx, &w)
}

// complete reads what a resource depends on, and puts it into the engine's words.
func (r *Reconciler) complete(ctx context.Context, w *desired) (err error) {
	if needs := w.needs(); len(needs) > 0 {
		if w.beside, err = r.system().Hosting().Recorded(ctx, needs...); err != nil {
			return err
		}
	}
	return r.shape(ctx, w)
}

// recorded is the resource of a run. The generation may not be visible yet where
// a replica is behind.
func (r *Reconciler) recorded(ctx context.Context, run *hosting.Generation) (projections.Resource, error) {
	found, err := r.system().Hosting().Recorded(ctx, run.Ref())
	row, known := found[run.Ref()]
	if err == nil && (!known || row.Wish < run.Version) {
		err = sagas.TooEarly("not_visible", r.runner.Times().Floor)
	}
	return row, err
}

// resource is a resource of which nothing was read.
func (r *Reconciler) resource(ref hosting.Ref) desired {
	w := desired{ref: ref, strategy: plain{r}}
	w.kind, _ = hosting.KindNamed(ref.Kind)
	switch {
	case w.kind.Issued:
		w.strategy = certificates{plain{r}}
	case w.kind.Backend == hosting.Compute:
		w.strategy = machines{plain{r}}
		if _, isPart := w.kind.Parent(); isPart {
			w.strategy = snapshots{machines{plain{r}}}
		}
	}
	return w
}

// shape puts a resource into the engine's words.
func (r *Reconciler) shape(ctx context.Context, w *desired) error {
	w.object = w.asObject()
	return r.derive(ctx, w)
}

// upToDate tells whether there is nothing to do. The resource is gone, or its
// generation has been confirmed, or a later run brings it. A call of this run that
// is still without an answer has to be finished.
func (r *Reconciler) upToDate(ctx context.Context, run *hosting.Generation, w desired) (bool, error) {
	present := w.row.Status != hosting.Gone && w.row.Wish == run.Version
	if present && w.row.SyncStatus != "synced" {
		return false, nil
	}
	known, err := r.runner.Effect(ctx, pushKey(*run))
	lost := present && known.State == sagas.EffectAbsent // what was confirmed is gone
	return err == nil && !known.MayHaveHappened() && !lost, err
}

// nothing is the call of a run that has nothing to do. It gives up a name that it has
// claimed for a resource that went meanwhile.
func (w *desired) nothing() sagas.Call {
	done := sagas.Work{Releases: w.ref.Stream()}
	if w.row.Status == hosting.Gone {
		done.Rows = append(done.Rows, sagas.FreeClaims(w.ref.Stream(), sagas.Claim{}))
	}
	return sagas.Call{Confirmed: func(sagas.Result) sagas.Work { return done }}
}

// isMade tells whether it has been made outside.
func (w *desired) isMade() bool { return w.object.ID != 0 || w.row.External != "" }

// needs are the resources that decide what the object is.
func (w *desired) needs() (refs []hosting.Ref) {
	switch {
	case w.kind.Owner:
		return append(refs, w.to(hosting.Reference{Field: "package", Kind: "package"}))
	case w.kind.Backend != hosting.Compute:
		refs = append(refs, w.tenant())
	}
	for _, r := range w.kind.Refs {
		refs = append(refs, w.to(r))
	}
	return refs
}

func (w *desired) tenant() hosting.Ref { return hosting.Ref{Kind: "tenant", ID: w.row.Tenant} }

// to is where a reference leads; number 0: nowhere.
func (w *desired) to(r hosting.Reference) hosting.Ref {
	var id int64
	_ = json.Unmarshal(w.row.Spec[r.Field], &id) // null is 0
	return hosting.Ref{Kind: r.Kind, ID: id}
}

// asObject is the resource in the engine's words.
func (w *desired) asObject() hosting.EngineObject {
	var parent field.Values
	if p, is := w.kind.Parent(); is {
		parent = w.beside[w.to(p)].Spec
	}
	o := w.kind.Object(w.ref.ID, w.row.Spec, parent)
	o.ID = engineID(w.row)
	if _, switched := o.Values["is_active"]; switched {
		o.Values["is_active"] = strconv.AppendBool(nil, w.row.Active)
	}
	if w.kind.Owner {
		hosting.AtEngine(o.Values, w.beside[w.needs()[0]].Spec)
		return o
	}
	o.Owner, o.Parents = engineID(w.beside[w.tenant()]), map[string]int64{}
	for _, r := range w.kind.Refs {
		if id := engineID(w.beside[w.to(r)]); id != 0 {
			o.Parents[r.Field] = id
		}
	}
	o.Name = w.kind.NameIn(o)
	return o
}

func engineID(r projections.Resource) int64 {
	if r.EngineID == nil {
		return 0
	}
	return *r.EngineID
}

// derive adds to the object the fields that follow from the resource and from
// what it links to, which engines cannot know.
func (r *Reconciler) derive(ctx context.Context, w *desired) error {
	if w.kind.Told == nil {
		return nil
	}
	spec := w.kind.New()
	if err := w.row.Load(spec); err != nil {
		return err
	}
	link, leads := hosting.LinkOf(spec)
	if leads {
		to, _ := hosting.KindNamed(link.Kind)
		found, err := r.system().Hosting().OfKind(ctx, to, projections.Listing{
			Filters: []projections.Filter{{Field: link.Field, Op: "=", Value: link.Value}}, Limit: 1,
		})
		if err != nil {
			return err
		}
		leads = len(found.Rows) > 0
	}
	maps.Copy(w.object.Values, hosting.Derived(spec, r.runner.Now(), leads).Only(w.kind.Told...).Values())
	return nil
}

// specOf is the spec of a resource that its history amounts to: what was asked
// for, changed, and adopted.
func specOf(history []eventstore.RecordedEvent) field.Values {
	spec := field.Values{}
	for _, fact := range history {
		if e, is := fact.Event.(interface{ Values() field.Values }); is {
			maps.Copy(spec, e.Values())
		}
	}
	return spec
}

// lastConfirmed is the last generation that the engine has confirmed.
func lastConfirmed(history []eventstore.RecordedEvent) (version int) {
	for _, fact := range history {
		if e, is := fact.Event.(hosting.EngineConfirmed); is {
			version = cmp.Or(e.Version, fact.Version)
		}
	}
	return version
}
