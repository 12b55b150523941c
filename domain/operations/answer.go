package operations

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// The answers that an operator may give to a difference between the log and the
// engine (docs/sync.md, "In the background").
const (
	Adopt  = "adopt"  // the engine is right: the panel takes over what it has
	Remake = "remake" // the panel is right: the engine gets it again
	Remove = "remove" // the panel is right, which has no such machine: it is removed with its data
	Ignore = "ignore" // both stay as they are, and it is not reported again while it lasts
)

// offers are the answers to each kind of incident. An object that no record is
// about cannot be made again, and a machine of others stays.
var offers = map[string][]string{
	EngineOrphan:  {Adopt, Ignore},
	EngineMissing: {Remake, Ignore},
	EngineChanged: {Adopt, Remake, Ignore},

	MachineOrphan:   {Remove, Ignore},
	MachineStranger: {Ignore},
}

// Offers returns the answers that an incident of a kind takes; nil: none.
func Offers(kind string) []string { return offers[kind] }

// Differences are the kinds of incidents that a comparison with the engine reports.
var Differences = []string{EngineOrphan, EngineMissing, EngineChanged}

// MachineDifferences are the kinds that a comparison with a hypervisor reports.
var MachineDifferences = []string{EngineMissing, EngineChanged, MachineOrphan, MachineStranger}

// Answers are all that there are, in the order in which pages offer them.
var Answers = []string{Adopt, Remake, Remove, Ignore}

// AnswerIncident gives an operator's answer to an incident. Only one that is open
// or ignored can be answered.
type AnswerIncident struct {
	ID     uuid.UUID
	Answer string
	Reason string
	At     time.Time
}

// Stream is the incident's history.
func (c AnswerIncident) Stream() domain.Stream { return IncidentStream(c.ID) }

func (c AnswerIncident) decide(i Incident) ([]IncidentEvent, error) {
	switch {
	case !slices.Contains(Offers(i.Kind), c.Answer):
		return nil, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "This incident has no such answer."}
	case i.Ignored && c.Answer == Ignore:
		return nil, nil
	case !i.Open && !i.Ignored:
		return nil, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The incident is settled."}
	}
	return []IncidentEvent{IncidentAnswered{Answer: c.Answer, Reason: c.Reason, At: c.At}}, nil
}

// IncidentAnswered: an operator has decided what becomes of it.
type IncidentAnswered struct {
	Answer string    `json:"answer"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// EventName is the name in the log.
func (IncidentAnswered) EventName() string { return "operations.incident_answered" }

// Says is the sentence of a history.
func (e IncidentAnswered) Says() string {
	return "answered: " + e.Answer + wording.Around(" (", e.Reason, ")")
}

func (e IncidentAnswered) evolve(i Incident) Incident {
	i.Open, i.Ignored = false, e.Answer == Ignore
	return i
}
