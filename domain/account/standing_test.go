package account_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

var (
	profile = account.ProfileChanged{SubjectID: ana, Email: "ana@example.org", Name: "Ana R. Ruiz", Language: "en", At: noon}
	root    = account.Opened{SubjectID: ana, Email: "ana@example.com", Superuser: true, At: noon}
)

func TestAProfileIsChangedAsAWhole(t *testing.T) {
	change := account.ChangeProfile{User: 12, SubjectID: ana, Email: "ana@example.org", Name: "Ana R. Ruiz", Language: "en", At: noon}
	given(t, opened).When(change).Then(profile)
	given(t, opened, gone).When(change).Then(profile) // by an operator
	given(t).When(change).ThenRefused(domain.NotFound, noUser)
}

func TestAUserBecomesASuperuserAndStopsBeingOne(t *testing.T) {
	grant, revoke := account.GrantSuperuser{User: 12, At: noon}, account.RevokeSuperuser{User: 12, At: noon}
	given(t, opened).When(grant).Then(account.SuperuserGranted{At: noon})
	given(t, root).When(grant).Then()
	given(t, root).When(revoke).Then(account.SuperuserRevoked{At: noon})
	given(t, opened).When(revoke).Then()
	given(t).When(grant).ThenRefused(domain.NotFound, noUser)
	given(t).When(revoke).ThenRefused(domain.NotFound, noUser)
}

func TestWhoIsNoSuperuserAnyMoreActsForAnOwnTenant(t *testing.T) {
	revoke, revoked := account.RevokeSuperuser{User: 12, At: noon}, account.SuperuserRevoked{At: noon}
	foreign := account.TenantActivated{Tenant: 99, At: noon}
	given(t, root, foreign).When(revoke).Then(revoked, account.TenantActivated{At: noon})
	given(t, root, granted, foreign).When(revoke).Then(revoked, activated)
	given(t, root, granted, activated).When(revoke).Then(revoked)
}

func TestAnAccountIsOpenedAgain(t *testing.T) {
	reactivate := account.Reactivate{User: 12, At: noon}
	given(t, opened, gone).When(reactivate).Then(account.Reactivated{At: noon})
	given(t, opened).When(reactivate).Then()
	given(t).When(reactivate).ThenRefused(domain.NotFound, noUser)
	if u := account.Decider.Replay(opened, gone, account.Reactivated{At: noon}); !u.Active {
		t.Errorf("%+v", u)
	}
}

func TestALinkIsForOneOfTwoThings(t *testing.T) {
	ask := account.RequestLink{User: 12, Link: account.Welcome, At: noon}
	given(t, opened).When(ask).Then(account.LinkRequested{Link: account.Welcome, At: noon})
	given(t, opened, gone).When(ask).ThenRefused(domain.NotFound, noUser)
	ask.Link = "party"
	given(t, opened).When(ask).ThenRefused(domain.Invalid, `link: "party" is not a valid choice.`)
}

func TestAUserIsAskedWhichTenantAnOrderJoins(t *testing.T) {
	ask := account.OfferJoining{User: 12, Order: ana, At: noon}
	given(t, opened).When(ask).Then(account.JoiningOffered{Order: ana, At: noon})
	given(t, opened, gone).When(ask).ThenRefused(domain.NotFound, noUser)
}

func TestWhatEndsSessionsRaisesTheirVersion(t *testing.T) {
	given(t, opened).When(account.EndSessions{User: 12, At: noon}).Then(account.SessionsEnded{At: noon})
	given(t, opened, gone).When(account.EndSessions{User: 12, At: noon}).ThenRefused(domain.NotFound, noUser)
	for _, c := range []struct {
		history []account.Event
		version int
	}{
		{[]account.Event{opened}, 1},
		{[]account.Event{opened, account.PasswordChanged{}}, 2},
		{[]account.Event{opened, account.SessionsEnded{}, account.SessionsEnded{}}, 3},
		{[]account.Event{opened, gone, account.Reactivated{}}, 2},
		{[]account.Event{root, account.SuperuserRevoked{}, account.SuperuserGranted{}}, 2},
		{[]account.Event{opened, granted, activated, profile, account.LinkRequested{}}, 1},
	} {
		if u := account.Decider.Replay(c.history...); u.SessionVersion != c.version {
			t.Errorf("%v: %d, want %d", c.history, u.SessionVersion, c.version)
		}
	}
}

func TestAPersonIsErasedOnce(t *testing.T) {
	erase := account.EraseSubject{Subject: ana, At: noon}
	erased := account.SubjectErased{Subject: ana, At: noon}
	if name := erase.Stream().String(); name != "subject-"+ana.String() {
		t.Error(name)
	}
	facts, err := account.Subjects.Decide(account.Subject{}, erase)
	if err != nil || len(facts) != 1 || facts[0] != erased {
		t.Fatal(facts, err)
	}
	if facts, err = account.Subjects.Decide(account.Subjects.Replay(erased), erase); err != nil || len(facts) != 0 {
		t.Fatal(facts, err)
	}
}

// Addresses of the internet tell where a person is; nothing else in the
// journal is personal.
func TestAJournalTakesWhateverIsNoted(t *testing.T) {
	notes := map[account.Note]account.SecurityEvent{
		account.NoteSignIn{User: 12, SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughPage, At: noon}: account.SignedIn{
			SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughPage, At: noon,
		},
		account.NoteRefusal{User: 12, SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughToken, At: noon}: account.SignInRefused{
			SubjectID: ana, IP: "192.0.2.7", Through: account.ThroughToken, At: noon,
		},
		account.NoteReuse{User: 12, Family: ana, At: noon}: account.TokenReused{Family: ana, At: noon},
		account.NoteDenied{User: 12, Method: "GET", Route: "/metrics", At: noon}: account.AccessDenied{
			Method: "GET", Route: "/metrics", At: noon,
		},
		account.NoteKeyOrigin{User: 12, Key: "ab12CD34", Origin: "https://shop.example.com", At: noon}: account.KeyUsedFromNewOrigin{
			Key: "ab12CD34", Origin: "https://shop.example.com", At: noon,
		},
	}
	for note, want := range notes {
		facts, err := account.Security.Decide(account.Journal{}, note)
		if err != nil || len(facts) != 1 || facts[0] != want || note.Stream().String() != "security-12" {
			t.Errorf("%+v: %v %v", note, facts, err)
		}
	}
	catalogue := domain.NewCatalogue(account.EventTypes)
	for _, name := range []string{"security.signed_in", "security.sign_in_refused"} {
		if sealed := catalogue.Personal(name); len(sealed) != 1 || sealed["ip"] != domain.Contact {
			t.Error(name, sealed)
		}
	}
}
