package account_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/domaintest"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ana  = uuid.MustParse("0a7a0d6e-0000-4000-8000-00000000000a")

	open = account.Open{
		User: 12, SubjectID: ana, Email: "ana@example.com", Name: "Ana Ruiz", Language: "es", For: "order:6f1c", At: noon,
	}
	opened    = account.Opened{SubjectID: ana, Email: "ana@example.com", Name: "Ana Ruiz", Language: "es", For: "order:6f1c", At: noon}
	granted   = account.MembershipGranted{Tenant: 17, Role: account.Admin, At: noon}
	activated = account.TenantActivated{Tenant: 17, At: noon}
	second    = account.MembershipGranted{Tenant: 18, Role: account.Member, At: noon}
	gone      = account.Deactivated{At: noon}
)

const noUser = "No User matches the given query."

func given(t *testing.T, history ...account.Event) *domaintest.Story[account.User, account.Command, account.Event] {
	return domaintest.Given(t, account.Decider, history)
}

func TestAnAccountIsOpenedOnce(t *testing.T) {
	given(t).When(open).Then(opened)
	given(t, opened).When(open).Then() // the order's run repeats itself
	other := open
	other.For = ""
	given(t, opened).When(other).ThenRefused(domain.Conflict, "The user exists.")
}

func TestTheFirstTenantBecomesTheActiveOne(t *testing.T) {
	grant := account.GrantMembership{User: 12, Tenant: 17, Role: account.Admin, At: noon}
	given(t, opened).When(grant).Then(granted, activated)
	given(t, opened, granted, activated).When(grant).Then()
	given(t, opened, granted, activated).When(account.GrantMembership{User: 12, Tenant: 18, Role: account.Member, At: noon}).Then(second)
	given(t, opened, granted, activated, second).When(
		account.GrantMembership{User: 12, Tenant: 19, Role: account.Member, Seen: []int64{17, 18}, At: noon},
	).
		Then(account.MembershipGranted{Tenant: 19, Role: account.Member, At: noon})
	for _, seen := range [][]int64{{}, {17}, {17, 19}} { // others have come since
		given(t, opened, granted, activated, second).When(
			account.GrantMembership{User: 12, Tenant: 19, Role: account.Member, Seen: seen, At: noon},
		).
			ThenRefused(domain.Conflict, "The user's tenants have changed in the meantime.")
	}
	grant.Role = account.Member
	given(t, opened, granted, activated).When(grant).Then(account.MembershipGranted{Tenant: 17, Role: account.Member, At: noon})
	grant.Role = "owner"
	given(t, opened).When(grant).ThenRefused(domain.Invalid, `role: "owner" is not a valid choice.`)
	given(t).When(grant).ThenRefused(domain.NotFound, noUser)
	given(t, opened, gone).When(grant).ThenRefused(domain.NotFound, noUser)
}

func TestWhoLeavesTheActiveTenantActsForAnother(t *testing.T) {
	revoke := account.RevokeMembership{User: 12, Tenant: 17, At: noon}
	revoked := account.MembershipRevoked{Tenant: 17, At: noon}
	given(t, opened, granted, activated).When(revoke).Then(revoked, account.TenantActivated{At: noon})
	given(t, opened, granted, activated, second).When(revoke).Then(revoked, account.TenantActivated{Tenant: 18, At: noon})
	given(t, opened, granted, activated, second).When(account.RevokeMembership{User: 12, Tenant: 18, At: noon}).
		Then(account.MembershipRevoked{Tenant: 18, At: noon})
	given(t, opened).When(revoke).Then()
	given(t).When(revoke).ThenRefused(domain.NotFound, noUser)
}

func TestOnlyAnOwnTenantBecomesActive(t *testing.T) {
	activate := account.ActivateTenant{User: 12, Tenant: 18, At: noon}
	given(t, opened, granted, activated).When(activate).
		ThenRefused(domain.Invalid, `active_tenant: Invalid pk "18" - object does not exist.`)
	given(t, opened, granted, activated, second).When(activate).Then(account.TenantActivated{Tenant: 18, At: noon})
	given(t, opened, granted, activated).When(account.ActivateTenant{User: 12, Tenant: 17, At: noon}).Then()
	given(t, opened, granted, activated).When(account.ActivateTenant{User: 12, At: noon}).Then(account.TenantActivated{At: noon})
	root := opened
	root.Superuser = true
	given(t, root).When(activate).Then(account.TenantActivated{Tenant: 18, At: noon})
	given(t, root, gone).When(activate).ThenRefused(domain.NotFound, noUser)
}

func TestAPasswordIsOnlySaidToHaveChanged(t *testing.T) {
	given(t, opened).When(account.ChangePassword{User: 12, At: noon}).Then(account.PasswordChanged{At: noon})
	given(t, opened, gone).When(account.ChangePassword{User: 12, At: noon}).ThenRefused(domain.NotFound, noUser)
}

func TestAnAccountIsDeactivatedOnce(t *testing.T) {
	given(t, opened).When(account.Deactivate{User: 12, At: noon}).Then(gone)
	given(t, opened, gone).When(account.Deactivate{User: 12, At: noon}).Then()
	given(t).When(account.Deactivate{User: 12, At: noon}).ThenRefused(domain.NotFound, noUser)
	if u := account.Decider.Replay(opened, gone); u.Active || !u.Exists {
		t.Errorf("%+v", u)
	}
}

func TestStatesDoNotShareMemberships(t *testing.T) {
	before := account.Decider.Replay(opened, granted)
	account.Decider.Evolve(before, second)
	account.Decider.Evolve(before, account.MembershipRevoked{Tenant: 17})
	if len(before.Memberships) != 1 {
		t.Errorf("%v", before.Memberships)
	}
}

func TestEventsAreReadForever(t *testing.T) {
	domaintest.Golden(t, account.EventTypes,
		opened, granted, account.MembershipRevoked{Tenant: 17, At: noon}, activated, account.PasswordChanged{At: noon}, gone,
		account.Reactivated{At: noon}, profile, account.SuperuserGranted{At: noon}, account.SuperuserRevoked{At: noon},
		account.SessionsEnded{At: noon}, account.LinkRequested{Link: account.Reset, At: noon},
		account.JoiningOffered{Order: ana, At: noon}, account.SubjectErased{Subject: ana, At: noon},
		account.AddressRefused{Code: "recipient_refused", At: noon}, account.AddressAccepted{At: noon},
		factorOn, account.SecondFactorDisabled{Reason: "The telephone is lost.", At: noon}, account.RecoveryCodesRenewed{At: noon},
		account.SignedIn{SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughPage, At: noon},
		account.SignInRefused{SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughToken, At: noon},
		account.TokenReused{Family: ana, At: noon}, account.AccessDenied{Method: "GET", Route: "/operations/api/v1/users/{id}/", At: noon},
		account.KeyUsedFromNewOrigin{Key: "ab12CD34", Origin: "https://shop.example.com", At: noon})
	personal := domain.NewCatalogue(account.EventTypes).Personal("account.opened")
	if len(personal) != 2 || personal["email"] != domain.Contact || personal["name"] != domain.Contact {
		t.Errorf("sealed: %v", personal)
	}
}

// Names of streams never hold personal data.
func TestAStreamIsNamedByNumber(t *testing.T) {
	if name := open.Stream().String(); name != "user-12" {
		t.Error(name)
	}
}
