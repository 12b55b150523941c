package http

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

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
	before field.Values         // of the spec; nil: it is new

	derived bool     // its slug is made from its name
	only    []string // the fields that the caller may change; none: all of them
	beside  string   // the end of its tag: of what it shows that no version counts, such as the day
	shown   *hosted  // as it was found, where it was read with all that is shown of it
}

// load makes a wish of what is there.
func (k *collection) load(row projections.Resource) (*wish, error) {
	w := k.empty()
	if err := row.Load(w.spec); err != nil {
		return nil, err
	}
	w.row, w.tenant, w.before = row, row.Tenant, w.spec.Fields().Values()
	if _, ages := w.spec.(*hosting.Certificate); ages {
		w.beside = "-" + k.now().UTC().Format(time.DateOnly)
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

// tag names the version of the record with all that is shown of it. The
// versions of what it shows besides only grow, and so does their sum.
func (w *wish) tag() string {
	version := w.row.Version
	if slices.Contains(w.kind.Shown, "tenant_name") {
		version += w.row.TenantAt
	}
	return tagOf(w.kind.Name, strconv.FormatInt(w.row.ID, 10), version) + w.beside
}

// changes are the fields whose values differ from what was found.
func (w *wish) changes() field.Values {
	changed := w.spec.Fields().Values()
	for name, value := range w.before {
		if string(changed[name]) == string(value) {
			delete(changed, name)
		}
	}
	return changed
}

// seal takes the secrets that are new out of the record. In their place are the
// numbers under which they are handed over, beside the log.
func (w *wish) seal() map[uuid.UUID]string {
	secrets := map[uuid.UUID]string{}
	fields := w.spec.Fields()
	for _, name := range w.kind.Secrets() {
		kept, given := w.before[name], fields.Only(name)
		if text := textIn(w.spec, name); text == "" || string(given.Values()[name]) == string(kept) {
			continue
		}
		given.Seal(func(secret string) string {
			number := uuid.New()
			secrets[number] = secret
			return number.String()
		})
	}
	return secrets
}

// A hosted record is a hosting resource as an answer shows it.
type hosted struct {
	*wish
	names  map[string]string // what other records call what it refers to
	counts map[string]int64  // of what refers to it
	now    time.Time
	boxed  bool // the only destination of an alias is a mailbox of the panel
}

// Fields are those of the kind's answer, in its order.
func (h *hosted) Fields() field.Set {
	has := append(h.common(), h.spec.Fields()...)
	set := make(field.Set, 0, len(h.kind.Shown))
	for _, name := range h.kind.Shown {
		f, known := has.Named(name)
		if !known {
			panic("http: a " + h.kind.Label + " has no field " + name) // the row is wrong
		}
		if f.IsSecret() {
			f = field.NullText(name, new(*string)).ReadOnly()
		}
		set = append(set, f)
	}
	return set
}

// common are the fields that answers have besides those of the spec.
func (h *hosted) common() field.Set {
	set := field.Set{
		field.Int("id", &h.row.ID).ReadOnly(),
		field.Int("tenant", &h.row.Tenant).ReadOnly(),
		field.Text("tenant_name", &h.row.TenantName).ReadOnly(),
		field.Text("sync_status", &h.row.SyncStatus).Among("pending", "synced", "error").ReadOnly(),
		field.Text("sync_error", &h.row.SyncError).ReadOnly(),
		field.Time("created_at", &h.row.CreatedAt).ReadOnly(),
		field.Time("updated_at", &h.row.UpdatedAt).ReadOnly(),
	}
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
		count := h.counts[n.Field]
		set = append(set, field.Int(n.Field, &count).ReadOnly())
	}
	switch spec := h.spec.(type) {
	case *hosting.Certificate:
		return append(set, spec.Derived(h.now)...)
	case *hosting.MailAlias:
		return append(set, spec.Derived(h.boxed)...)
	}
	return set
}

// name is what another record is called. That there may be none to which the
// record refers, null says.
func (h *hosted) name(n hosting.Name) field.Field {
	name, named := h.names[n.Field]
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

// complete reads what the answers show of other records.
func (k *collection) complete(ctx context.Context, scope projections.Scope, all ...*hosted) error {
	for _, h := range all {
		h.now, h.names, h.counts = k.now(), map[string]string{}, map[string]int64{}
	}
	for _, n := range k.kind.Names {
		if err := k.name(ctx, scope, n, all); err != nil {
			return err
		}
	}
	for _, n := range k.kind.Counts {
		for _, h := range all {
			count, err := scope.Referring(ctx, n.Kind, n.By, h.row.ID)
			if err != nil {
				return err
			}
			h.counts[n.Field] = count
		}
	}
	return k.box(ctx, all)
}

// box tells which aliases lead to a mailbox of the panel.
func (k *collection) box(ctx context.Context, all []*hosted) error {
	leads := map[string][]*hosted{}
	for _, h := range all {
		if alias, is := h.spec.(*hosting.MailAlias); is && len(alias.Destinations) == 1 {
			to := strings.ToLower(alias.Destinations[0])
			leads[to] = append(leads[to], h)
		}
	}
	if len(leads) == 0 {
		return nil
	}
	mailbox, _ := hosting.KindNamed("mailbox")
	found, err := k.system().OfKind(ctx, mailbox, projections.Listing{
		Filters: []projections.Filter{{Field: "email", Op: "in", Value: slices.Collect(maps.Keys(leads))}}, Limit: int64(len(leads)),
	})
	for _, row := range found.Rows {
		var box hosting.Mailbox
		if err := row.Load(&box); err != nil {
			return err
		}
		for _, h := range leads[box.Email] {
			h.boxed = true
		}
	}
	return err
}

// name reads what the records are called to which the others refer.
func (k *collection) name(ctx context.Context, scope projections.Scope, n hosting.Name, all []*hosted) error {
	of := slices.IndexFunc(k.kind.Refs, func(r hosting.Reference) bool { return r.Field == n.Of })
	ids := make([]int64, len(all))
	for i, h := range all {
		ids[i] = numberIn(h.spec, n.Of)
	}
	if !slices.ContainsFunc(ids, func(id int64) bool { return id != 0 }) {
		return nil
	}
	rows, err := scope.Among(ctx, k.kind.Refs[of].Kind, ids)
	if err != nil {
		return err
	}
	for i, h := range all {
		for _, row := range rows {
			if row.ID != ids[i] {
				continue
			}
			var name string
			if err := (field.Set{field.Text(n.Shows, &name)}).Load(row.Spec); err != nil {
				return err
			}
			h.names[n.Field] = name
		}
	}
	return nil
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
