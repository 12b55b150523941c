package hosting

import (
	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Draft is a record as a caller asks for it: a new one, or one that was
// found and is to be changed.
type Draft struct {
	Kind       Kind
	ID         int64 // 0: a new record whose number is not drawn yet
	Tenant     int64
	Spec       Spec         // with the fields that the caller wants
	Sent       field.Set    // the fields that the request brought
	Found      field.Values // the spec as it was found; nil: the record is new
	Version    int          // of the record as it was found
	DisabledBy []string     // why the record is off as it was found

	HasDerivedSlug bool // the slug was made from the name
	Delegated      bool // a new sub-tenant, which an administrator of its parent asks for

	ShowTo *uuid.UUID // a person whose tenant is shown its secret, which the panel has made up; nil: it is not shown

	Act string // by which it is changed; see [Change]
}

// A Cause returns the metadata of a change of streams that were found in these
// versions.
type Cause = func(found domain.Versions) domain.Metadata

// NewDraft returns an empty draft of a new record.
func NewDraft(kind Kind) *Draft { return &Draft{Kind: kind, Spec: kind.New()} }

// Ref names the record.
func (d *Draft) Ref() Ref { return Ref{Kind: d.Kind.Name, ID: d.ID} }

// IsNew reports whether there is no such record yet.
func (d *Draft) IsNew() bool { return d.Found == nil }

// Before returns the fields of the spec as they were found; nil: it is new.
func (d *Draft) Before() field.Values {
	found := d.Kind.New()
	if d.IsNew() || found.Fields().Load(d.Found) != nil { // which went well when it was found
		return nil
	}
	return found.Fields().Values()
}

// Changes returns the fields whose values differ from what was found.
func (d *Draft) Changes() field.Values {
	changed := d.Spec.Fields().Values()
	for name, value := range d.Before() {
		if string(changed[name]) == string(value) {
			delete(changed, name)
		}
	}
	return changed
}

// IsTurned reports whether a tenant gets another status than it had.
func (d *Draft) IsTurned() bool {
	_, another := d.Changes()["status"]
	return another
}

// TextIn returns a text field of a spec; "": it has none of this name.
func TextIn(spec Spec, name string) (text string) {
	if f, has := spec.Fields().Named(name); has {
		text, _ = f.Value().(string)
	}
	return text
}

// NumberIn returns the number of the record to which a reference leads; 0: none.
func NumberIn(spec Spec, reference string) int64 {
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

// Credentials are what a client needs to use a record whose secret was
// generated for it.
type Credentials struct{ User, Password string }
