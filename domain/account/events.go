package account

import (
	"maps"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// Facts lists every event about users: of their streams, of their security
// journals, and of people whose data was erased.
var Facts = []domain.Fact{
	domain.FactOf[Opened]().Sealing(domain.Contact, "email", "name"),
	domain.FactOf[MembershipGranted](),
	domain.FactOf[MembershipRevoked](),
	domain.FactOf[TenantActivated](),
	domain.FactOf[PasswordChanged](),
	domain.FactOf[Deactivated](),

	domain.FactOf[Reactivated](),
	domain.FactOf[ProfileChanged]().Sealing(domain.Contact, "email", "name"),
	domain.FactOf[SuperuserGranted](),
	domain.FactOf[SuperuserRevoked](),
	domain.FactOf[SessionsEnded](),
	domain.FactOf[LinkRequested](),
	domain.FactOf[AddressRefused](),
	domain.FactOf[AddressAccepted](),

	domain.FactOf[SubjectErased](),

	domain.FactOf[SignedIn]().Sealing(domain.Contact, "ip"),
	domain.FactOf[SignInRefused]().Sealing(domain.Contact, "ip"),
	domain.FactOf[TokenReused](),
	domain.FactOf[AccessDenied](),
	domain.FactOf[KeyUsedFromNewOrigin](),
}

type (
	Opened struct {
		SubjectID uuid.UUID `json:"subject"`
		Email     string    `json:"email"`
		Name      string    `json:"name"`
		Language  string    `json:"language"`
		Superuser bool      `json:"superuser"`
		For       string    `json:"for,omitempty"`
		At        time.Time `json:"at"`
	}
	MembershipGranted struct {
		Tenant int64     `json:"tenant"`
		Role   Role      `json:"role"`
		At     time.Time `json:"at"`
	}
	MembershipRevoked struct {
		Tenant int64     `json:"tenant"`
		At     time.Time `json:"at"`
	}
	TenantActivated struct {
		Tenant int64     `json:"tenant"` // 0: none
		At     time.Time `json:"at"`
	}
	PasswordChanged struct {
		At time.Time `json:"at"`
	}
	Deactivated struct {
		At time.Time `json:"at"`
	}
)

// Subject is the person whose account it is.
func (e Opened) Subject() uuid.UUID { return e.SubjectID }

func (Opened) EventName() string            { return "account.opened" }
func (MembershipGranted) EventName() string { return "account.membership_granted" }
func (MembershipRevoked) EventName() string { return "account.membership_revoked" }
func (TenantActivated) EventName() string   { return "account.tenant_activated" }
func (PasswordChanged) EventName() string   { return "account.password_changed" }
func (Deactivated) EventName() string       { return "account.deactivated" }

func (e Opened) evolve(User) User {
	return User{Exists: true, Active: true, Superuser: e.Superuser, For: e.For, Subject: e.SubjectID, SessionVersion: 1}
}

func (e MembershipGranted) evolve(u User) User {
	u.Memberships = maps.Clone(u.Memberships)
	if u.Memberships == nil {
		u.Memberships = map[int64]Role{}
	}
	u.Memberships[e.Tenant] = e.Role
	return u
}

func (e MembershipRevoked) evolve(u User) User {
	u.Memberships = maps.Clone(u.Memberships)
	delete(u.Memberships, e.Tenant)
	return u
}

func (e TenantActivated) evolve(u User) User { u.ActiveTenant = e.Tenant; return u }
func (PasswordChanged) evolve(u User) User   { u.HasPassword = true; return u.signedOut() }
func (Deactivated) evolve(u User) User       { u.Active = false; return u.signedOut() }

// signedOut is the user whose sessions and tokens are over.
func (u User) signedOut() User { u.SessionVersion++; return u }
