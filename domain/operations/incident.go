package operations

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// IncidentCategory is that of the streams "incident-<uuid>".
const IncidentCategory = "incident"

// The kinds of troubles that operators have to hear of.
const (
	WebhookUnmatched = "webhook_unmatched" // no order of ours was found for it in time
	WebhookParked    = "webhook_parked"    // acting on it has failed too often
	TaskParked       = "task_parked"       // work that comes due by itself has failed too often
	ReactionFailed   = "reaction_failed"   // to an event of the log, for good
	LogBroken        = "log_broken"        // it is not as it was written
	ProjectionFailed = "projection_failed" // a read table could not be built
	ReaderStuck      = "reader_stuck"      // a reader of the log does not move
	ProviderDown     = "provider_down"     // a payment provider stays away
	AccessRefused    = "access_refused"    // a server does not let us do what we have to
	ErasuresNotKept  = "erasures_not_kept" // the list of erasures cannot be written to a file
	WitnessDown      = "witness_down"      // a witness cannot say whether the log has what it has cosigned
	EngineOrphan     = "engine_orphan"     // the engine has an object of a tenant that no record is about
	EngineMissing    = "engine_missing"    // the engine has lost an object
	EngineChanged    = "engine_changed"    // an object at the engine differs from its record
	MachineOrphan    = "machine_orphan"    // a hypervisor has a machine of ours that no record is about
	MachineStranger  = "machine_stranger"  // a machine of others has the name of one of ours
	EngineStuck      = "engine_stuck"      // the engine refuses a removal, or the name of what an order has paid
	RecoveryMode     = "recovery_mode"     // the panel was restored, and keeps from reaching outside
)

// IncidentKinds are all that there are.
var IncidentKinds = []string{
	WebhookUnmatched, WebhookParked, ReactionFailed, LogBroken, ProjectionFailed, ProviderDown, AccessRefused,
	ReaderStuck, ErasuresNotKept, WitnessDown,
	EngineOrphan, EngineMissing, EngineChanged, MachineOrphan, MachineStranger, EngineStuck, RecoveryMode, TaskParked,
}

// MostIncidentsTold bounds how often operators are told of one kind of incident
// within an hour. The others stand in the list of incidents alone, so that a
// flood of one kind does not hide the rest.
const MostIncidentsTold = 10

// A Trouble is what an incident is about. The subject tells it from others of
// its kind; About names what it concerns, by ids alone.
type Trouble struct {
	Kind, Subject string
	About         map[string]string
}

var namespace = uuid.MustParse("1d0c5f0e-6a83-4b6e-9f57-2b7a4c1e8d90")

// ID is that of the trouble's incident: the same each time that it happens.
func (t Trouble) ID() uuid.UUID {
	return uuid.NewSHA1(namespace, []byte(t.Kind+"/"+t.Subject)) //nolint:forbidigo // it follows from the trouble, not from chance
}

// Report tells of the trouble.
func (t Trouble) Report(at time.Time) Report {
	return Report{ID: t.ID(), Kind: t.Kind, About: t.About, At: at}
}

// Settle tells that the trouble is over.
func (t Trouble) Settle(reason string, at time.Time) Settle {
	return Settle{ID: t.ID(), Reason: reason, At: at}
}

// An Incident is what its history amounts to.
type Incident struct {
	Kind    string `json:"kind"`
	Open    bool   `json:"open"`              // it was reported, and neither settled nor answered since
	Ignored bool   `json:"ignored,omitempty"` // until it is over
}

// Incidents is the behaviour of the streams "incident-<uuid>": a trouble is
// told once, however often it is reported, and anew only when it was settled.
var Incidents = domain.Decider[Incident, IncidentCommand, IncidentEvent]{
	Decide: func(i Incident, c IncidentCommand) ([]IncidentEvent, error) { return c.decide(i) },
	Evolve: func(i Incident, e IncidentEvent) Incident { return e.evolve(i) },
}

type (
	// An IncidentCommand reports an incident, or settles it.
	IncidentCommand interface {
		domain.Command
		decide(Incident) ([]IncidentEvent, error)
	}
	// An IncidentEvent belongs to the stream of an incident.
	IncidentEvent interface {
		domain.Event
		evolve(Incident) Incident
	}
)

type (
	// Report tells of a trouble; [Trouble.Report] makes it.
	Report struct {
		ID    uuid.UUID
		Kind  string
		About map[string]string // ids only
		At    time.Time
	}
	// Settle ends an incident: the trouble is over, or a person has seen to it. An
	// incident that was not reported, or is settled, stays as it is.
	Settle struct {
		ID     uuid.UUID
		Reason string
		At     time.Time
	}
)

// IncidentStream is an incident's history.
func IncidentStream(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: IncidentCategory, ID: id.String()}
}

func (c Report) Stream() domain.Stream { return IncidentStream(c.ID) }
func (c Settle) Stream() domain.Stream { return IncidentStream(c.ID) }

func (c Report) decide(i Incident) ([]IncidentEvent, error) {
	switch {
	case !slices.Contains(IncidentKinds, c.Kind):
		return nil, domain.RefuseField("kind", `"`+c.Kind+`" is not a valid choice.`)
	case i.Open, i.Ignored:
		return nil, nil
	}
	return []IncidentEvent{IncidentReported{Kind: c.Kind, About: c.About, At: c.At}}, nil
}

func (c Settle) decide(i Incident) ([]IncidentEvent, error) {
	if !i.Open && !i.Ignored {
		return nil, nil
	}
	return []IncidentEvent{IncidentSettled{Reason: c.Reason, At: c.At}}, nil
}

// IncidentEventTypes lists every event that the streams of incidents may hold.
var IncidentEventTypes = []domain.EventType{
	domain.Register[IncidentReported](), domain.Register[IncidentSettled](), domain.Register[IncidentAnswered](),
}

type (
	// IncidentReported: something happened that operators have to see to.
	IncidentReported struct {
		Kind  string            `json:"kind"`
		About map[string]string `json:"about,omitempty"`
		At    time.Time         `json:"at"`
	}
	// IncidentSettled: it is over.
	IncidentSettled struct {
		Reason string    `json:"reason,omitempty"`
		At     time.Time `json:"at"`
	}
)

func (IncidentReported) EventName() string { return "operations.incident_reported" }
func (IncidentSettled) EventName() string  { return "operations.incident_settled" }

func (e IncidentReported) Says() string {
	return "incident reported: " + wording.Spaced(e.Kind) + wording.Around(" (", wording.Pairs(e.About), ")")
}

func (e IncidentSettled) Says() string { return "settled" + wording.Around(": ", e.Reason, "") }

func (e IncidentReported) evolve(Incident) Incident  { return Incident{Kind: e.Kind, Open: true} }
func (e IncidentSettled) evolve(i Incident) Incident { i.Open, i.Ignored = false, false; return i }
