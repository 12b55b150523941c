package hosting

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A comparison is what was found of a tenant's records.
type comparison struct {
	tenant  projections.Resource
	records []*compared
}

// compared is one record beside the engine's.
type compared struct {
	row     projections.Resource
	kind    hosting.Kind
	object  hosting.EngineObject // as the engine is to have it
	values  field.Values         // of the record, as it runs
	parent  field.Values         // of what it is a part of
	limits  field.Values         // of a tenant, by its package
	theirs  hosting.EngineObject // the engine's; zero: it was not found
	missing bool                 // the engine had it, and has it no more
	drift   []drift

	misplaced []drift // of what record and engine may agree on; nothing is pushed because of it

	pushed  int // generation; 0: nothing was pushed
	adopted bool
}

// A drift is a field of which the panel and the engine say different things.
type drift struct {
	Resource string          `json:"resource"`
	ID       int64           `json:"id"`
	Field    string          `json:"field"`
	Panel    json.RawMessage `json:"panel"`
	Engine   json.RawMessage `json:"engine"`
}

// present tells whether the record is the engine's to hold and in force: neither
// leaving nor in the bin.
func (c *compared) present() bool { return c.row.Status != hosting.Leaving && c.row.TrashedAt == nil }

// open tells whether the engine has yet to take the last generation.
func (c *compared) open() bool { return c.row.SyncStatus != "synced" }

func (c *compared) ref() hosting.Ref { return c.row.Ref() }

// recordsOf are the records behind which the engine works, as it is to have
// them.
func recordsOf(rows []projections.Resource) (*comparison, error) {
	byRef := map[hosting.Ref]*compared{}
	found := &comparison{}
	for _, row := range rows {
		kind, _ := hosting.KindNamed(row.Kind)
		if kind.EngineID == "" {
			continue
		}
		spec := kind.New()
		if err := row.Load(spec); err != nil {
			return nil, err
		}
		record := &compared{row: row, kind: kind, values: spec.Fields().Values()}
		byRef[record.ref()] = record
		found.records = append(found.records, record)
		if kind.Owner {
			found.tenant = row
		}
	}
	for _, r := range found.records {
		parent, is := r.kind.Parent()
		var above *compared
		if is {
			var id int64
			_ = json.Unmarshal(r.values[parent.Field], &id) // what is no number is no record
			above = byRef[hosting.Ref{Kind: parent.Kind, ID: id}]
		}
		r.nameObject(parent.Field, above)
	}
	return found, nil
}

// nameObject names the record's object as the engine does, below the object of
// its parent; nil: it has none.
func (c *compared) nameObject(field string, parent *compared) {
	if parent != nil {
		c.parent = parent.values
	}
	c.object = c.kind.Object(c.row.ID, c.values, c.parent)
	if parent != nil && parent.row.EngineID != nil {
		c.object.Parents = map[string]int64{field: *parent.row.EngineID}
		c.object.Name = c.kind.NameIn(c.object)
	}
}

// misplacedAt is a value that the engine would not take any more, because it takes from others
// what is theirs: the address of a site, or the login of a shell user.
func (c *compared) misplacedAt(ctx context.Context, engine hosting.EngineServer, tenant projections.Resource) []drift {
	at := map[string]string{"site": "ip_address", "shell_user": "username"}[c.row.Kind]
	checker, is := engine.(hosting.FormChecker)
	if value, has := c.object.Values[at]; is && has && !c.missing && !c.open() {
		o := c.object
		o.Owner, o.ByOperator, o.Changed = domain.OrZero(tenant.EngineID), true, []string{at}
		if wrong, err := checker.CheckForm(ctx, o); err == nil && wrong.Has(at) {
			return []drift{{Resource: c.row.Kind, ID: c.row.ID, Field: at, Panel: value, Engine: value}}
		}
	}
	return nil
}

func (c *comparison) byKind() map[string][]*compared {
	by := map[string][]*compared{}
	for _, r := range c.records {
		if r.present() {
			by[r.kind.Name] = append(by[r.kind.Name], r)
		}
	}
	return by
}

// beside lays the record beside the engine's of the same number, or else of
// the same name.
func (c *compared) beside(theirs []hosting.EngineObject) {
	at := -1
	if c.row.EngineID != nil {
		at = slices.IndexFunc(theirs, func(o hosting.EngineObject) bool { return o.ID == *c.row.EngineID })
	}
	if at < 0 {
		at = slices.IndexFunc(theirs, func(o hosting.EngineObject) bool { return o.Name == c.object.Name })
	}
	if at >= 0 {
		c.theirs = theirs[at]
	}
	switch {
	case at >= 0 && !c.open():
		c.drift = c.differences(theirs[at])
	case at < 0 && c.row.EngineID != nil:
		c.missing = true
	}
}

// differences are those, in normal form, in the fields that both speak of and that are asked
// for, not observed. Secrets are not compared.
func (c *compared) differences(theirs hosting.EngineObject) (all []drift) {
	seen := maps.Clone(c.object.Values)
	maps.Copy(seen, theirs.Values)
	ours, seen := hosting.Normal(c.kind, c.object.Values), hosting.Normal(c.kind, seen)
	for _, f := range c.kind.New().Fields() {
		mine, wanted := c.object.Values[f.Name]
		other, told := theirs.Values[f.Name]
		if !wanted || !told || f.IsReadOnly() || f.IsSecret() || sameJSON(ours[f.Name], seen[f.Name]) {
			continue
		}
		all = append(all, drift{Resource: c.row.Kind, ID: c.row.ID, Field: f.Name, Panel: mine, Engine: other})
	}
	for _, name := range theirs.Lacks {
		all = append(all, drift{
			Resource: c.row.Kind, ID: c.row.ID, Field: "name_servers", Panel: sagas.Encode(name), Engine: json.RawMessage("null"),
		})
	}
	return append(all, c.otherLimits(theirs)...)
}

// otherLimits are the limits of a tenant that are others at the engine. They are
// fields of its package, not of its own.
func (c *compared) otherLimits(theirs hosting.EngineObject) (all []drift) {
	for _, name := range slices.Sorted(maps.Keys(c.limits)) {
		if other, told := theirs.Values[name]; told && !sameJSON(c.limits[name], other) {
			all = append(all, drift{Resource: c.row.Kind, ID: c.row.ID, Field: name, Panel: c.limits[name], Engine: other})
		}
	}
	return all
}

// sameJSON compares values, however they are written.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return string(a) == string(b)
	}
	return string(sagas.Encode(one)) == string(sagas.Encode(other))
}

// needsPush tells whether the engine is to be told once more.
func (c *compared) needsPush(how hosting.Sync) bool {
	return c.open() || c.missing || how.Repair && len(c.drift) > 0
}

// adoptable are the values that the engine's would make of the record, as far
// as the panel could be asked for them: fields that never change stay, what a
// suspension has switched off stays off, and what breaks a rule is left out.
func (c *compared) adoptable(at time.Time) field.Values {
	spec := c.kind.New()
	if spec.Fields().Load(c.values) != nil {
		return nil
	}
	place := hosting.Place{
		ID: c.row.ID, Tenant: c.row.Tenant, At: at, Operator: true, Before: c.values, Parent: c.parent, Limits: hosting.NoLimits(),
	}
	for _, d := range c.drift {
		if disabled := d.Field == "is_active" && len(c.row.DisabledBy) > 0; disabled || !c.takes(d) {
			continue
		}
		sent, err := spec.Fields().DecodeJSON(d.asRequest(), field.Patch)
		if err != nil {
			return nil
		}
		place.Sent = append(place.Sent, sent...)
	}
	var wrong field.Errors
	hosting.Complete(spec, place)
	if hosting.Check(spec, place, &wrong); len(wrong) > 0 {
		return nil
	}
	values := spec.Fields().Values()
	for name, value := range values {
		if sameJSON(value, c.values[name]) {
			delete(values, name)
		}
	}
	return values
}

// takes tells whether the panel could be asked for the engine's value.
func (c *compared) takes(d drift) bool {
	trial := c.kind.New() // which a wrong value may spoil
	if trial.Fields().Load(c.values) != nil {
		return false
	}
	_, err := trial.Fields().DecodeJSON(d.asRequest(), field.Patch)
	return err == nil
}

// asRequest is the engine's value as a request would bring it.
func (d drift) asRequest() []byte {
	return append(append(append(field.AppendText([]byte{'{'}, d.Field), ':'), d.Engine...), '}')
}

// outcome counts what has come of what was pushed. What is gone has left, as
// it was to.
func outcome(pushed []hosting.PushedRequest, rows []projections.Resource) (created, updated, open int) {
	now := map[hosting.Ref]projections.Resource{}
	for _, row := range rows {
		now[row.Ref()] = row
	}
	for _, w := range pushed {
		row, is := now[hosting.Ref{Kind: w.Kind, ID: w.ID}]
		switch {
		case is && row.SyncStatus == "pending":
			open++
		case is && row.SyncStatus == "error":
		case w.New && is:
			created++
		default:
			updated++
		}
	}
	return created, updated, open
}
