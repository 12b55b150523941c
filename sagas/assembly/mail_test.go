package assembly_test

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
)

// A mail that had to wait is not sent once its link has ended, and one that
// was under way meanwhile does not bring its link back.
func TestAnOlderMailDoesNotOutliveANewerLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.opens(1, "late@example.com", "en")
	w.opens(2, "busy@example.com", "en")
	var once sync.Once
	var newer domain.Link
	w.mail.tell(func(_, to string) error {
		var err error
		if to == "busy@example.com" {
			once.Do(func() {
				newer, err = w.Accounts.Link(context.Background(), domain.Metadata{Actor: "operator:1"}, 2, false)
			})
		}
		return err
	}, nil)
	older, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, true)
	w.must(err)
	latest, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, true)
	w.must(err)
	_, err = w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 2, true)
	w.must(err)
	w.goes()
	w.equal("mails that were not sent", w.ended(), []string{"link_over"})
	w.equal("mails", len(w.mail.to("late@example.com")), 1)
	w.equal("the link in it", tokenIn(t, w.mailed("late@example.com", 1)), latest.Token)
	w.equal("the older one has ended", w.dead(older.Token) && !w.dead(latest.Token), true)
	w.equal("the one under way has ended", w.dead(tokenIn(t, w.mailed("busy@example.com", 1))) && !w.dead(newer.Token), true)
}

func TestNothingBreaksOutOfAHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	named := w.someone(1, "ana@example.com", "es")
	named.Name = "Ana\r\nBcc: all@example.com\u2028"
	w.must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, named, ""))
	m := w.mailed("ana@example.com", 1)
	if strings.ContainsAny(m.To+m.Subject, "\r\n\u2028") || strings.Contains(m.Text, "\nBcc:") || strings.Contains(m.Text, "\r") {
		t.Errorf("%q %q\n%s", m.To, m.Subject, m.Text)
	}
	addressed := w.someone(2, "eva@example.com\r\nBcc: all@example.com", "es")
	w.must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, addressed, ""))
	w.must(w.Accounts.AskReset(t.Context(), "ana@example.com\nBcc: all@example.com"))
	w.equal("what could not be sent", w.ended(), []string{"malformed"})
	w.mail.mu.Lock()
	defer w.mail.mu.Unlock()
	w.equal("mails", len(w.mail.sent), 1)
}

// TestAWorkerMayDieWhileItMailsALink: whatever is killed, the mail comes, at
// most twice, and twice it is the same one with the same link.
func TestAWorkerMayDieWhileItMailsALink(t *testing.T) { // F-1, L-1 … L-3
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	plans := []crash{{at: sagas.BeforeIntent}, {at: sagas.AfterIntent}, {at: sagas.Sent}, {at: sagas.Sent, made: true}, {at: sagas.Answered}, {at: sagas.BeforeComplete}, {at: sagas.AfterComplete}}
	deaths := newDeaths[int64](w)
	users := map[string]int64{}
	w.fault.to(func(p sagas.Point, c sagas.Run) error { return deaths.at(mailedUser(c), "", p, false) })
	w.mail.tell(nil, func(_, to string) error { return deaths.at(users[to], "", sagas.Sent, true) })
	killed := map[uuid.UUID]bool{}
	w.resetFault.to(func(id uuid.UUID) error {
		if killed[id] {
			return nil
		}
		killed[id] = true
		return sagas.ErrKilled
	})
	for i, c := range plans {
		user, email := int64(i+1), fmt.Sprintf("crash%d@example.com", i)
		w.opens(user, email, "en")
		users[email] = user
		deaths.plan(user, c)
		w.must(w.Accounts.AskReset(t.Context(), strings.ToUpper(email)))
	}
	w.goes()
	w.equal("given up", len(w.ended()), 0)
	for email, user := range users {
		mails := w.mail.to(email)
		if len(mails) == 0 || len(mails) > 2 {
			t.Errorf("%+v: %d mails", plans[user-1], len(mails))
			continue
		}
		if last := mails[len(mails)-1]; last.MessageID != mails[0].MessageID || last.Text != mails[0].Text {
			t.Errorf("%+v: two different mails", plans[user-1])
		}
		w.equal("whose link works", w.dead(tokenIn(t, mails[0])), false)
	}
	deaths.came()
	w.equal("requests that were dropped once", len(killed), len(plans))
	w.equal("links asked for", w.count(`select count(*) from events where name = 'account.link_requested'`), len(plans))
	w.equal("mails sent more than twice", w.count(`select count(*) from effect where sends > 2`), 0)
}

func TestAMailServerThatIsDownLosesNoMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var down sync.Map
	down.Store("is", true)
	w.mail.tell(func(_, _ string) error {
		if is, _ := down.Load("is"); is.(bool) {
			return domain.Fail(domain.Transient, "busy", errors.New("come back later"))
		}
		return nil
	}, nil)
	w.opens(1, "ana@example.com", "en")
	w.must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	w.goes()
	w.eventually("it was refused", func() bool { return w.count(`select count(*) from saga_attempt where outcome = 'retry'`) > 2 })
	w.equal("mails", len(w.mail.to("ana@example.com")), 0)
	down.Store("is", false)
	w.equal("the link works", w.dead(tokenIn(t, w.mailed("ana@example.com", 1))), false)
}

// mailedUser is the user whom a run sends a link.
func mailedUser(r sagas.Run) int64 {
	in, _ := sagas.InputOf[notices.LinkMail](r) // of other runs it is none
	return in.User
}
