package account

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// PlainAddress is an email address as accounts keep it: in lower case, without
// spaces around it.
func PlainAddress(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// A mail server that refuses an address for good refuses it the next time,
// too. So what users did not ask for is not sent there, until the address is
// another one or a mail to it gets through (docs/notifications.md, "Refused
// addresses").

type (
	// RefuseAddress records that a mail server has refused a user's address for
	// good. The subject says which address that was: it may be another by now.
	RefuseAddress struct {
		User      int64
		SubjectID uuid.UUID
		Code      string
		At        time.Time
	}
	// AcceptAddress records that a mail to that address has got through.
	AcceptAddress struct {
		User      int64
		SubjectID uuid.UUID
		At        time.Time
	}
)

type (
	// AddressRefused: a mail server has refused the address for good. Code is the
	// class of its answer.
	AddressRefused struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
	// AddressAccepted: a mail to an address that was refused has got through.
	AddressAccepted struct {
		At time.Time `json:"at"`
	}
)

func (c RefuseAddress) decide(u User) ([]Event, error) {
	if !u.Active || u.Subject != c.SubjectID || u.AddressRefused {
		return nil, nil
	}
	return []Event{AddressRefused{Code: c.Code, At: c.At}}, nil
}

func (c AcceptAddress) decide(u User) ([]Event, error) {
	if u.Subject != c.SubjectID || !u.AddressRefused {
		return nil, nil
	}
	return []Event{AddressAccepted{At: c.At}}, nil
}

func (c RefuseAddress) Stream() domain.Stream { return Stream(c.User) }
func (c AcceptAddress) Stream() domain.Stream { return Stream(c.User) }

func (AddressRefused) EventName() string  { return "account.address_refused" }
func (AddressAccepted) EventName() string { return "account.address_accepted" }

func (e AddressRefused) Says() string {
	return "a mail server has refused the address: " + wording.Spaced(e.Code) + "; no notifications are mailed to it"
}

func (AddressAccepted) Says() string { return "a mail to the address has got through again" }

func (AddressRefused) evolve(u User) User  { u.AddressRefused = true; return u }
func (AddressAccepted) evolve(u User) User { u.AddressRefused = false; return u }

// reachedAt is the user under the address of a subject; what was refused was
// another one.
func (u User) reachedAt(subject uuid.UUID) User {
	if u.Subject != subject {
		u.Subject, u.AddressRefused = subject, false
	}
	return u
}
