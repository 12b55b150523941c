package account

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// ErrLastSuperuser refuses a change that would leave the installation without
// an active superuser. It is found out where all users stand, while no other
// process writes (docs/accounts.md, "Superusers").
var ErrLastSuperuser error = &domain.Error{
	Code: domain.Conflict, Message: "The last active superuser cannot be removed.", Reason: "last_superuser",
}

// A Link says for what a one-time link is made.
type Link string

const (
	Welcome Link = "welcome" // an operator opened the account without a password
	Reset   Link = "reset"   // the user has forgotten the password
	Handed  Link = "handed"  // an operator hands it over: it is not mailed
)

type (
	// ChangeProfile says who a user is from now on: the whole profile. It is
	// sent only if something differs.
	ChangeProfile struct {
		User        int64
		SubjectID   uuid.UUID // of the person's data
		Email, Name string
		Language    string
		At          time.Time
	}
	// GrantSuperuser lets a user operate the installation.
	GrantSuperuser struct {
		User int64
		At   time.Time
	}
	// RevokeSuperuser takes that back. Who acted for a foreign tenant acts for
	// one of their own then, or for none.
	RevokeSuperuser struct {
		User int64
		At   time.Time
	}
	// Reactivate opens an account again that was deactivated.
	Reactivate struct {
		User int64
		At   time.Time
	}
	// EndSessions ends every session and token of a user.
	EndSessions struct {
		User int64
		At   time.Time
	}
	// RequestLink has a one-time link made, with which a user sets a password.
	RequestLink struct {
		User int64
		Link Link
		At   time.Time
	}
	// OfferJoining has the user asked by mail whether an order joins a tenant of theirs.
	OfferJoining struct {
		User  int64
		Order uuid.UUID
		At    time.Time
	}
)

func (c ChangeProfile) decide(u User) ([]Event, error) {
	return u.once(true, ProfileChanged{SubjectID: c.SubjectID, Email: c.Email, Name: c.Name, Language: c.Language, At: c.At})
}

func (c GrantSuperuser) decide(u User) ([]Event, error) {
	return u.once(!u.Superuser, SuperuserGranted{At: c.At})
}

func (c RevokeSuperuser) decide(u User) ([]Event, error) {
	facts := []Event{SuperuserRevoked{At: c.At}}
	if _, member := u.Memberships[u.ActiveTenant]; u.ActiveTenant != 0 && !member {
		facts = append(facts, TenantActivated{Tenant: u.another(u.ActiveTenant), At: c.At})
	}
	return u.once(u.Superuser, facts...)
}

func (c Reactivate) decide(u User) ([]Event, error) { return u.once(!u.Active, Reactivated{At: c.At}) }

func (c EndSessions) decide(u User) ([]Event, error) {
	if !u.Active {
		return nil, u.absent()
	}
	return []Event{SessionsEnded{At: c.At}}, nil
}

func (c RequestLink) decide(u User) ([]Event, error) {
	switch {
	case !u.Active:
		return nil, u.absent()
	case c.Link != Welcome && c.Link != Reset && c.Link != Handed:
		return nil, domain.RefuseField("link", field.NotAChoice(string(c.Link)))
	}
	return []Event{LinkRequested{Link: c.Link, At: c.At}}, nil
}

func (c OfferJoining) decide(u User) ([]Event, error) {
	if !u.Active {
		return nil, u.absent()
	}
	return []Event{JoiningOffered{Order: c.Order, At: c.At}}, nil
}

func (c ChangeProfile) Stream() domain.Stream   { return Stream(c.User) }
func (c GrantSuperuser) Stream() domain.Stream  { return Stream(c.User) }
func (c RevokeSuperuser) Stream() domain.Stream { return Stream(c.User) }
func (c Reactivate) Stream() domain.Stream      { return Stream(c.User) }
func (c EndSessions) Stream() domain.Stream     { return Stream(c.User) }
func (c RequestLink) Stream() domain.Stream     { return Stream(c.User) }
func (c OfferJoining) Stream() domain.Stream    { return Stream(c.User) }

type (
	// ProfileChanged holds the whole profile as it is from now on.
	ProfileChanged struct {
		SubjectID uuid.UUID `json:"subject"`
		Email     string    `json:"email"`
		Name      string    `json:"name"`
		Language  string    `json:"language"`
		At        time.Time `json:"at"`
	}
	// SuperuserGranted: the user operates the installation.
	SuperuserGranted struct {
		At time.Time `json:"at"`
	}
	// SuperuserRevoked: the user no longer operates the installation.
	SuperuserRevoked struct {
		At time.Time `json:"at"`
	}
	// Reactivated: an account that had ended is open again.
	Reactivated struct {
		At time.Time `json:"at"`
	}
	// SessionsEnded: every session and token of the user has ended.
	SessionsEnded struct {
		At time.Time `json:"at"`
	}
	// LinkRequested: a one-time link was made. Its secret stands beside the log.
	LinkRequested struct {
		Link Link      `json:"link"`
		At   time.Time `json:"at"`
	}
	// JoiningOffered: the user is asked by mail whether an order joins a tenant of theirs.
	JoiningOffered struct {
		Order uuid.UUID `json:"order"`
		At    time.Time `json:"at"`
	}
)

func (ProfileChanged) EventName() string   { return "account.profile_changed" }
func (SuperuserGranted) EventName() string { return "account.superuser_granted" }
func (SuperuserRevoked) EventName() string { return "account.superuser_revoked" }
func (Reactivated) EventName() string      { return "account.reactivated" }
func (SessionsEnded) EventName() string    { return "account.sessions_ended" }
func (LinkRequested) EventName() string    { return "account.link_requested" }
func (JoiningOffered) EventName() string   { return "account.joining_offered" }

func (ProfileChanged) Says() string   { return "profile changed" }
func (SuperuserGranted) Says() string { return "may operate the installation" }
func (SuperuserRevoked) Says() string { return "may no longer operate the installation" }
func (Reactivated) Says() string      { return "account opened again" }
func (SessionsEnded) Says() string    { return "all sessions ended" }

func (e LinkRequested) Says() string {
	return "a link to set a password is made: " + string(e.Link)
}

func (e JoiningOffered) Says() string {
	return "is asked by mail which tenant order " + e.Order.String() + " joins"
}

func (e ProfileChanged) evolve(u User) User { return u.reachedAt(e.SubjectID) }
func (SuperuserGranted) evolve(u User) User { u.Superuser = true; return u }
func (SuperuserRevoked) evolve(u User) User { u.Superuser = false; return u.signedOut() }
func (Reactivated) evolve(u User) User      { u.Active = true; return u }
func (SessionsEnded) evolve(u User) User    { return u.signedOut() }
func (LinkRequested) evolve(u User) User    { return u }
func (JoiningOffered) evolve(u User) User   { return u }
