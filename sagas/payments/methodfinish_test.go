package payments_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

// lose lets answers to a call be lost that was carried out.
func (a *adding) lose(call string, times int32) {
	var lost atomic.Int32
	lie := func(asked, _ string) error {
		if asked == call && lost.Add(1) <= times {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	}
	a.Pay.Tell(nil, lie)
}

// Where agreeing and keeping are two steps, the panel takes the second one once.
func TestWhatTheCustomerHasAgreedToIsKeptOnce(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Pay.Approves(id)
	a.Must(a.Payments.Hint(t.Context(), id, "return"))
	a.Eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	a.looksAgain(id)
	a.Equal("kept", a.Pay.Captures(id), 1)
	a.Equal("setup", *a.setup(id).Method, a.saved()[0].ID)
}

// A lost answer is found by the next look, which keeps no second method.
func TestAMethodWhoseKeepingIsNotAnsweredIsFound(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	a.lose("finish", 1)
	id := a.begins()
	a.Pay.Approves(id)
	a.Eventually("it is saved", func() bool { a.advance(time.Minute); return len(a.saved()) == 1 })
	a.Equal("kept", a.Pay.Captures(id), 1)
}

// What the provider refuses to keep ends the setup, and another can be begun.
func TestAMethodThatTheProviderDoesNotKeepEndsItsSetup(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	a.Pay.Tell(func(call, _ string) error {
		if call == "finish" {
			return domain.Fail(domain.Permanent, "instrument_declined", errors.New("declined"))
		}
		return nil
	}, nil)
	id := a.begins()
	a.Pay.Approves(id)
	a.Must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupRefused)
	a.Equal("saved", len(a.saved()), 0)
	if a.begins() == id {
		t.Error("A setup that has ended goes on.")
	}
}

// A session that the provider has forgotten expires, and is not foreign.
func TestASetupThatItsProviderHasForgottenExpires(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Pay.Mu.Lock()
	a.Pay.Sessions[sagastest.SessionOf(id)] = order.Fetched{Provider: "test", Session: sagastest.SessionOf(id), State: order.SessionExpired}
	a.Pay.Mu.Unlock()
	a.Must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupExpired)
}
