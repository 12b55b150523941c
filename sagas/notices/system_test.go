//go:build system

package notices_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// TestAWorkerMayDieWhileItMailsALink: whatever is killed, the mail comes, at
// most twice, and twice it is the same one with the same link.
func TestAWorkerMayDieWhileItMailsALink(t *testing.T) { // F-1, L-1 … L-3
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	plans := []sagastest.Crash{
		{At: sagas.BeforeIntent},
		{At: sagas.AfterIntent},
		{At: sagas.Sent},
		{At: sagas.Sent, Made: true},
		{At: sagas.Answered},
		{At: sagas.BeforeComplete},
		{At: sagas.AfterComplete},
	}
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

// A worker dies after the call, so its outcome is unknown. The message is sent once
// more with the same id.
func TestAWorkerThatDiesAfterTheCallSendsTheSameMessageAgain(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	sagastest.Listens(w, 1, 17)
	died := false
	var mu sync.Mutex
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		if p == sagas.Answered && c.Definition == "webhook/1" && !died {
			died = true
			return sagas.ErrKilled
		}
		return nil
	})
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Succeeded)
	got := r.Heard(sagastest.URLOf(1))
	if len(got) != 2 || got[0].Message.ID != got[1].Message.ID || string(got[0].Message.Body()) != string(got[1].Message.Body()) {
		t.Errorf("%+v", got)
	}
	w.Equal("events", w.Often(webhook.DeliveryStream(id), "webhook.delivered"), 1)
}

// Ten endpoints, of which one hangs with everything that waits for it: the
// others hear of everything at once.
func TestAHangingEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	released := make(chan struct{})
	for id := int64(1); id <= 10; id++ {
		sagastest.Listens(w, id, 100+id%5)
	}
	r.Answers(sagastest.URLOf(1), func(ctx context.Context, _ int) (int, error) {
		select {
		case <-released:
			return 200, nil
		case <-ctx.Done():
			return 0, domain.Fail(domain.Unknown, "timeout", ctx.Err())
		}
	})
	var waiting, others []uuid.UUID
	for range 20 {
		waiting = append(waiting, sagastest.Sends(w, 1, 101))
	}
	w.Goes()
	for id := int64(2); id <= 10; id++ {
		for range 3 {
			others = append(others, sagastest.Sends(w, id, 100+id%5))
		}
	}
	for _, id := range others {
		sagastest.Delivered(w, id, webhook.Succeeded)
	}
	r.Mu.Lock()
	w.Equal("calls to who hangs, at once", r.Most[sagastest.URLOf(1)], 2)
	r.Mu.Unlock()
	close(released)
	for _, id := range waiting {
		sagastest.Delivered(w, id, webhook.Succeeded)
	}
	w.Equal("breakers", w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'webhook'`), 0)
}
