package hosting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// An Event is a change of a resource. Its evolve method returns the resource's
// state after the change.
type Event interface {
	domain.Event
	evolve(Resource) Resource
}

// EventTypes lists every event of this package: those that a resource's stream may
// hold, and those of operations.
var EventTypes = slices.Concat([]domain.EventType{
	domain.Register[Requested]().Sealing(domain.Contact, "personal"),
	domain.Register[Changed]().Sealing(domain.Contact, "personal"),
	domain.Register[EngineConfirmed](),
	domain.Register[RemovalRequested](),
	domain.Register[Removed](),
	domain.Register[EngineRefused](),
	domain.Register[Disabled](),
	domain.Register[Enabled](),
	domain.Register[ServiceSuspended](),
	domain.Register[ServiceResumed](),
	domain.Register[MovedToBin](),
	domain.Register[Restored](),
	domain.Register[CertificateOrdered](),
	domain.Register[CertificateIssued](),
	domain.Register[CertificateFailed](),
	domain.Register[CertificateExpiring](),
	domain.Register[CertificateExpired](),
	domain.Register[ConsoleOpened](),
	domain.Register[PasswordShown](),
	domain.Register[TrafficReached](),
	domain.Register[TrafficSlowed](),
	domain.Register[TrafficFreed](),
}, syncEventTypes, operationEventTypes)

// The events of a tenant's requests. Personal holds the personal fields of the
// spec as one JSON text, which the log seals. It is empty after erasure.
type (
	Requested struct {
		Kind      string       `json:"kind"`
		Tenant    int64        `json:"tenant"`
		Spec      field.Values `json:"spec"`
		SubjectID uuid.UUID    `json:"subject,omitzero"`
		Personal  string       `json:"personal,omitempty"`
		For       string       `json:"for,omitempty"`
	}
	Changed struct {
		Spec      field.Values `json:"spec"` // only what changes
		SubjectID uuid.UUID    `json:"subject,omitzero"`
		Personal  string       `json:"personal,omitempty"`
		Act       string       `json:"act,omitempty"` // see [Change]
	}
	RemovalRequested struct{}
)

// The events of the engine's answers.
type (
	EngineConfirmed struct {
		EngineID int64        `json:"engine_id,omitempty"`
		External string       `json:"external,omitempty"`
		Observed field.Values `json:"observed,omitempty"`
		Version  int          `json:"version,omitempty"` // of the request that was answered; 0: the last one
	}
	Removed       struct{}
	EngineRefused struct {
		Code string `json:"code"`
	}
)

func (Requested) EventName() string        { return "hosting.requested" }
func (Changed) EventName() string          { return "hosting.changed" }
func (EngineConfirmed) EventName() string  { return "hosting.engine_confirmed" }
func (RemovalRequested) EventName() string { return "hosting.removal_requested" }
func (Removed) EventName() string          { return "hosting.removed" }
func (EngineRefused) EventName() string    { return "hosting.engine_refused" }

func (e Requested) Says() string {
	return fmt.Sprintf(
		"%s wanted by tenant %d%s%s", e.Kind, e.Tenant, wording.Around(": ", e.Values().Label(), ""),
		wording.Around(" (", e.For, ")"),
	)
}

func (e Changed) Says() string {
	if e.Act != "" {
		return "asked for: " + wording.Spaced(e.Act)
	}
	return "to be changed: " + wording.Keys(e.Values())
}

func (e EngineConfirmed) Says() string {
	return "the engine has it" + wording.Around(" as ", cmp.Or(e.External, wording.Number(e.EngineID)), "")
}

func (RemovalRequested) Says() string { return "to be removed" }
func (Removed) Says() string          { return "removed" }
func (e EngineRefused) Says() string  { return "the engine refused: " + wording.Spaced(e.Code) }

// Values are all the fields that were asked for. Erased ones are missing.
func (e Requested) Values() field.Values { return join(e.Spec, e.Personal) }

// Values are all the fields that changed. Erased ones are missing.
func (e Changed) Values() field.Values { return join(e.Spec, e.Personal) }

func (e Requested) evolve(r Resource) Resource {
	return Resource{
		Status: Wanted, Kind: e.Kind, Tenant: e.Tenant, For: e.For, Subject: e.SubjectID,
		Certificate: begun(e), Version: r.Version, Wish: r.Version,
	}
}

func (e Changed) evolve(r Resource) Resource {
	r.Certificate = r.Certificate.revised(e.Spec)
	return r.wished()
}

func (e EngineConfirmed) evolve(r Resource) Resource {
	if e.EngineID != 0 {
		r.EngineID = e.EngineID
	}
	if e.External != "" {
		r.External = e.External
	}
	r.Observed = maps.Clone(r.Observed)
	if r.Observed == nil {
		r.Observed = field.Values{}
	}
	maps.Copy(r.Observed, e.Observed)
	r.Certificate = r.Certificate.taken()
	switch {
	case r.Status == Wanted && r.late(e.Version):
		r.Status = Changing // created, but for an earlier request
	case r.Status != Leaving && !r.late(e.Version):
		r.Status, r.Code = Running, ""
	}
	return r
}

func (RemovalRequested) evolve(r Resource) Resource { return r.wish(Leaving) }
func (Removed) evolve(r Resource) Resource {
	r.Status, r.Code = Gone, ""
	r.Certificate = r.Certificate.withdrawn()
	return r
}

// evolve marks a refused creation or change as refused. A refused removal keeps
// its status, because the removal is still wanted.
func (e EngineRefused) evolve(r Resource) Resource {
	r.Code = e.Code
	if r.Status != Leaving {
		r.Status = Refused
	}
	return r
}

// wished returns the resource with a new desired state: to be changed, or to be
// created if the engine does not have it yet.
func (r Resource) wished() Resource {
	if r.Status == Wanted || r.Status == Refused && !r.made() {
		return r.wish(Wanted)
	}
	return r.wish(Changing)
}

func (r Resource) wish(s Status) Resource {
	r.Status, r.Wish, r.Code = s, r.Version, ""
	return r
}

func (r Resource) made() bool { return r.EngineID != 0 || r.External != "" }

// divide parts the personal fields of a spec from the others.
func (k Kind) divide(spec field.Values) (rest field.Values, personal string) {
	rest, own := maps.Clone(spec), field.Values{}
	for _, name := range k.Personal {
		if value, present := rest[name]; present {
			own[name] = value
			delete(rest, name)
		}
	}
	if len(own) == 0 {
		return rest, ""
	}
	text, err := json.Marshal(own)
	if err != nil {
		panic("hosting: a field's value is no JSON: " + err.Error()) // values come out of field.Set
	}
	return rest, string(text)
}

func join(spec field.Values, personal string) field.Values {
	all := maps.Clone(spec)
	if personal == "" {
		return all
	}
	own := field.Values{}
	if err := json.Unmarshal([]byte(personal), &own); err != nil {
		return all // unreadable data counts as erased
	}
	maps.Copy(all, own)
	return all
}

// Tells are the fields that were asked for.
func (e Requested) Tells() any { return e.Values() }

// Tells are the fields that changed.
func (e Changed) Tells() any { return e.Values() }

// Tells are the fields that only the engine knows.
func (e EngineConfirmed) Tells() any { return e.Observed }
