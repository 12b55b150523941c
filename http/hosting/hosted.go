package hosting

import (
	"cmp"
	"slices"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// A resource is a hosting resource as a request describes it: its kind's own
// fields, and the tenant where a caller may name one.
type resource struct {
	*hosting.Draft
	row  projections.Resource // as read; zero: a new resource
	only []string             // the fields that the caller may change; nil: all
	day  string               // present day, part of the ETag of kinds whose answer changes daily
	seen beside
}

// load returns the resource of a row.
func (k *collection) load(row projections.Resource) (*resource, error) {
	d, err := row.Draft()
	if err != nil {
		return nil, err
	}
	w := &resource{Draft: d, row: row}
	if w.Kind.Issued {
		w.day = "-" + k.callers.Now().UTC().Format(time.DateOnly)
	}
	return w, nil
}

// Fields are the fields that a request may contain.
func (w *resource) Fields() field.Set {
	switch {
	case w.only != nil:
		return w.Spec.Fields().Only(w.only...)
	case !w.Kind.Own():
		return w.Spec.Fields()
	}
	return append(
		field.Set{field.Ref("tenant", &w.Tenant).Once().Doc("The active tenant when absent; only superusers name another.")},
		w.Spec.Fields()...,
	)
}

// A hosted record is a hosting resource as an answer shows it.
type hosted struct {
	*resource
	now   time.Time
	given *credentials // generated for it; nil: none, or shown before
}

// Fields are those of the kind's answer, in its order.
func (h *hosted) Fields() field.Set { return h.Describe(nil) }

// Describe puts the fields into this storage.
func (h *hosted) Describe(storage field.Set) field.Set {
	set := append(h.common(slices.Grow(storage, len(h.Kind.Shown)+extraFields)), h.Spec.Fields()...).Arranged(h.Kind.Shown)
	for i := range set {
		if set[i].IsSecret() {
			set[i] = field.NullText(set[i].Name, new(*string)).ReadOnly()
		}
	}
	if h.Kind.Generated != "" {
		set = append(set, field.Object("credentials", &h.given).OneTime().When(h.given != nil).
			Doc("What was made up. It is shown only here, and only once."))
	}
	return set
}

// extraFields is the spare capacity for fields that answers do not show.
const extraFields = 8

// common adds the fields of answers that are not in the spec.
func (h *hosted) common(set field.Set) field.Set {
	problem, status := syncError(h.row.SyncError), h.syncStatus()
	set = append(set,
		field.Int("id", &h.row.ID).ReadOnly(),
		field.Int("tenant", &h.row.Tenant).ReadOnly(),
		field.Text("tenant_name", &h.row.TenantName).ReadOnly(),
		field.Text("sync_status", &status).Among("pending", "synced", "error", "removing").ReadOnly(),
		field.Text("sync_error", &problem).ReadOnly(),
		field.Time("created_at", &h.row.CreatedAt).ReadOnly(),
		field.Time("updated_at", &h.row.UpdatedAt).ReadOnly(),
	)
	if h.Kind.Owner {
		set = append(
			set, field.NullTime("last_synced_at", &h.row.SyncedAt).ReadOnly(),
			field.Texts("suspended_for", &h.row.DisabledBy, nil).ReadOnly().Doc(
				"Why it is out of service whatever its status is: order (in dispute, refunded or ended), invoice (not paid), "+
					"parent (out of service). Then is_active is false, and its members may not write.",
			),
		)
	}
	if h.Kind.EngineID != "" {
		set = append(set, field.NullInt(h.Kind.EngineID, &h.row.EngineID).ReadOnly())
	}
	for _, n := range h.Kind.Names {
		set = append(set, h.name(n).ReadOnly())
	}
	for _, n := range h.Kind.Counts {
		count := h.seen.counts[n.Field]
		set = append(set, field.Int(n.Field, &count).ReadOnly())
	}
	if code := hosting.TextIn(h.Spec, "last_error"); h.Kind.Issued {
		problem := syncError(code)
		set = append(set, field.Text("last_error", &problem).ReadOnly())
	}
	return append(set, hosting.Derived(h.Spec, h.now, h.seen.linked)...)
}

// syncStatus is how far the server is with the record. A tenant that an order has made waits
// for nothing as long as no service needs the hosting engine.
func (w *resource) syncStatus() string {
	if t, is := w.Spec.(*hosting.Tenant); is && w.row.SyncStatus == "pending" && w.row.Status == hosting.Wanted &&
		w.row.RequestedFor != "" && t.HostsNothing() {
		return "synced"
	}
	if w.row.Status == hosting.Leaving {
		return "removing"
	}
	return w.row.SyncStatus
}

// syncError is the sentence for a code; "" if nothing was refused.
func syncError(code string) string {
	if code == "" {
		return ""
	}
	return cmp.Or(hosting.SyncErrors[code], hosting.Unexplained)
}

// name shows the name of another record; null: the record refers to none.
func (h *hosted) name(n hosting.Name) field.Field {
	name, named := h.seen.names[n.Field]
	if of, _ := h.Spec.Fields().Named(n.Of); !mayBeNone(of) {
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
