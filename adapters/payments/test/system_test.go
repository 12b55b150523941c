//go:build system

package test_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
)

func TestAWebhookComesAgainUntilItIsTaken(t *testing.T) {
	c, db := newClock(), pool(t)
	p := newPanel(t, 500, 302, 400, 503)
	provider, session := atPanel(t, c, p, db)
	delivering(t, provider)
	act(t, provider, order.HostedAction{Session: session, Action: "pay"})
	first := p.next()
	for i, later := range []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute} {
		if due := afterTry(t, db, i+1); due.Sub(c.now()) != later {
			t.Errorf("try %d is followed by another after %s, not %s", i+1, due.Sub(c.now()), later)
		}
		c.move(later)
		if p.next() != first {
			t.Errorf("try %d is another event", i+2)
		}
	}
	afterTry(t, db, 5)
	c.move(71 * time.Hour)
	other := open(t, provider, checkout(c, uuid.New())).ID
	act(t, provider, order.HostedAction{Session: other, Action: "pay"})
	if p.next() == first {
		t.Error("a webhook that was taken came again")
	}
}
