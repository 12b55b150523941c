package assembly_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
)

// Some providers keep a method only once they are asked for it, after its owner has agreed.

// FinishSetup keeps the card of a setup that its customer has approved.
func (p *fakePayments) FinishSetup(_ context.Context, c order.SetupCall) (*order.SavedMethod, error) {
	if err := p.ask(false, "finish", c.Session); err != nil {
		return nil, err
	}
	p.adds(uuid.MustParse(strings.TrimPrefix(c.Session, "cs_")))
	p.mu.Lock()
	p.captured[c.Session]++
	saved := *p.sessions[c.Session].Saved
	p.mu.Unlock()
	return &saved, p.ask(true, "finish", c.Session)
}

// approves makes it so that the customer has agreed that the provider keeps a method.
func (p *fakePayments) approves(id uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.sessions[sessionOf(id)]
	f.State = order.SessionApproved
	p.sessions[sessionOf(id)] = f
}

// lose lets answers to a call be lost that was carried out.
func (a *adding) lose(call string, times int32) {
	var lost atomic.Int32
	lie := func(asked, _ string) error {
		if asked == call && lost.Add(1) <= times {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	}
	a.pay.tell(nil, lie)
}

// Where agreeing and keeping are two steps, the panel takes the second one once.
func TestWhatTheCustomerHasAgreedToIsKeptOnce(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.pay.approves(id)
	a.must(a.Payments.Hint(t.Context(), id, "return"))
	a.eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	a.looksAgain(id)
	a.equal("kept", a.pay.captures(id), 1)
	a.equal("setup", *a.setup(id).Method, a.saved()[0].ID)
}

// A lost answer is found by the next look, which keeps no second method.
func TestAMethodWhoseKeepingIsNotAnsweredIsFound(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	a.lose("finish", 1)
	id := a.begins()
	a.pay.approves(id)
	a.eventually("it is saved", func() bool { a.advance(time.Minute); return len(a.saved()) == 1 })
	a.equal("kept", a.pay.captures(id), 1)
}

// What the provider refuses to keep ends the setup, and another can be begun.
func TestAMethodThatTheProviderDoesNotKeepEndsItsSetup(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	a.pay.tell(func(call, _ string) error {
		if call == "finish" {
			return domain.Fail(domain.Permanent, "instrument_declined", errors.New("declined"))
		}
		return nil
	}, nil)
	id := a.begins()
	a.pay.approves(id)
	a.must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupRefused)
	a.equal("saved", len(a.saved()), 0)
	if a.begins() == id {
		t.Error("A setup that has ended goes on.")
	}
}

// What is approved too late, or belongs to another setup, is not kept.
func TestOnlyAnOpenSetupOfItsOwnIsFinished(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.eventually("it expires", func() bool { a.advance(time.Hour); return a.setup(id).Status == billing.SetupEnded })
	a.pay.approves(id)
	a.news("evt_late_"+id.String(), id)
	a.looksAgain(id)
	a.equal("kept too late", a.pay.captures(id), 0)

	id = a.begins()
	a.pay.approves(id)
	a.pay.mu.Lock()
	f := a.pay.sessions[sessionOf(id)]
	f.Order = uuid.New()
	a.pay.sessions[sessionOf(id)] = f
	a.pay.mu.Unlock()
	a.must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupForeign)
	a.equal("kept for another", a.pay.captures(id), 0)
}

// A session that the provider has forgotten expires, and is not foreign.
func TestASetupThatItsProviderHasForgottenExpires(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.pay.mu.Lock()
	a.pay.sessions[sessionOf(id)] = order.Fetched{Provider: "test", Session: sessionOf(id), State: order.SessionExpired}
	a.pay.mu.Unlock()
	a.must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupExpired)
}
