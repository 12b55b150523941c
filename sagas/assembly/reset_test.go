package assembly_test

import (
	"slices"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// watched is a process that records its statements. It has no workers.
func (w *world) watched() (*assembly.Panel, *eventstoretest.Witness) {
	w.t.Helper()
	seen := &eventstoretest.Witness{}
	pool := eventstoretest.Traced(w.t, w.pool, 1, &eventstoretest.Tracer{Statement: seen.Note})
	store := logOn(pool, eventstoretest.Keys(w.t))
	return assembly.New(assembly.Options{
		Store: store, Log: w.Log(), Tables: projections.Open(pool), Engine: w.engine, Compute: w.compute, Mail: w.mail,
		MailFrom: panelAddress, PublicURL: panelURL, Times: quick,
	}), seen
}

func TestAskingForANewPasswordTellsNothing(t *testing.T) {
	w := newWorld(t)
	w.opens(1, "ana@example.com", "es")
	w.opens(2, "bob@example.com", "en-GB")
	w.opens(3, "gone@example.com", "en")
	_, err := w.store.Execute(t.Context(), domain.Metadata{Actor: "operator:1"}, account.Deactivate{User: 3, At: w.Now()})
	w.must(err)
	s, seen := w.watched()
	w.must(s.Accounts.AskReset(t.Context(), "first@example.com")) // the connection learns the statements
	seen.Taken()
	hashes := credentials.PasswordHashes()
	var before []string
	for _, email := range []string{"ana@example.com", "nobody@example.com", " BOB@Example.COM", "gone@example.com", "no address at all"} {
		w.must(s.Accounts.AskReset(t.Context(), email))
		work := seen.Taken()
		if before != nil && !slices.Equal(work, before) || len(work) != 2 {
			t.Errorf("%s: %q, others %q", email, work, before)
		}
		before = work
	}
	w.equal("hashes of passwords", credentials.PasswordHashes()-hashes, 0)
	w.equal("addresses in clear text", w.count(`select count(*) from reset_request where encode(sealed, 'escape') like '%example%'`), 0)

	w.goes()
	w.ended()
	w.equal("mails to Ana", w.mailed("ana@example.com", 1).Subject, "Elija una contraseña nueva")
	w.equal("mails to Bob", w.mailed("bob@example.com", 1).Subject, "Choose a new password")
	w.equal("mails", len(w.mail.to("ana@example.com"))+len(w.mail.to("bob@example.com")), 2)
	w.equal("mails to others", len(w.mail.to("gone@example.com"))+len(w.mail.to("nobody@example.com")), 0)
	w.equal("events", w.count(`select count(*) from events where name = 'account.link_requested' and actor = 'system:reset'`), 2)
}

func TestAnAddressGetsThreeMailsAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		w.must(w.Accounts.AskReset(t.Context(), "nobody@example.com"))
		w.must(w.Accounts.AskReset(t.Context(), "Nobody@Example.com "))
	}
	w.equal("requests without a user", w.count(`select count(*) from reset_request`), 3)
	w.opens(1, "ana@example.com", "es")
	w.goes()
	for i := range 5 {
		w.must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
		if i < 3 {
			w.mailed("ana@example.com", i+1)
		}
	}
	w.ended()
	mails := w.mail.to("ana@example.com")
	w.equal("mails", len(mails), 3)
	for i, m := range mails {
		w.equal("the link has ended", w.dead(tokenIn(t, m)), i < 2)
	}
}

func TestAHundredRequestsAtOnceLeaveOneLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	w.opens(1, "ana@example.com", "es")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := w.Accounts.AskReset(t.Context(), "ana@example.com"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.ended()
	w.equal("links asked for", w.count(`select count(*) from events where name = 'account.link_requested'`), 3)
	mails := w.mail.to("ana@example.com")
	living := 0
	for _, m := range mails {
		if !w.dead(tokenIn(t, m)) {
			living++
		}
	}
	if len(mails) > 3 || living != 1 {
		t.Errorf("%d mails, %d links work", len(mails), living)
	}
}

// A request that is sealed with a missing key is dropped with an alarm, and does not
// block others.
func TestARequestThatCannotBeReadIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.opens(1, "ana@example.com", "es")
	w.must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	_, err := w.pool.Exec(t.Context(), `update reset_request set key_id = 'gone', next_at = now() - interval '1 minute'`)
	w.must(err)
	w.must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	w.goes()
	w.ended()
	w.equal("mails", len(w.mail.to("ana@example.com")), 1)
	w.equal("alarm", w.warned("cannot be read"), true)
}
