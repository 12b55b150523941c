package projections

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

func (p *panel) identity(t testing.TB, user int64) Identity {
	t.Helper()
	who, found, err := p.For(System).Accounts().Identity(t.Context(), user)
	if !found || err != nil {
		t.Fatal(found, err)
	}
	return who
}

func TestOneReadTellsWhoCallsAndForWhom(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Five", "five"), tenant(6, "Six", "six"), open(1, "ana@example.com"))
	if who := p.identity(t, 1); who.ActiveTenant != nil || who.Role != "" || who.SessionVersion != 1 ||
		who.PasswordVersion != 0 || who.LastLoginAt != nil {
		t.Fatal(who)
	}
	p.do(t, account.GrantMembership{User: 1, Tenant: 5, Role: account.Admin, At: noon})
	p.do(t, account.GrantMembership{User: 1, Tenant: 6, Role: account.Member, At: noon})
	if who := p.identity(t, 1); *who.ActiveTenant != 5 || who.Role != account.Admin {
		t.Fatal(who)
	}
	p.do(t, account.ActivateTenant{User: 1, Tenant: 6, At: noon})
	if who := p.identity(t, 1); *who.ActiveTenant != 6 || who.Role != account.Member {
		t.Fatal(who)
	}
	p.do(t, account.RevokeMembership{User: 1, Tenant: 6, At: noon}, account.RevokeMembership{User: 1, Tenant: 5, At: noon})
	if who := p.identity(t, 1); who.ActiveTenant != nil || who.Role != "" {
		t.Fatal(who)
	}
	if _, found, err := p.For(System).Accounts().Identity(t.Context(), 99); found || err != nil {
		t.Fatal(found, err)
	}
}

func TestASuperuserActsForAnyTenant(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, root(1, "a@example.com"), root(2, "b@example.com"), tenant(5, "Five", "five"))
	p.do(t, account.ActivateTenant{User: 1, Tenant: 5, At: noon})
	if who := p.identity(t, 1); *who.ActiveTenant != 5 || who.Role != "" || !who.IsSuperuser {
		t.Fatal(who)
	}
	p.do(t, account.RevokeSuperuser{User: 1, At: noon})
	if who := p.identity(t, 1); who.ActiveTenant != nil || who.IsSuperuser {
		t.Fatal(who)
	}
}

// A tenant that is in the bin or gone is never active: neither members nor
// superusers, and neither through what was known of them before.
func TestATenantThatIsNoMoreGrantsNothing(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Five", "five"), tenant(6, "Six", "six"), open(1, "ana@example.com"), root(9, "root@example.com"))
	p.do(t, account.GrantMembership{User: 1, Tenant: 5, Role: account.Admin, At: noon})
	p.do(t, account.GrantMembership{User: 1, Tenant: 6, Role: account.Member, At: noon})
	p.do(t, account.ActivateTenant{User: 9, Tenant: 5, At: noon})
	stands := func(user int64) bool {
		s := p.For(Caller{User: user, Tenant: 5}).Given(&CallerCheck{User: user, Tenant: 5, Session: 1})
		_, err := s.Accounts().User(t.Context(), user)
		_, holds := s.Holds(t.Context())
		return holds && err == nil
	}
	ref := hosting.Ref{Kind: "tenant", ID: 5}
	for _, c := range []struct {
		then   hosting.Command
		grants bool
	}{
		{hosting.Change{Ref: ref, Spec: field.Values{"status": []byte(`"suspended"`)}}, true},
		{hosting.MoveToBin{Ref: ref}, false},
		{hosting.Restore{Ref: ref}, true},
		{hosting.MoveToBin{Ref: ref}, false},
		{hosting.Remove{Ref: ref}, false},
		{hosting.Confirm{Ref: ref}, false},
	} {
		p.do(t, c.then)
		for _, user := range []int64{1, 9} {
			if who := p.identity(t, user); (who.ActiveTenant != nil) != c.grants || (who.Role == account.Admin) != (c.grants && user == 1) {
				t.Errorf("after %T: %+v", c.then, who)
			}
			if stands(user) != c.grants {
				t.Errorf("after %T user %d stands: %v", c.then, user, !c.grants)
			}
		}
		own, err := p.For(Caller{User: 1}).Accounts().Memberships(t.Context(), 1)
		if err != nil || len(own) != map[bool]int{true: 2, false: 1}[c.grants] {
			t.Errorf("after %T: %+v %v", c.then, own, err)
		}
	}
}

// The log and the table count the same.
func TestSessionsEndByTheirVersion(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, root(9, "root@example.com"), open(1, "ana@example.com"))
	for _, c := range []struct {
		then              account.Command
		session, password int
	}{
		{account.ChangePassword{User: 1, At: noon}, 2, 2},
		{account.EndSessions{User: 1, At: noon}, 3, 2},
		{account.GrantSuperuser{User: 1, At: noon}, 3, 2},
		{account.RevokeSuperuser{User: 1, At: noon}, 4, 2},
		{account.Deactivate{User: 1, At: noon}, 5, 2},
		{account.Reactivate{User: 1, At: noon}, 5, 2},
		{account.ChangePassword{User: 1, At: noon}, 6, 6},
		{account.RequestLink{User: 1, Link: account.Reset, At: noon}, 6, 6},
	} {
		p.do(t, c.then)
		who := p.identity(t, 1)
		u, version, err := eventstore.Fold(t.Context(), p.Store, account.Decider, account.Stream(1))
		if err != nil || who.SessionVersion != c.session || who.PasswordVersion != c.password ||
			u.SessionVersion != c.session || who.Version != version {
			t.Fatalf("%T: %+v %+v %d %v", c.then, who, u, version, err)
		}
	}
}

func TestTheLastSignInIsSeenWithoutAChangeOfTheUser(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"))
	before := p.identity(t, 1)
	p.do(t, account.NoteSignIn{User: 1, SubjectID: before.Subject, IP: "192.0.2.7", Through: account.ThroughToken, At: noon})
	p.do(t, account.NoteRefusal{User: 0, IP: "192.0.2.7", Through: account.ThroughToken, At: noon})
	after := p.identity(t, 1)
	if after.LastLoginAt == nil || after.Version != before.Version || after.UpdatedAt != before.UpdatedAt {
		t.Fatal(after)
	}
}

func TestAProfileTakesNoAddressOfOthers(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"), open(2, "eva@example.com"))
	change := account.ChangeProfile{User: 2, SubjectID: uuid.New(), Email: "ANA@example.com", Name: "Eva", Language: "en", At: noon}
	p.refused(t, "email", "user with this email already exists.", change)
	change.Email = "Eva@Example.com"
	p.do(t, change)
	if u, found, err := p.For(System).Accounts().UserByEmail(t.Context(), "eva@example.com"); err != nil || !found ||
		u.Name != "Eva" || u.Subject != change.SubjectID {
		t.Fatal(u, err)
	}
}

func TestWhoSeesWhichTenants(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Five", "five"), tenant(6, "Six", "six"), tenant(7, "Seven", "seven"), open(1, "ana@example.com"))
	p.do(t, account.GrantMembership{User: 1, Tenant: 5, Role: account.Admin, At: noon})
	p.do(t, account.GrantMembership{User: 1, Tenant: 6, Role: account.Member, At: noon})
	for _, c := range []struct {
		caller Caller
		sees   int64
	}{
		{Caller{User: 1, Tenant: 5}, 2},
		{Caller{User: 1, Tenant: 6}, 2},
		{Caller{User: 2}, 0},
		{Caller{}, 0},
		{Caller{KeyOwner: 1}, 0},
		{Caller{User: 9, Superuser: true}, 3},
		{System, 3},
	} {
		all, err := p.For(c.caller).Hosting().Tenants(t.Context(), Listing{})
		if err != nil || all.Count != c.sees || int64(len(all.Rows)) != c.sees {
			t.Errorf("%+v: %v %v", c.caller, all, err)
		}
		_, err = p.For(c.caller).Hosting().Tenant(t.Context(), 6)
		if (err == nil) != (c.sees > 0) {
			t.Errorf("%+v: %v", c.caller, err)
		}
		if _, err = p.For(c.caller).Hosting().Tenant(t.Context(), 7); (err == nil) != (c.sees > 2) {
			t.Errorf("%+v: %v", c.caller, err)
		}
	}
	p.do(t, account.RevokeMembership{User: 1, Tenant: 5, At: noon})
	if _, err := p.For(Caller{User: 1, Tenant: 6}).Hosting().Tenant(t.Context(), 5); err == nil ||
		err.Error() != "No Tenant matches the given query." {
		t.Fatal(err)
	}
}
