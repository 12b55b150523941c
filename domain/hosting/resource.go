// Package hosting is the life of everything that runs for a tenant: the
// tenant's place on the engine, sites, machines and the rest.
//
// A tenant asks, the engine confirms or declines. Every kind of resource goes
// through the same life, written once in this file (docs/hosting.md).
package hosting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Resource is the state of one hosting resource, folded from its events.
type Resource struct {
	Status   Status    `json:"status"`
	Kind     string    `json:"kind"`
	Tenant   int64     `json:"tenant"` // a tenant is its own
	EngineID int64     `json:"engine_id,omitempty"`
	External string    `json:"external,omitempty"` // the hypervisor's id
	For      string    `json:"for,omitempty"`      // "order:<uuid>"
	Subject  uuid.UUID `json:"subject,omitzero"`   // the person whose data it holds
	Code     string    `json:"code,omitempty"`     // of the engine's last refusal

	Observed   field.Values `json:"observed,omitempty"`    // what only the engine knows
	DisabledBy []string     `json:"disabled_by,omitempty"` // the reasons why it is switched off
	Trashed    bool         `json:"trashed,omitempty"`     // it is in the bin
	Binned     int          `json:"binned,omitempty"`      // version of the last move to the bin

	Certificate Issuance     `json:"certificate,omitzero"` // of certificates
	Traffic     TrafficState `json:"traffic,omitzero"`     // of machines

	Version int `json:"version"` // number of events in the stream
	Wish    int `json:"wish"`    // version of the last request; an answer to an earlier one is late
}

// TenantID is the tenant that the resource belongs to.
func (r Resource) TenantID() int64 { return r.Tenant }

// A Status compares a resource's desired state with its state at the engine.
type Status string

const (
	Wanted   Status = "wanted"   // requested; not created at the engine yet
	Running  Status = "running"  // as requested
	Changing Status = "changing" // runs; a change is pending at the engine
	Leaving  Status = "leaving"  // the removal is pending at the engine
	Gone     Status = "gone"     // removed, for good
	Refused  Status = "refused"  // refused by the engine; the next change tries again
)

// Decider is the behaviour of the streams of every [Kind].
var Decider = domain.Decider[Resource, Command, Event]{
	Decide: func(r Resource, c Command) ([]Event, error) {
		events, err := c.decide(r)
		return r.certified(c, events), err
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

// Begins marks the first command of a stream ([domain.Beginning]).
func (Request) Begins() {}

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
		Act  string       // by which the change was asked for, of [MachineActs], or "remake"; "": by its fields
	}
	Remove struct{ Ref }
)

// Confirm and Decline are the answers of the engine. Version is the stream's
// version after the request that they answer; zero is the last request.
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
		return kind.settled(
			Requested{Kind: c.Kind, Tenant: c.Tenant, Spec: spec, SubjectID: c.Subject, Personal: personal, For: c.For},
		), nil
	case c.For != "" && c.For == r.For:
		return nil, nil // a repeated step of the same order
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
	return kind.settled(Changed{Spec: spec, SubjectID: r.Subject, Personal: personal, Act: c.Act}), nil
}

func (c Remove) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch r.Status {
	case "":
		return nil, kind.absent()
	case Leaving:
		return r.removedAgain(kind), nil
	case Gone:
		return nil, nil
	default:
		return kind.settled(RemovalRequested{}), nil
	}
}

// removedAgain asks for the removal once more, if the engine has refused it.
func (r Resource) removedAgain(kind Kind) []Event {
	if r.Status != Leaving || r.Code == "" {
		return nil
	}
	return kind.settled(RemovalRequested{})
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
		return nil, nil // a repeated answer, or one to an old request
	}
	return []Event{EngineConfirmed{EngineID: c.EngineID, External: c.External, Observed: c.Observed, Version: c.Version}}, nil
}

func (c Decline) decide(r Resource) ([]Event, error) {
	open := r.Status == Wanted || r.Status == Changing || r.Status == Leaving || r.Certificate.awaited()
	open = open || r.Status == Running && r.Certificate.Stage == "" && c.Version == r.Wish // accepted, and then not carried out
	if !open || r.late(c.Version) || r.Code == c.Code {
		return nil, nil // no request is open, or the answer is a repeat
	}
	return []Event{EngineRefused{Code: c.Code}}, nil
}

// late tells whether an answer belongs to an earlier request than the last one.
func (r Resource) late(version int) bool { return version != 0 && version < r.Wish }

// news tells whether an answer holds new data: the engine's id, even in a late
// answer, or a new observed value.
func (r Resource) news(c Confirm) bool {
	for name, value := range c.Observed {
		if !bytes.Equal(r.Observed[name], value) {
			return true
		}
	}
	return c.EngineID != 0 && c.EngineID != r.EngineID || c.External != "" && c.External != r.External
}

// Shows completes the fields of a resource: how it stands at the engine, whether it
// is on, and its number there.
func (r Resource) Shows(record map[string]json.RawMessage) {
	record["sync_status"] = json.RawMessage(`"` + r.syncStatus() + `"`)
	if _, can := record["is_active"]; can && (len(r.DisabledBy) > 0 || r.Trashed) {
		record["is_active"] = json.RawMessage("false")
	}
	if kind, known := KindNamed(r.Kind); known && kind.EngineID != "" && r.EngineID != 0 {
		record[kind.EngineID] = record["engine_id"]
	}
	for _, inner := range []string{"observed", "version", "wish", "binned", "certificate", "traffic"} {
		delete(record, inner)
	}
}

// syncStatus compares what is wanted with what the engine has, as the API says it.
func (r Resource) syncStatus() string {
	switch {
	case r.Code != "":
		return "error"
	case r.Status == Running, r.Status == Gone:
		return "synced"
	}
	return "pending"
}

// A Generation is a resource as one event has made it. Version is that of the
// stream after the event. It is the input of runs that work for a resource.
type Generation struct {
	Kind    string `json:"kind"`
	ID      int64  `json:"id"`
	Version int    `json:"version"`
	Server  string `json:"server,omitempty"` // the hypervisor of a machine; "": the first one
}

// GenerationOf is the generation of the resource with this stream.
func GenerationOf(stream domain.Stream, version int) Generation {
	ref := RefOf(stream)
	return Generation{Kind: ref.Kind, ID: ref.ID, Version: version}
}

// Ref is the resource.
func (g Generation) Ref() Ref { return Ref{Kind: g.Kind, ID: g.ID} }

// String is the generation in keys: "site-42/3".
func (g Generation) String() string { return fmt.Sprintf("%s/%d", g.Ref().Stream(), g.Version) }

// RefOf is the resource of a stream. The ids of such streams are numbers.
func RefOf(stream domain.Stream) Ref {
	id, _ := strconv.ParseInt(stream.ID, 10, 64)
	return Ref{Kind: stream.Category, ID: id}
}
