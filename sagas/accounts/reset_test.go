package accounts_test

import (
	"slices"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/compute"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// watched is a process that records its statements. It has no workers.
func watched(w *sagastest.World) (*assembly.Panel, *eventstoretest.Witness) {
	w.T.Helper()
	seen := &eventstoretest.Witness{}
	pool := eventstoretest.Traced(w.T, w.Pool, 1, &eventstoretest.Tracer{Statement: seen.Note})
	store := sagastest.LogOn(pool, eventstoretest.Keys(w.T))
	return assembly.New(assembly.Options{
		Store: store, Log: w.Runner.Log(), Tables: projections.Open(pool), Engine: w.Engine,
		Compute: compute.Fleet{w.Compute}, Mail: w.Mail,
		MailFrom: sagastest.PanelAddress, PublicURL: sagastest.PanelURL, Times: sagastest.Quick,
	}), seen
}

func TestAskingForANewPasswordTellsNothing(t *testing.T) {
	w := sagastest.NewWorld(t)
	w.Opens(1, "ana@example.com", "es")
	w.Opens(2, "bob@example.com", "en-GB")
	w.Opens(3, "gone@example.com", "en")
	_, err := w.Store.Execute(t.Context(), domain.Metadata{Actor: "operator:1"}, account.Deactivate{User: 3, At: w.Runner.Now()})
	w.Must(err)
	s, seen := watched(w)
	w.Must(s.Accounts.AskReset(t.Context(), "first@example.com")) // the connection learns the statements
	seen.Taken()
	hashes := credentials.PasswordHashes()
	var before []string
	for _, email := range []string{"ana@example.com", "nobody@example.com", " BOB@Example.COM", "gone@example.com", "no address at all"} {
		w.Must(s.Accounts.AskReset(t.Context(), email))
		work := seen.Taken()
		if before != nil && !slices.Equal(work, before) || len(work) != 2 {
			t.Errorf("%s: %q, others %q", email, work, before)
		}
		before = work
	}
	w.Equal("hashes of passwords", credentials.PasswordHashes()-hashes, 0)
	w.Equal("addresses in clear text", w.Count(`select count(*) from reset_request where encode(sealed, 'escape') like '%example%'`), 0)

	w.Goes()
	w.Ended()
	w.Equal("mails to Ana", w.Mailed("ana@example.com", 1).Subject, "Elija una contraseña nueva")
	w.Equal("mails to Bob", w.Mailed("bob@example.com", 1).Subject, "Choose a new password")
	w.Equal("mails", len(w.Mail.To("ana@example.com"))+len(w.Mail.To("bob@example.com")), 2)
	w.Equal("mails to others", len(w.Mail.To("gone@example.com"))+len(w.Mail.To("nobody@example.com")), 0)
	w.Equal("events", w.Count(`select count(*) from events where name = 'account.link_requested' and actor = 'system:reset'`), 2)
}

func TestAnAddressGetsThreeMailsAnHour(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	for range 5 {
		w.Must(w.Accounts.AskReset(t.Context(), "nobody@example.com"))
		w.Must(w.Accounts.AskReset(t.Context(), "Nobody@Example.com "))
	}
	w.Equal("requests without a user", w.Count(`select count(*) from reset_request`), 3)
	w.Opens(1, "ana@example.com", "es")
	w.Goes()
	for i := range 5 {
		w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
		if i < 3 {
			w.Mailed("ana@example.com", i+1)
		}
	}
	w.Ended()
	mails := w.Mail.To("ana@example.com")
	w.Equal("mails", len(mails), 3)
	for i, m := range mails {
		w.Equal("the link has ended", w.Dead(sagastest.TokenIn(t, m)), i < 2)
	}
}

func TestAHundredRequestsAtOnceLeaveOneLink(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Opens(1, "ana@example.com", "es")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := w.Accounts.AskReset(t.Context(), "ana@example.com"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.Ended()
	w.Equal("links asked for", w.Count(`select count(*) from events where name = 'account.link_requested'`), 3)
	mails := w.Mail.To("ana@example.com")
	living := 0
	for _, m := range mails {
		if !w.Dead(sagastest.TokenIn(t, m)) {
			living++
		}
	}
	if len(mails) > 3 || living != 1 {
		t.Errorf("%d mails, %d links work", len(mails), living)
	}
}
