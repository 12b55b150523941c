package hosting

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// The console is the screen of a machine in a browser (docs/machines-console.md).

// OpenConsole notes that a user has opened the console of a machine.
type OpenConsole struct{ Ref }

// ConsoleOpened: a user, whom the event's cause names, sees the screen of the machine.
type ConsoleOpened struct{}

func (ConsoleOpened) EventName() string { return "hosting.console_opened" }
func (ConsoleOpened) Says() string      { return "the console was opened" }

func (ConsoleOpened) evolve(r Resource) Resource { return r }

func (c OpenConsole) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "", r.ended(), r.Trashed:
		return nil, kind.absent()
	case len(r.DisabledBy) > 0:
		return nil, ErrMachineSuspended
	}
	return []Event{ConsoleOpened{}}, nil
}

// ErrMachineSuspended refuses what a machine does not do while it is suspended.
var ErrMachineSuspended = &domain.Error{Code: domain.Conflict, Reason: "machine_suspended", Message: "The virtual server is suspended."}

// ConsoleTicketLife is how long a ticket opens a console.
const ConsoleTicketLife = time.Minute

// A ConsoleTicket is what a ticket opens, and for whom.
type ConsoleTicket struct {
	Service   uuid.UUID `json:"service"` // the id of its order
	Machine   int64     `json:"machine"`
	User      int64     `json:"user"`
	Version   int       `json:"version"` // of the user's sessions
	SignIn    uuid.UUID `json:"sign_in"` // of the session or the token that has asked
	InBrowser bool      `json:"in_browser"`
}

// Ref is the machine.
func (t ConsoleTicket) Ref() Ref { return Ref{Kind: machines.Name, ID: t.Machine} }

const consoleTickets = "console "

// Purpose is what a one-time token is for that is this ticket.
func (t ConsoleTicket) Purpose() string {
	text, _ := json.Marshal(t) // numbers and ids
	return consoleTickets + string(text)
}

// ConsoleTicketOf reads the purpose of a one-time token; false: it is no such ticket.
func ConsoleTicketOf(purpose string) (t ConsoleTicket, is bool) {
	text, is := strings.CutPrefix(purpose, consoleTickets)
	return t, is && json.Unmarshal([]byte(text), &t) == nil
}
