package sagastest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/sagas"
)

// GoodPassword is one that an account may have.
const GoodPassword = "Tr0ub4dor & 3 caballos"

// Someone is an account to be opened.
func (w *World) Someone(user int64, email, language string) account.Open {
	return account.Open{
		User: user, SubjectID: MustSubject(w, email), Email: email, Name: "Ana Ruiz", Language: language,
		At: w.Runner.Now(),
	}
}

// Opens opens an account with a password, so that no mail goes out.
func (w *World) Opens(user int64, email, language string) {
	w.T.Helper()
	w.Must(w.Accounts.Open(w.T.Context(), domain.Metadata{Actor: "operator:1"}, w.Someone(user, email, language), GoodPassword))
}

// Mailed waits for the n-th mail to an address.
func (w *World) Mailed(address string, n int) notice.Mail {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("%s has %d mails", address, n), func() bool { return len(w.Mail.To(address)) >= n })
	return w.Mail.To(address)[n-1]
}

// TokenIn is the secret of the link in a mail.
func TokenIn(t *testing.T, m notice.Mail) string {
	t.Helper()
	_, rest, found := strings.Cut(m.Text, "http://127.0.0.1:8080/set-password/?token=")
	token, _, _ := strings.Cut(rest, "\n")
	if !found || len(token) < 43 {
		t.Fatalf("the mail has no link: %s", m.Text)
	}
	return token
}

// Ended waits for the end of all runs that send mails, and tells how those
// ended that sent none.
func (w *World) Ended() (codes []string) {
	w.T.Helper()
	w.Eventually("all mails are dealt with", func() bool {
		// In one look: an answered request becomes a run in one transaction.
		return w.Count(`select (select count(*) from saga_run where status <> 'done') + (select count(*) from reset_request)`) == 0
	})
	rows, err := w.Pool.Query(w.T.Context(), `select data ->> 'code' from events where name = 'saga.step_deferred'
		and saga like 'mail:u/%' order by position`)
	w.Must(err)
	defer rows.Close()
	for rows.Next() {
		var code string
		w.Must(rows.Scan(&code))
		codes = append(codes, code)
	}
	return codes
}

// Dead tells whether a link leads nowhere.
func (w *World) Dead(token string) bool {
	w.T.Helper()
	_, err := w.Accounts.TokenUser(w.T.Context(), token)
	if err != nil && (domain.CodeOf(err) != domain.NotFound || err.Error() != "This link is no longer valid.") {
		w.T.Fatal(err)
	}
	return err != nil
}

// Heard waits until everybody has been told of all that has happened.
func (w *World) Heard() {
	w.T.Helper()
	w.Eventually("all is told", func() bool {
		return w.Count(`select count(*) from readers where name = $1 and position >=
			(select max(position) from events where name not like 'saga.%' and name not like 'notification.%')`, sagas.ReactionsReader) == 1
	})
}

// AllTold waits for the mails as well.
func (w *World) AllTold() {
	w.T.Helper()
	w.Heard()
	w.Eventually("all mails are dealt with", func() bool { return w.Count(`select count(*) from saga_run where status <> 'done'`) == 0 })
}

// Told are what a user was told, by type and title, in their order.
func (w *World) Told(user int64) (all []string) {
	w.T.Helper()
	rows, err := w.Pool.Query(w.T.Context(), `select notification_type || ': ' || title from notifications
		where user_id = $1 order by (notification_type || ': ' || title) collate "C"`, user)
	w.Must(err)
	defer rows.Close()
	for rows.Next() {
		var one string
		w.Must(rows.Scan(&one))
		all = append(all, one)
	}
	w.Must(rows.Err())
	return all
}

// Repeated lets all reactions happen once more.
func (w *World) Repeated() {
	w.T.Helper()
	all, err := w.Store.Reader().After(w.T.Context(), 0, 10_000)
	w.Must(err)
	for _, r := range all {
		w.Must(w.Runner.Reactions.React(w.T.Context(), r))
	}
}

// MustSubject is the subject of an address.
func MustSubject(w *World, email string) uuid.UUID {
	subject, err := w.Store.Subject(w.T.Context(), email)
	w.Must(err)
	return subject
}
