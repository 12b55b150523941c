package notices_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/sagastest"
)

// A mail that had to wait is not sent once its link has ended, and one that
// was under way meanwhile does not bring its link back.
func TestAnOlderMailDoesNotOutliveANewerLink(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Opens(1, "late@example.com", "en")
	w.Opens(2, "busy@example.com", "en")
	var once sync.Once
	var newer domain.Link
	w.Mail.Tell(func(_, to string) error {
		var err error
		if to == "busy@example.com" {
			once.Do(func() {
				newer, err = w.Accounts.Link(context.Background(), domain.Metadata{Actor: "operator:1"}, 2, false)
			})
		}
		return err
	}, nil)
	older, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, true)
	w.Must(err)
	latest, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, true)
	w.Must(err)
	_, err = w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 2, true)
	w.Must(err)
	w.Goes()
	w.Equal("mails that were not sent", w.Ended(), []string{"link_over"})
	w.Equal("mails", len(w.Mail.To("late@example.com")), 1)
	w.Equal("the link in it", sagastest.TokenIn(t, w.Mailed("late@example.com", 1)), latest.Token)
	w.Equal("the older one has ended", w.Dead(older.Token) && !w.Dead(latest.Token), true)
	w.Equal("the one under way has ended", w.Dead(sagastest.TokenIn(t, w.Mailed("busy@example.com", 1))) && !w.Dead(newer.Token), true)
}

func TestNothingBreaksOutOfAHeader(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	named := w.Someone(1, "ana@example.com", "es")
	named.Name = "Ana\r\nBcc: all@example.com\u2028"
	w.Must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, named, ""))
	m := w.Mailed("ana@example.com", 1)
	if strings.ContainsAny(m.To+m.Subject, "\r\n\u2028") || strings.Contains(m.Text, "\nBcc:") || strings.Contains(m.Text, "\r") {
		t.Errorf("%q %q\n%s", m.To, m.Subject, m.Text)
	}
	addressed := w.Someone(2, "eva@example.com\r\nBcc: all@example.com", "es")
	w.Must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, addressed, ""))
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com\nBcc: all@example.com"))
	w.Equal("what could not be sent", w.Ended(), []string{"malformed"})
	w.Mail.Mu.Lock()
	defer w.Mail.Mu.Unlock()
	w.Equal("mails", len(w.Mail.Sent), 1)
}

// mailedUser is the user whom a run sends a link.
func mailedUser(r sagas.Run) int64 {
	in, _ := sagas.InputOf[notices.LinkMail](r) // of other runs it is none
	return in.User
}
