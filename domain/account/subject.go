package account

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// SubjectCategory is that of the streams "subject-<uuid>": people whose
// personal data the log holds under keys of their own.
const SubjectCategory = "subject"

// SubjectStream is the history of one person's data.
func SubjectStream(subject uuid.UUID) domain.Stream {
	return domain.Stream{Category: SubjectCategory, ID: subject.String()}
}

// A Subject is what is left to know of a person's data.
type Subject struct {
	Erased bool `json:"erased,omitempty"`
}

// Subjects is the behaviour of the streams "subject-<uuid>".
var Subjects = domain.Decider[Subject, SubjectCommand, SubjectEvent]{
	Decide: func(s Subject, c SubjectCommand) ([]SubjectEvent, error) { return c.decide(s) },
	Evolve: func(s Subject, e SubjectEvent) Subject { return e.evolve(s) },
}

type (
	// A SubjectCommand asks for something to be done with a person's data.
	SubjectCommand interface {
		domain.Command
		decide(Subject) ([]SubjectEvent, error)
	}
	// A SubjectEvent belongs to the stream of a person's data.
	SubjectEvent interface {
		domain.Event
		evolve(Subject) Subject
	}
)

// EraseSubject has the contact data of a person forgotten, once and for ever.
// The caller destroys the keys in the same transaction; the read tables blank
// what they show (docs/log.md, "Personal data").
type EraseSubject struct {
	Subject uuid.UUID
	At      time.Time
}

func (c EraseSubject) decide(s Subject) ([]SubjectEvent, error) {
	if s.Erased {
		return nil, nil
	}
	return []SubjectEvent{SubjectErased(c)}, nil
}

func (c EraseSubject) Stream() domain.Stream { return SubjectStream(c.Subject) }

// SubjectErased says that nothing is left by which the person could be
// reached or recognised. What invoices hold is kept for as long as the law
// demands.
type SubjectErased struct {
	Subject uuid.UUID `json:"subject"`
	At      time.Time `json:"at"`
}

func (SubjectErased) EventName() string        { return "subject.erased" }
func (SubjectErased) Says() string             { return "personal data erased" }
func (SubjectErased) evolve(s Subject) Subject { s.Erased = true; return s }
