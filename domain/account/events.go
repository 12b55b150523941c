package account

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// EventTypes lists every event about users: of their streams, of their security
// journals, and of people whose data was erased.
var EventTypes = []domain.EventType{
	domain.Register[Opened]().Sealing(domain.Contact, "email", "name"),
	domain.Register[MembershipGranted](),
	domain.Register[MembershipRevoked](),
	domain.Register[TenantActivated](),
	domain.Register[PasswordChanged](),
	domain.Register[Deactivated](),

	domain.Register[Reactivated](),
	domain.Register[ProfileChanged]().Sealing(domain.Contact, "email", "name"),
	domain.Register[SuperuserGranted](),
	domain.Register[SuperuserRevoked](),
	domain.Register[SessionsEnded](),
	domain.Register[LinkRequested](),
	domain.Register[JoiningOffered](),
	domain.Register[AddressRefused](),
	domain.Register[AddressAccepted](),
	domain.Register[SecondFactorEnabled](),
	domain.Register[SecondFactorDisabled](),
	domain.Register[RecoveryCodesRenewed](),

	domain.Register[SubjectErased](),

	domain.Register[SignedIn]().Sealing(domain.Contact, "ip"),
	domain.Register[SignInRefused]().Sealing(domain.Contact, "ip"),
	domain.Register[TokenReused](),
	domain.Register[AccessDenied](),
	domain.Register[KeyUsedFromNewOrigin](),
}

type (
	// Opened: an account was opened, by an operator or for an order ("order:<uuid>").
	Opened struct {
		SubjectID uuid.UUID `json:"subject"`
		Email     string    `json:"email"`
		Name      string    `json:"name"`
		Language  string    `json:"language"`
		Superuser bool      `json:"superuser"`
		For       string    `json:"for,omitempty"`
		At        time.Time `json:"at"`
	}
	// MembershipGranted: the user belongs to a tenant, in a role that may have changed.
	MembershipGranted struct {
		Tenant int64     `json:"tenant"`
		Role   Role      `json:"role"`
		At     time.Time `json:"at"`
	}
	// MembershipRevoked: the user no longer belongs to a tenant.
	MembershipRevoked struct {
		Tenant int64     `json:"tenant"`
		At     time.Time `json:"at"`
	}
	// TenantActivated: the user acts for another tenant.
	TenantActivated struct {
		Tenant  int64     `json:"tenant"`            // 0: none
		Through int64     `json:"through,omitempty"` // whose sub-tenant it is, which the user administers
		At      time.Time `json:"at"`
	}
	// PasswordChanged: a password was set or changed. Its hash stands beside the log.
	PasswordChanged struct {
		At time.Time `json:"at"`
	}
	// Deactivated: the account has ended; the user cannot sign in any more.
	Deactivated struct {
		At time.Time `json:"at"`
	}
)

func (Opened) EventName() string            { return "account.opened" }
func (MembershipGranted) EventName() string { return "account.membership_granted" }
func (MembershipRevoked) EventName() string { return "account.membership_revoked" }
func (TenantActivated) EventName() string   { return "account.tenant_activated" }
func (PasswordChanged) EventName() string   { return "account.password_changed" }
func (Deactivated) EventName() string       { return "account.deactivated" }

func (e Opened) Says() string {
	superuser := ""
	if e.Superuser {
		superuser = ", superuser"
	}
	return "account opened" + wording.Around(" for ", cmp.Or(e.Name, e.Email), "") + superuser + wording.Around(" (", e.For, ")")
}

func (e MembershipGranted) Says() string { return fmt.Sprintf("is %s of tenant %d", e.Role, e.Tenant) }
func (e MembershipRevoked) Says() string { return fmt.Sprintf("has left tenant %d", e.Tenant) }

func (e TenantActivated) Says() string {
	if e.Tenant == 0 {
		return "acts for no tenant"
	}
	return fmt.Sprintf("acts for tenant %d", e.Tenant)
}

func (PasswordChanged) Says() string { return "has a new password" }
func (Deactivated) Says() string     { return "account closed" }

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

func (e TenantActivated) evolve(u User) User {
	u.ActiveTenant, u.Through = e.Tenant, e.Through
	return u
}

func (PasswordChanged) evolve(u User) User { u.HasPassword = true; return u.signedOut() }
func (Deactivated) evolve(u User) User     { u.Active = false; return u.signedOut() }

// signedOut is the user whose sessions and tokens are over.
func (u User) signedOut() User { u.SessionVersion++; return u }
