package assembly

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A desired resource is what is known of one that is to be brought to the
// engine: the resource as it is now, and what it depends on.
type desired struct {
	ref    hosting.Ref
	kind   hosting.Kind
	row    projections.Resource
	beside map[hosting.Ref]projections.Resource // its tenant, what it refers to, a tenant's package
	object hosting.EngineObject                 // as the engine is to have it
}

// desired reads a resource with what it depends on.
func (s *Panel) desired(ctx context.Context, job *ResourceVersion) (desired, error) {
	scope := s.tables.For(projections.System)
	w := desired{ref: job.ref()}
	w.kind, _ = hosting.KindNamed(job.Kind)
	found, err := scope.Recorded(ctx, w.ref)
	if err != nil {
		return w, err
	}
	var known bool
	if w.row, known = found[w.ref]; !known || w.row.Wish < job.Version {
		return w, sagas.TooEarly("not_visible", s.times.Floor) // a replica may be behind
	}
	if w.beside, err = scope.Recorded(ctx, w.needs()...); err != nil {
		return w, err
	}
	return w, s.shape(ctx, &w)
}

// shape puts a resource into the engine's words.
func (s *Panel) shape(ctx context.Context, w *desired) error {
	w.object = w.asObject()
	return s.derive(ctx, w)
}

// needs are the resources that decide what the object is.
func (w *desired) needs() (refs []hosting.Ref) {
	if w.kind.Owner {
		return append(refs, w.to(hosting.Reference{Field: "package", Kind: "package"}))
	}
	refs = append(refs, w.tenant())
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
		hosting.LimitsAtEngine(o.Values, w.beside[w.needs()[0]].Spec)
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
func (s *Panel) derive(ctx context.Context, w *desired) error {
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
		found, err := s.tables.For(projections.System).OfKind(ctx, to, projections.Listing{
			Filters: []projections.Filter{{Field: link.Field, Op: "=", Value: link.Value}}, Limit: 1,
		})
		if err != nil {
			return err
		}
		leads = len(found.Rows) > 0
	}
	maps.Copy(w.object.Values, hosting.Derived(spec, s.Now(), leads).Only(w.kind.Told...).Values())
	return nil
}

// ours tells whether an object at the engine may be this one: it is the
// tenant's, or it is the client that has the tenant's number and login.
func (w *desired) ours(found hosting.EngineObject) bool {
	if w.kind.Owner {
		return found.Ref == w.object.Ref && found.Name == w.object.Name
	}
	return w.object.Owner != 0 && found.Owner == w.object.Owner
}

// formerNames are the names that the object may still have at the engine,
// latest first: those since the last wish that is known to be fulfilled.
func (s *Panel) formerNames(ctx context.Context, w desired) (names []string, err error) {
	named := w.namesake()
	if named.Status == hosting.Running || named.Wish <= 1 {
		return nil, nil
	}
	history, err := s.store.Read(ctx, refTo(named).Stream())
	if err != nil {
		return nil, err
	}
	since := fulfilled(history)
	for i := range history {
		if i+1 < len(history) && history[i+1].Version <= since {
			continue
		}
		if name := w.named(told(history[:i+1])); name != w.object.Name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return names, nil
}

// told is the spec of a resource that its history amounts to: what was asked
// for, changed, and adopted.
func told(history []eventstore.RecordedEvent) field.Values {
	spec := field.Values{}
	for _, fact := range history {
		if e, is := fact.Event.(interface{ Values() field.Values }); is {
			maps.Copy(spec, e.Values())
		}
	}
	return spec
}

// namesake is the resource after whose spec the object is called: the site of a
// certificate, and otherwise the resource itself.
func (w *desired) namesake() projections.Resource {
	if parent, is := w.kind.Parent(); is && w.kind.Issued {
		return w.beside[w.to(parent)]
	}
	return w.row
}

// named is the name that the object would have if its namesake had another spec.
func (w *desired) named(spec field.Values) string {
	if w.kind.Issued {
		return w.kind.Object(w.ref.ID, w.row.Spec, spec).Name
	}
	other := *w
	other.row.Spec = spec
	return other.asObject().Name
}

// fulfilled is the version of the last wish that the engine has confirmed.
func fulfilled(history []eventstore.RecordedEvent) (version int) {
	for _, fact := range history {
		if e, is := fact.Event.(hosting.EngineConfirmed); is {
			version = cmp.Or(e.Version, fact.Version)
		}
	}
	return version
}
