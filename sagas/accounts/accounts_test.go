package accounts_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestWhoIsInvitedChoosesAPasswordOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	a := w.Accounts
	for i, language := range []string{"es", "en"} {
		user, email := int64(i+1), language+"@example.com"
		w.Must(a.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, w.Someone(user, email, language), "",
			account.GrantMembership{User: user, Tenant: 17, Role: account.Member, At: w.Runner.Now()}))
		m := w.Mailed(email, 1)
		w.Equal("subject", m.Subject, map[string]string{"es": "Su cuenta está lista", "en": "Your account is ready"}[language])
		w.Equal("to", m.To, `"Ana Ruiz" <`+email+`>`)
		token := sagastest.TokenIn(t, m)
		w.Must(a.Set(t.Context(), domain.Metadata{Actor: "user:1"}, token, sagastest.GoodPassword))
		is, err := w.Vault().CheckPassword(t.Context(), user, sagastest.GoodPassword)
		w.Must(err)
		w.Equal("the password is theirs", is, true)
		if err := a.Set(t.Context(), domain.Metadata{Actor: "user:1"}, token, "another good one"); domain.CodeOf(err) != domain.NotFound {
			t.Errorf("a link worked twice: %v", err)
		}
		w.Equal("in the log", w.Count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	}
	w.Ended()
	w.Equal("secrets that wait for mails", w.Count(`select count(*) from secret_handoff`), 0)
}

func TestWhoGetsAPasswordGetsNoMail(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Opens(1, "ana@example.com", "es")
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 0)
	is, err := w.Vault().CheckPassword(t.Context(), 1, sagastest.GoodPassword)
	w.Must(err)
	w.Equal("the password is theirs", is, true)
}

func TestANewPasswordEndsLinksAndComesWithMore(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Opens(1, "ana@example.com", "es")
	link, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, false)
	w.Must(err)
	foreign := account.ActivateTenant{User: 1, Tenant: 99, At: w.Runner.Now()}
	err = w.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "a password of mine", foreign)
	if domain.CodeOf(err) != domain.Invalid {
		t.Fatalf("all or nothing: %v", err)
	}
	is, err := w.Vault().CheckPassword(t.Context(), 1, sagastest.GoodPassword)
	w.Must(err)
	w.Equal("the old password", is && !w.Dead(link.Token), true)
	w.Must(w.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "a password of mine"))
	is, err = w.Vault().CheckPassword(t.Context(), 1, "a password of mine")
	w.Must(err)
	w.Equal("the new password", is && w.Dead(link.Token), true)
}

func TestALinkOfAnOperatorIsHandedOverOrMailed(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Opens(1, "ana@example.com", "en")
	handed, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 1, false)
	w.Must(err)
	if left := time.Until(handed.ExpiresAt); left < w.Pace.LinkLife-time.Minute || left > w.Pace.LinkLife {
		t.Errorf("it lives %s", left)
	}
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 0)
	w.Equal("events", w.Count(`select count(*) from events where name = 'account.link_requested' and actor = 'operator:7'`), 1)
	sent, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 1, true)
	w.Must(err)
	w.Equal("the mailed link", sagastest.TokenIn(t, w.Mailed("ana@example.com", 1)), sent.Token)
	w.Equal("the older link has ended, the newer works", w.Dead(handed.Token) && !w.Dead(sent.Token), true)
	if _, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:7"}, 99, false); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("a link for an unknown user: %v", err)
	}
}

// Pending mails to an erased person end without an operator.
func TestAPersonWhoIsErasedGetsNoMoreMail(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	refused := make(chan struct{}, 100)
	w.Mail.Tell(func(_, _ string) error {
		refused <- struct{}{}
		return domain.Fail(domain.Transient, "busy", errors.New("come back later"))
	}, nil)
	w.Opens(1, "root@example.com", "en")
	order := w.Place(sagastest.OrderForm{Email: "ana@example.com"})
	w.Must(w.Webhook("evt_before", order))
	w.Opens(2, "ana@example.com", "es")
	link, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 2, true)
	w.Must(err)
	w.Goes()
	<-refused
	w.Eventually("the webhook is done", func() bool {
		return w.Count(`select count(*) from webhook_inbox where state = 'done' and body is not null`) == 1
	})
	w.Must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	w.Must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	// An attempt that had begun before the erasure finds its link over.
	if ended := w.Ended(); len(ended) != 1 || ended[0] != "no_account" && ended[0] != "link_over" {
		t.Errorf("the mail ended as %v", ended)
	}
	w.Equal("mails", len(w.Mail.To("ana@example.com")), 0)
	w.Equal("the link works", w.Dead(link.Token), true)
	w.Equal("secrets left", w.Count(`select count(*) from secret_handoff`), 0)
	w.Equal("bodies of webhooks left", w.Count(`select count(*) from webhook_inbox where body is not null`), 0)
	is, err := w.Vault().CheckPassword(t.Context(), 2, sagastest.GoodPassword)
	w.Must(err)
	w.Equal("the password works", is, false)
	user, err := w.Tables.For(projections.System).Accounts().User(t.Context(), 2)
	w.Must(err)
	w.Equal("what is left of the person", fmt.Sprint(user.Email, user.Name, user.IsActive), "false")
	if err := w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 99); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("the erasure has failed: %v", err)
	}
	parked(w, order)
}

// parked waits until the run of an order is parked. An order whose customer is
// erased before the payment opens no account.
func parked(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	w.Paid(id)
	w.Eventually("its run is parked", func() bool { return w.Provision(id).Status == sagas.StatusParked })
	w.Equal("why", w.Count(`select count(*) from events where name = 'saga.parked' and data ->> 'code' = 'no_address'`), 1)
	w.Equal("accounts without an address", w.Count(`select count(*) from users where email = '' and id <> 2`), 0)
}

// An erasure covers all former addresses of a person, except those that belong to
// another person by now.
func TestAnAddressThatHasPassedOnStays(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Opens(1, "first@example.com", "en")
	for _, email := range []string{"second@example.com", "third@example.com"} {
		_, err := w.Store.Execute(t.Context(), domain.Metadata{Actor: "user:1"}, account.ChangeProfile{
			User: 1, SubjectID: sagastest.MustSubject(w, email), Email: email, Name: "Ana", Language: "en", At: w.Runner.Now(),
		})
		w.Must(err)
	}
	w.Opens(2, "first@example.com", "en")
	w.Must(w.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 1))
	w.Equal("people forgotten", w.Count(`select count(*) from events where name = 'subject.erased'`), 2)
	left, err := w.Tables.For(projections.System).Accounts().User(t.Context(), 2)
	w.Must(err)
	w.Equal("the new owner", left.Email, "first@example.com")
	gone, err := w.Tables.For(projections.System).Accounts().User(t.Context(), 1)
	w.Must(err)
	w.Equal("the old one", gone.Email+gone.Name, "")
}
