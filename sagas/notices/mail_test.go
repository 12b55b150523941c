package notices_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
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

// TestAWorkerMayDieWhileItMailsALink: whatever is killed, the mail comes, at
// most twice, and twice it is the same one with the same link.
func TestAWorkerMayDieWhileItMailsALink(t *testing.T) { // F-1, L-1 … L-3
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	plans := []sagastest.Crash{{At: sagas.BeforeIntent}, {At: sagas.AfterIntent}, {At: sagas.Sent}, {At: sagas.Sent, Made: true}, {At: sagas.Answered}, {At: sagas.BeforeComplete}, {At: sagas.AfterComplete}}
	deaths := sagastest.NewDeaths[int64](w)
	users := map[string]int64{}
	w.Fault.To(func(p sagas.Point, c sagas.Run) error { return deaths.At(mailedUser(c), "", p, false) })
	w.Mail.Tell(nil, func(_, to string) error { return deaths.At(users[to], "", sagas.Sent, true) })
	killed := map[uuid.UUID]bool{}
	w.ResetFault.To(func(id uuid.UUID) error {
		if killed[id] {
			return nil
		}
		killed[id] = true
		return sagas.ErrKilled
	})
	for i, c := range plans {
		user, email := int64(i+1), fmt.Sprintf("crash%d@example.com", i)
		w.Opens(user, email, "en")
		users[email] = user
		deaths.Plan(user, c)
		w.Must(w.Accounts.AskReset(t.Context(), strings.ToUpper(email)))
	}
	w.Goes()
	w.Equal("given up", len(w.Ended()), 0)
	for email, user := range users {
		mails := w.Mail.To(email)
		if len(mails) == 0 || len(mails) > 2 {
			t.Errorf("%+v: %d mails", plans[user-1], len(mails))
			continue
		}
		if last := mails[len(mails)-1]; last.MessageID != mails[0].MessageID || last.Text != mails[0].Text {
			t.Errorf("%+v: two different mails", plans[user-1])
		}
		w.Equal("whose link works", w.Dead(sagastest.TokenIn(t, mails[0])), false)
	}
	deaths.Came()
	w.Equal("requests that were dropped once", len(killed), len(plans))
	w.Equal("links asked for", w.Count(`select count(*) from events where name = 'account.link_requested'`), len(plans))
	w.Equal("mails sent more than twice", w.Count(`select count(*) from effect where sends > 2`), 0)
}

func TestAMailServerThatIsDownLosesNoMail(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var down sync.Map
	down.Store("is", true)
	w.Mail.Tell(func(_, _ string) error {
		if is, _ := down.Load("is"); is.(bool) {
			return domain.Fail(domain.Transient, "busy", errors.New("come back later"))
		}
		return nil
	}, nil)
	w.Opens(1, "ana@example.com", "en")
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	w.Goes()
	w.Eventually("it was refused", func() bool { return w.Count(`select count(*) from saga_attempt where outcome = 'retry'`) > 2 })
	w.Equal("mails", len(w.Mail.To("ana@example.com")), 0)
	down.Store("is", false)
	w.Equal("the link works", w.Dead(sagastest.TokenIn(t, w.Mailed("ana@example.com", 1))), false)
}

// mailedUser is the user whom a run sends a link.
func mailedUser(r sagas.Run) int64 {
	in, _ := sagas.InputOf[notices.LinkMail](r) // of other runs it is none
	return in.User
}
