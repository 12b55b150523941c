// Package hosting is the life of everything that runs for a tenant: the
// tenant's place on the engine, sites, machines and the rest.
//
// A tenant asks, the engine confirms or declines. Every kind of resource goes
// through the same life, written once in this file (docs/hosting.md).
package hosting

import (
	"bytes"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Resource is what the history of one hosting resource amounts to.
type Resource struct {
	Status   Status    `json:"status"`
	Kind     string    `json:"kind"`
	Tenant   int64     `json:"tenant"` // a tenant is its own
	EngineID int64     `json:"engine_id,omitempty"`
	External string    `json:"external,omitempty"` // the hypervisor's id
	For      string    `json:"for,omitempty"`      // "order:<uuid>"
	Subject  uuid.UUID `json:"subject,omitzero"`   // of the person whose data it holds
	Code     string    `json:"code,omitempty"`     // of the engine's last refusal

	Observed   field.Values `json:"observed,omitempty"`    // what only the engine knows
	DisabledBy []string     `json:"disabled_by,omitempty"` // why it is off, whatever is wanted
	Trashed    bool         `json:"trashed,omitempty"`     // it is in the bin
	Binned     int          `json:"binned,omitempty"`      // the version with which it last went there

	Certificate Issuance `json:"certificate,omitzero"` // of certificates

	// Version counts the facts of the stream; Wish is the version of the last
	// thing that was asked for. An answer to an earlier one is late.
	Version int `json:"version"`
	Wish    int `json:"wish"`
}

// TenantID is the tenant that the resource belongs to.
func (r Resource) TenantID() int64 { return r.Tenant }

// A Status is where a resource stands between the tenant's wish and the engine.
type Status string

const (
	Wanted   Status = "wanted"   // asked for; the engine has yet to make it
	Running  Status = "running"  // as it was asked for
	Changing Status = "changing" // runs; the engine has yet to change it
	Leaving  Status = "leaving"  // the engine has yet to remove it
	Gone     Status = "gone"
	Refused  Status = "refused" // the engine would not; the next change tries again
)

// Decider is the behaviour of the streams of every [Kind].
var Decider = domain.Decider[Resource, Command, Event]{
	Decide: func(r Resource, c Command) ([]Event, error) {
		facts, err := c.decide(r)
		return r.certified(c, facts), err
	},
	Evolve: func(r Resource, e Event) Resource {
		r.Version++
		if r.Certificate.Stage != "" && Turns(e) {
			r.Certificate.Turned = r.Version
		}
		return e.evolve(r)
	},
}

// A Command asks a resource for a change; its decide method is the rule.
type Command interface {
	domain.Command
	decide(Resource) ([]Event, error)
}

// A Ref names a resource: its kind and its number in the API.
type Ref struct {
	Kind string
	ID   int64
}

// Stream is the history of the resource.
func (r Ref) Stream() domain.Stream {
	return domain.Stream{Category: r.Kind, ID: strconv.FormatInt(r.ID, 10)}
}

// Request, Change and Remove are what a tenant may ask for. For names an order
// ("order:<uuid>") whose own run pushes the resource to the engine.
type (
	Request struct {
		Ref
		Tenant  int64 // that it belongs to; of a tenant: its own number
		Spec    field.Values
		Subject uuid.UUID // needed by kinds with personal fields
		For     string
	}
	Change struct {
		Ref
		Spec field.Values // only what changes
	}
	Remove struct{ Ref }
)

// Confirm and Decline are the answers of the engine. Version is that of the
// wish they answer (the stream's version after it); zero is the last one.
type (
	Confirm struct {
		Ref
		EngineID int64        // 0: not told, or gone
		External string       // the hypervisor's id
		Observed field.Values // what only the engine knows, such as document_root
		Version  int
	}
	Decline struct {
		Ref
		Code    string // short and stable, such as "name_taken"
		Version int
		At      time.Time // needed by certificates
	}
)

func (c Request) decide(r Resource) ([]Event, error) {
	kind, known := KindNamed(c.Kind)
	switch {
	case !known:
		return nil, domain.Refuse(domain.Invalid, "There is no kind %q.", c.Kind)
	case r.Status == "":
		if err := kind.checkSealed(c.Spec); err != nil {
			return nil, err
		}
		spec, personal := kind.divide(c.Spec)
		return kind.settled(Requested{Kind: c.Kind, Tenant: c.Tenant, Spec: spec, SubjectID: c.Subject, Personal: personal, For: c.For}), nil
	case c.For != "" && c.For == r.For:
		return nil, nil // a saga may repeat itself
	}
	return nil, domain.Refuse(domain.Conflict, "%s %d exists.", kind.Class, c.ID)
}

func (c Change) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "", r.ended(), r.Trashed:
		return nil, kind.absent()
	case len(c.Spec) == 0:
		return nil, nil
	}
	if err := kind.checkSealed(c.Spec); err != nil {
		return nil, err
	}
	spec, personal := kind.divide(c.Spec)
	return kind.settled(Changed{Spec: spec, SubjectID: r.Subject, Personal: personal}), nil
}

func (c Remove) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch r.Status {
	case "":
		return nil, kind.absent()
	case Leaving, Gone:
		return nil, nil
	default:
		return kind.settled(RemovalRequested{}), nil
	}
}

func (c Confirm) decide(r Resource) ([]Event, error) {
	late, news := r.late(c.Version), r.news(c)
	switch r.Status {
	case "", Gone:
		return nil, nil
	case Leaving:
		if removed := c.EngineID == 0 && c.External == ""; removed && !late {
			return []Event{Removed{}}, nil
		}
	case Wanted, Changing, Refused:
		news = news || !late
	case Running:
	}
	if !news {
		return nil, nil // the engine repeats itself, or answers what nobody waits for any more
	}
	return []Event{EngineConfirmed{EngineID: c.EngineID, External: c.External, Observed: c.Observed, Version: c.Version}}, nil
}

func (c Decline) decide(r Resource) ([]Event, error) {
	open := r.Status == Wanted || r.Status == Changing || r.Status == Leaving || r.Certificate.awaited()
	if !open || r.late(c.Version) || r.Code == c.Code {
		return nil, nil // nobody waits for this answer, or it is a repeat
	}
	return []Event{EngineRefused{Code: c.Code}}, nil
}

// late tells whether an answer is to an earlier wish than the last one.
func (r Resource) late(version int) bool { return version != 0 && version < r.Wish }

// news tells whether an answer holds anything that was not known yet: the
// engine's id, even where the answer is late, or what the engine observed.
func (r Resource) news(c Confirm) bool {
	for name, value := range c.Observed {
		if !bytes.Equal(r.Observed[name], value) {
			return true
		}
	}
	return c.EngineID != 0 && c.EngineID != r.EngineID || c.External != "" && c.External != r.External
}
