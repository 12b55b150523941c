package http

import (
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// A wish is a hosting resource as a request asks for it: its kind's own fields,
// and the tenant where a caller may name one.
type wish struct {
	kind   hosting.Kind
	spec   hosting.Spec
	tenant int64
	row    projections.Resource // as found; of a new one only its number

	derived bool     // its slug is made from its name
	only    []string // the fields that the caller may change; none: all of them
	day     string   // on which it is looked at, where what is shown of it changes by the day
	seen    beside
}

// load makes a wish of what is there.
func (k *collection) load(row projections.Resource) (*wish, error) {
	w := k.empty()
	if err := row.Load(w.spec); err != nil {
		return nil, err
	}
	w.row, w.tenant = row, row.Tenant
	if _, ages := w.spec.(*hosting.Certificate); ages {
		w.day = "-" + k.now().UTC().Format(time.DateOnly)
	}
	return w, nil
}

// Fields are what may be asked for.
func (w *wish) Fields() field.Set {
	switch {
	case w.only != nil:
		return w.spec.Fields().Only(w.only...)
	case !w.kind.Own():
		return w.spec.Fields()
	}
	return append(field.Set{field.Ref("tenant", &w.tenant).Once().Doc("The active tenant when absent; only superusers name another.")}, w.spec.Fields()...)
}

func (w *wish) ref() hosting.Ref { return hosting.Ref{Kind: w.kind.Name, ID: w.row.ID} }

// isNew tells whether there is no such record yet.
func (w *wish) isNew() bool { return w.row.Spec == nil }

// before are the fields of the spec as they were found; nil: it is new.
func (w *wish) before() field.Values {
	found := w.kind.New()
	if w.isNew() || w.row.Load(found) != nil { // which went well before
		return nil
	}
	return found.Fields().Values()
}

// changes are the fields whose values differ from what was found.
func (w *wish) changes() field.Values {
	changed := w.spec.Fields().Values()
	for name, value := range w.before() {
		if string(changed[name]) == string(value) {
			delete(changed, name)
		}
	}
	return changed
}

// A hosted record is a hosting resource as an answer shows it.
type hosted struct {
	*wish
	now   time.Time
	given *credentials // made up for it; nil: none, or shown before
}

// Fields are those of the kind's answer, in its order.
func (h *hosted) Fields() field.Set {
	set := append(h.common(), h.spec.Fields()...).Arranged(h.kind.Shown)
	for i := range set {
		if set[i].IsSecret() {
			set[i] = field.NullText(set[i].Name, new(*string)).ReadOnly()
		}
	}
	if h.kind.Generated != "" {
		set = append(set, field.Object("credentials", &h.given).OneTime().When(h.given != nil).
			Doc("What was made up. It is shown only here, and only once."))
	}
	return set
}

// extraFields is more than a kind has fields that its answers do not show.
const extraFields = 8

// common are the fields that answers have besides those of the spec.
func (h *hosted) common() field.Set {
	problem := syncError(h.row.SyncError)
	set := append(make(field.Set, 0, len(h.kind.Shown)+extraFields),
		field.Int("id", &h.row.ID).ReadOnly(),
		field.Int("tenant", &h.row.Tenant).ReadOnly(),
		field.Text("tenant_name", &h.row.TenantName).ReadOnly(),
		field.Text("sync_status", &h.row.SyncStatus).Among("pending", "synced", "error").ReadOnly(),
		field.Text("sync_error", &problem).ReadOnly(),
		field.Time("created_at", &h.row.CreatedAt).ReadOnly(),
		field.Time("updated_at", &h.row.UpdatedAt).ReadOnly(),
	)
	if h.kind.Name == "tenant" {
		set = append(set, field.NullTime("last_synced_at", &h.row.SyncedAt).ReadOnly())
	}
	if h.kind.EngineID != "" {
		set = append(set, field.NullInt(h.kind.EngineID, &h.row.EngineID).ReadOnly())
	}
	for _, n := range h.kind.Names {
		set = append(set, h.name(n).ReadOnly())
	}
	for _, n := range h.kind.Counts {
		count := h.seen.counts[n.Field]
		set = append(set, field.Int(n.Field, &count).ReadOnly())
	}
	switch spec := h.spec.(type) {
	case *hosting.Certificate:
		problem := syncError(spec.LastError)
		return append(append(set, field.Text("last_error", &problem).ReadOnly()), spec.Derived(h.now)...)
	case *hosting.MailAlias:
		return append(set, spec.Derived(h.seen.boxed)...)
	}
	return set
}

// name is what another record is called. That there may be none to which the
// record refers, null says.
func (h *hosted) name(n hosting.Name) field.Field {
	name, named := h.seen.names[n.Field]
	if of, _ := h.spec.Fields().Named(n.Of); !mayBeNone(of) {
		return field.Text(n.Field, &name)
	}
	shown := &name
	if !named {
		shown = nil
	}
	return field.NullText(n.Field, &shown)
}

func mayBeNone(reference field.Field) bool {
	_, may := reference.Value().(*int64)
	return may
}

// numberIn is the number of the record to which a reference leads; 0: none.
func numberIn(spec hosting.Spec, reference string) int64 {
	f, _ := spec.Fields().Named(reference)
	switch id := f.Value().(type) {
	case int64:
		return id
	case *int64:
		if id != nil {
			return *id
		}
	}
	return 0
}
