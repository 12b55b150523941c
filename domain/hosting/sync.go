package hosting

import (
	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// What a comparison with the engine may ask of a resource (docs/sync.md).
type (
	// Push has the engine told once more what is wanted. What is leaving
	// leaves once more.
	Push struct{ Ref }

	// Adopt takes over what the engine has. The engine is told nothing.
	Adopt struct {
		Ref
		Spec field.Values // only what differs
	}

	// MarkSynced says that all records of a tenant have been compared.
	MarkSynced struct{ Ref }
)

func (Push) decide(r Resource) ([]Event, error) {
	if r.Status == "" || r.Status == Gone {
		return nil, nil
	}
	return []Event{PushRequested{}}, nil
}

func (c Adopt) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "", r.Status == Leaving, r.Status == Gone:
		return nil, kind.absent()
	case len(c.Spec) == 0:
		return nil, nil
	}
	if err := kind.checkSealed(c.Spec); err != nil {
		return nil, err
	}
	spec, personal := kind.divide(c.Spec)
	return []Event{Adopted{Spec: spec, SubjectID: r.Subject, Personal: personal}}, nil
}

func (MarkSynced) decide(r Resource) ([]Event, error) {
	if r.Status == "" || r.Status == Gone {
		return nil, nil
	}
	return []Event{Synced{}}, nil
}

type (
	// PushRequested: the desired state is to be sent to the engine once more.
	PushRequested struct{}
	// Adopted: values of the engine have replaced those of the panel.
	Adopted struct {
		Spec      field.Values `json:"spec"` // only what differed
		SubjectID uuid.UUID    `json:"subject,omitzero"`
		Personal  string       `json:"personal,omitempty"`
	}
	// Synced: all records of the tenant have been compared with the engine.
	Synced struct{}
)

func (PushRequested) EventName() string { return "hosting.push_requested" }
func (Adopted) EventName() string       { return "hosting.adopted" }
func (Synced) EventName() string        { return "hosting.synced" }

func (PushRequested) Says() string { return "the engine is to be told once more" }
func (e Adopted) Says() string     { return "taken over from the engine: " + wording.Keys(e.Values()) }
func (Synced) Says() string        { return "compared with the engine" }

// syncEventTypes are those of them that a resource's stream may hold.
var syncEventTypes = []domain.EventType{
	domain.Register[PushRequested](),
	domain.Register[Adopted]().Sealing(domain.Contact, "personal"),
	domain.Register[Synced](),
}

// Values are all the fields that were taken over. Erased ones are missing.
func (e Adopted) Values() field.Values { return join(e.Spec, e.Personal) }

func (PushRequested) evolve(r Resource) Resource {
	if r.Status == Leaving {
		return r.wish(Leaving)
	}
	return r.wished()
}

func (Adopted) evolve(r Resource) Resource { return r }
func (Synced) evolve(r Resource) Resource  { return r }

// Tells are the fields that were taken over from the engine.
func (e Adopted) Tells() any { return e.Values() }
