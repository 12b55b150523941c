// Package account is the life of a user: who may sign in, to which tenants
// they belong, and in whose name they act at the moment (docs/accounts.md).
//
// Passwords, sessions and tokens stand outside the log; here is only that
// they changed.
package account

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// Category is that of the streams "user-<id>".
const Category = "user"

// Stream is the history of one user.
func Stream(user int64) domain.Stream {
	return domain.Stream{Category: Category, ID: strconv.FormatInt(user, 10)}
}

// A Role is what a user may do in a tenant.
type Role string

const (
	Member Role = "member" // uses what the tenant has
	Admin  Role = "admin"  // also changes the tenant and its members
)

// A User is what the history of one account amounts to.
type User struct {
	Exists       bool           `json:"exists"`
	Active       bool           `json:"active"`
	Superuser    bool           `json:"superuser,omitempty"`
	For          string         `json:"for,omitempty"` // the order that it was opened for
	Memberships  map[int64]Role `json:"memberships,omitempty"`
	ActiveTenant int64          `json:"active_tenant,omitempty"` // 0: none
	// whose sub-tenant that is, which the user administers; 0: the user is a member
	Through      int64 `json:"through,omitempty"`
	HasPassword  bool  `json:"has_password,omitempty"`
	SecondFactor bool  `json:"second_factor,omitempty"` // a sign-in needs a code too

	Subject        uuid.UUID `json:"subject"` // of the person's data, and so of the address
	AddressRefused bool      `json:"address_refused,omitempty"`

	// SessionVersion begins at 1. Whatever ends the sessions and tokens of a
	// user raises it, so that those which name an older one are over.
	SessionVersion int `json:"session_version,omitempty"`
}

// Decider is the behaviour of the streams "user-<id>".
var Decider = domain.Decider[User, Command, Event]{
	Decide: func(u User, c Command) ([]Event, error) { return c.decide(u) },
	Evolve: func(u User, e Event) User { return e.evolve(u) },
}

type (
	// A Command asks a user's account for a change; its decide method is the rule.
	Command interface {
		domain.Command
		decide(User) ([]Event, error)
	}
	// An Event belongs to the stream of a user's account.
	Event interface {
		domain.Event
		evolve(User) User
	}
)

type (
	// Open makes an account. That the address has none yet is checked where
	// all addresses stand; an order's run may repeat itself.
	Open struct {
		User        int64
		SubjectID   uuid.UUID // of the person's data
		Email, Name string    // the address, normalised, is the user name
		Language    string
		Superuser   bool
		For         string // "order:<uuid>"; empty: opened by an operator
		At          time.Time
	}
	// GrantMembership lets a user into a tenant, or changes what they may do
	// there. The first tenant becomes the active one. It is refused if the user has other
	// tenants than the caller has looked at.
	GrantMembership struct {
		User, Tenant int64
		Role         Role
		Seen         []int64 // as [User.Tenants] has them; nil: it does not matter
		At           time.Time
	}
	// RevokeMembership takes a user out of a tenant. A user who acted for it acts
	// for another tenant then, or for none.
	RevokeMembership struct {
		User, Tenant int64
		At           time.Time
	}
	// ActivateTenant chooses the tenant in whose name a user acts; 0 is none. An
	// administrator of a tenant may act for its sub-tenants: Through is the former then.
	ActivateTenant struct {
		User, Tenant int64
		Through      int64
		At           time.Time
	}
	// ChangePassword records that a password was set or changed.
	ChangePassword struct {
		User int64
		At   time.Time
	}
	// Deactivate closes an account: it cannot be signed in with.
	Deactivate struct {
		User int64
		At   time.Time
	}
)

func (c Open) decide(u User) ([]Event, error) {
	switch {
	case !u.Exists:
		return []Event{Opened{
			SubjectID: c.SubjectID, Email: c.Email, Name: c.Name, Language: c.Language,
			Superuser: c.Superuser, For: c.For, At: c.At,
		}}, nil
	case c.For != "" && c.For == u.For:
		return nil, nil
	}
	return nil, domain.Refuse(domain.Conflict, "The user exists.")
}

func (c GrantMembership) decide(u User) ([]Event, error) {
	switch {
	case !u.Active:
		return nil, u.absent()
	case c.Role != Member && c.Role != Admin:
		return nil, domain.RefuseField("role", field.NotAChoice(string(c.Role)))
	case u.Memberships[c.Tenant] == c.Role:
		return nil, nil
	case c.Seen != nil && !slices.Equal(c.Seen, u.Tenants()):
		return nil, domain.Refuse(domain.Conflict, "The user's tenants have changed in the meantime.")
	}
	facts := []Event{MembershipGranted{Tenant: c.Tenant, Role: c.Role, At: c.At}}
	if u.Through == c.Tenant { // no administrator of it any more
		return append(facts, TenantActivated{Tenant: c.Tenant, At: c.At}), nil
	}
	if len(u.Memberships) == 0 && u.ActiveTenant == 0 {
		facts = append(facts, TenantActivated{Tenant: c.Tenant, At: c.At})
	}
	return facts, nil
}

func (c RevokeMembership) decide(u User) ([]Event, error) {
	switch _, member := u.Memberships[c.Tenant]; {
	case !u.Exists:
		return nil, u.absent()
	case !member:
		return nil, nil
	}
	facts := []Event{MembershipRevoked{Tenant: c.Tenant, At: c.At}}
	if u.ActiveTenant == c.Tenant || u.Through == c.Tenant {
		facts = append(facts, TenantActivated{Tenant: u.another(c.Tenant), At: c.At})
	}
	return facts, nil
}

// Tenants are those that a user belongs to, in the order of their numbers; not nil.
func (u User) Tenants() []int64 {
	all := slices.AppendSeq(make([]int64, 0, len(u.Memberships)), maps.Keys(u.Memberships))
	slices.Sort(all)
	return all
}

// another is the tenant that becomes active when a user leaves one.
func (u User) another(left int64) int64 {
	for _, tenant := range u.Tenants() {
		if tenant != left {
			return tenant
		}
	}
	return 0
}

func (c ActivateTenant) decide(u User) ([]Event, error) {
	switch _, member := u.Memberships[c.Tenant]; {
	case !u.Active:
		return nil, u.absent()
	case member || c.Tenant == 0:
		c.Through = 0
	case u.Memberships[c.Through] != Admin && !u.Superuser:
		return nil, domain.RefuseField("active_tenant", field.NoSuchPK(c.Tenant))
	case u.Superuser:
		c.Through = 0
	}
	if u.ActiveTenant == c.Tenant && u.Through == c.Through {
		return nil, nil
	}
	return []Event{TenantActivated{Tenant: c.Tenant, Through: c.Through, At: c.At}}, nil
}

func (c ChangePassword) decide(u User) ([]Event, error) {
	if !u.Active {
		return nil, u.absent()
	}
	return []Event{PasswordChanged{At: c.At}}, nil
}

func (c Deactivate) decide(u User) ([]Event, error) {
	return u.once(u.Active, Deactivated{At: c.At})
}

// once is the answer to a change of a user that exists; a repeat adds no event.
func (u User) once(changes bool, facts ...Event) ([]Event, error) {
	switch {
	case !u.Exists:
		return nil, u.absent()
	case !changes:
		return nil, nil
	}
	return facts, nil
}

// absent is the answer about a user who is not, or no longer, there.
func (User) absent() error { return domain.Refuse(domain.NotFound, "No User matches the given query.") }

func (c Open) Stream() domain.Stream             { return Stream(c.User) }
func (c GrantMembership) Stream() domain.Stream  { return Stream(c.User) }
func (c RevokeMembership) Stream() domain.Stream { return Stream(c.User) }
func (c ActivateTenant) Stream() domain.Stream   { return Stream(c.User) }
func (c ChangePassword) Stream() domain.Stream   { return Stream(c.User) }
func (c Deactivate) Stream() domain.Stream       { return Stream(c.User) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (Open) Begins() {}
