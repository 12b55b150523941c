package assembly_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/projections"
	"hostpanel/sagas"
)

const goodPassword = "Tr0ub4dor & 3 caballos"

// someone is an account to be opened.
func (w *world) someone(user int64, email, language string) account.Open {
	return account.Open{User: user, SubjectID: mustSubject(w, email), Email: email, Name: "Ana Ruiz", Language: language, At: w.Now()}
}

// opens opens an account with a password, so that no mail goes out.
func (w *world) opens(user int64, email, language string) {
	w.t.Helper()
	w.must(w.Accounts.Open(w.t.Context(), domain.Metadata{Actor: "operator:1"}, w.someone(user, email, language), goodPassword))
}

// mailed waits for the n-th mail to an address.
func (w *world) mailed(address string, n int) notice.Mail {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s has %d mails", address, n), func() bool { return len(w.mail.to(address)) >= n })
	return w.mail.to(address)[n-1]
}

// tokenIn is the secret of the link in a mail.
func tokenIn(t *testing.T, m notice.Mail) string {
	t.Helper()
	_, rest, found := strings.Cut(m.Text, "http://127.0.0.1:8080/set-password/?token=")
	token, _, _ := strings.Cut(rest, "\n")
	if !found || len(token) < 43 {
		t.Fatalf("the mail has no link: %s", m.Text)
	}
	return token
}

// ended waits for the end of all runs that send mails, and tells how those
// ended that sent none.
func (w *world) ended() (codes []string) {
	w.t.Helper()
	w.eventually("all mails are dealt with", func() bool {
		// In one look: an answered request becomes a run in one transaction.
		return w.count(`select (select count(*) from saga_run where status <> 'done') + (select count(*) from reset_request)`) == 0
	})
	rows, err := w.pool.Query(w.t.Context(), `select data ->> 'code' from events where name = 'saga.step_deferred' and saga like 'mail:u/%' order by position`)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var code string
		w.must(rows.Scan(&code))
		codes = append(codes, code)
	}
	return codes
}

func (w *world) dead(token string) bool {
	w.t.Helper()
	_, err := w.Accounts.TokenUser(w.t.Context(), token)
	if err != nil && (domain.CodeOf(err) != domain.NotFound || err.Error() != "This link is no longer valid.") {
		w.t.Fatal(err)
	}
	return err != nil
}

func TestWhoIsInvitedChoosesAPasswordOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	a := w.Accounts
	for i, language := range []string{"es", "en"} {
		user, email := int64(i+1), language+"@example.com"
		w.must(a.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, w.someone(user, email, language), "",
			account.GrantMembership{User: user, Tenant: 17, Role: account.Member, At: w.Now()}))
		m := w.mailed(email, 1)
		w.equal("subject", m.Subject, map[string]string{"es": "Su cuenta está lista", "en": "Your account is ready"}[language])
		w.equal("to", m.To, `"Ana Ruiz" <`+email+`>`)
		token := tokenIn(t, m)
		w.must(a.Set(t.Context(), domain.Metadata{Actor: "user:1"}, token, goodPassword))
		is, err := w.vault().CheckPassword(t.Context(), user, goodPassword)
		w.must(err)
		w.equal("the password is theirs", is, true)
		if err := a.Set(t.Context(), domain.Metadata{Actor: "user:1"}, token, "another good one"); domain.CodeOf(err) != domain.NotFound {
			t.Errorf("a link worked twice: %v", err)
		}
		w.equal("in the log", w.count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	}
	w.ended()
	w.equal("secrets that wait for mails", w.count(`select count(*) from secret_handoff`), 0)
}

func TestWhoGetsAPasswordGetsNoMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	w.opens(1, "ana@example.com", "es")
	w.equal("runs", w.count(`select count(*) from saga_run`), 0)
	is, err := w.vault().CheckPassword(t.Context(), 1, goodPassword)
	w.must(err)
	w.equal("the password is theirs", is, true)
}

func TestANewPasswordEndsLinksAndComesWithMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.opens(1, "ana@example.com", "es")
	link, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, false)
	w.must(err)
	foreign := account.ActivateTenant{User: 1, Tenant: 99, At: w.Now()}
	if err := w.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "a password of mine", foreign); domain.CodeOf(err) != domain.Invalid {
		t.Fatalf("all or nothing: %v", err)
	}
	is, err := w.vault().CheckPassword(t.Context(), 1, goodPassword)
	w.must(err)
	w.equal("the old password", is && !w.dead(link.Token), true)
	w.must(w.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "a password of mine"))
	is, err = w.vault().CheckPassword(t.Context(), 1, "a password of mine")
	w.must(err)
	w.equal("the new password", is && w.dead(link.Token), true)
}

func TestALinkOfAnOperatorIsHandedOverOrMailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	w.opens(1, "ana@example.com", "en")
	handed, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 1, false)
	w.must(err)
	if left := time.Until(handed.ExpiresAt); left < w.times.LinkLife-time.Minute || left > w.times.LinkLife {
		t.Errorf("it lives %s", left)
	}
	w.equal("runs", w.count(`select count(*) from saga_run`), 0)
	w.equal("events", w.count(`select count(*) from events where name = 'account.link_requested' and actor = 'operator:7'`), 1)
	sent, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 1, true)
	w.must(err)
	w.equal("the mailed link", tokenIn(t, w.mailed("ana@example.com", 1)), sent.Token)
	w.equal("the older link has ended, the newer works", w.dead(handed.Token) && !w.dead(sent.Token), true)
	if _, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 99, false); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("a link for an unknown user: %v", err)
	}
}

// Pending mails to an erased person end without an operator.
func TestAPersonWhoIsErasedGetsNoMoreMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := make(chan struct{}, 100)
	w.mail.tell(func(_, _ string) error {
		refused <- struct{}{}
		return domain.Fail(domain.Transient, "busy", errors.New("come back later"))
	}, nil)
	w.opens(1, "root@example.com", "en")
	order := w.place(ordering{email: "ana@example.com"})
	w.must(w.webhook("evt_before", order))
	w.opens(2, "ana@example.com", "es")
	link, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 2, true)
	w.must(err)
	w.goes()
	<-refused
	w.eventually("the webhook is done", func() bool {
		return w.count(`select count(*) from webhook_inbox where state = 'done' and body is not null`) == 1
	})
	w.must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	w.must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	w.must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	// An attempt that had begun before the erasure finds its link over.
	if ended := w.ended(); len(ended) != 1 || ended[0] != "no_account" && ended[0] != "link_over" {
		t.Errorf("the mail ended as %v", ended)
	}
	w.equal("mails", len(w.mail.to("ana@example.com")), 0)
	w.equal("the link works", w.dead(link.Token), true)
	w.equal("secrets left", w.count(`select count(*) from secret_handoff`), 0)
	w.equal("bodies of webhooks left", w.count(`select count(*) from webhook_inbox where body is not null`), 0)
	is, err := w.vault().CheckPassword(t.Context(), 2, goodPassword)
	w.must(err)
	w.equal("the password works", is, false)
	user, err := w.tables.For(projections.System).User(t.Context(), 2)
	w.must(err)
	w.equal("what is left of the person", fmt.Sprint(user.Email, user.Name, user.IsActive), "false")
	if err := w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 99); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("the erasure has failed: %v", err)
	}
	w.parked(order)
}

// parked waits until the run of an order is parked. An order whose customer is
// erased before the payment opens no account.
func (w *world) parked(id uuid.UUID) {
	w.t.Helper()
	w.paid(id)
	w.eventually("its run is parked", func() bool { return w.provision(id).Status == sagas.StatusParked })
	w.equal("why", w.count(`select count(*) from events where name = 'saga.parked' and data ->> 'code' = 'no_address'`), 1)
	w.equal("accounts without an address", w.count(`select count(*) from users where email = '' and id <> 2`), 0)
}

// An erasure covers all former addresses of a person, except those that belong to
// another person by now.
func TestAnAddressThatHasPassedOnStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.opens(1, "first@example.com", "en")
	for _, email := range []string{"second@example.com", "third@example.com"} {
		_, err := w.store.Execute(t.Context(), domain.Metadata{Actor: "user:1"}, account.ChangeProfile{
			User: 1, SubjectID: mustSubject(w, email), Email: email, Name: "Ana", Language: "en", At: w.Now(),
		})
		w.must(err)
	}
	w.opens(2, "first@example.com", "en")
	w.must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 1))
	w.equal("people forgotten", w.count(`select count(*) from events where name = 'subject.erased'`), 2)
	left, err := w.tables.For(projections.System).User(t.Context(), 2)
	w.must(err)
	w.equal("the new owner", left.Email, "first@example.com")
	gone, err := w.tables.For(projections.System).User(t.Context(), 1)
	w.must(err)
	w.equal("the old one", gone.Email+gone.Name, "")
}
