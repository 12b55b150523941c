package billing_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func methods(w *sagastest.Renewals, id uuid.UUID) []projections.PaymentMethod {
	w.T.Helper()
	all, err := w.Tables.For(projections.System).Billing().PaymentMethods(
		w.T.Context(),
		projections.Listing{Limit: 100, Filters: []projections.Filter{{Field: "order", Op: "=", Value: id}}},
	)
	w.Must(err)
	return all.Rows
}

// happenings are the names of the events of a subscription.
func happenings(w *sagastest.Renewals, id uuid.UUID) (names []string) {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), billing.Advance{Order: id}.Stream())
	w.Must(err)
	for _, r := range history {
		names = append(names, strings.TrimPrefix(r.Name, "billing."))
	}
	return names
}

func TestACardThatNeedsItsOwnerLeadsToAPage(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, token := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Will(token, order.NeedsCustomer)
	w.Until(id, "billing.charge_failed", 1)
	w.Until(id, "billing.payment_reminded", 1)
	w.Equal("charges", len(w.Charges(id)), 1)
	w.Pays(id)
	w.Eventually("it goes on", func() bool { return w.Subscription(id).Status == billing.Running })
}

func TestACardThatIsGoneAtTheProviderIsChargedNoMore(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, token := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Will(token, order.MethodGone)
	w.Until(id, "billing.charge_failed", 1)
	w.Eventually("the card is taken out", func() bool { return w.Subscription(id).Method == uuid.Nil })
	w.Equal("saved methods", len(methods(w, id)), 0)
	w.Until(id, "billing.payment_reminded", 1)
	w.Equal("calls to forget it", w.Count(`select count(*) from saga_run where key like 'forget:%'`), 0)
}

// A method ends when it is removed, when its owner is erased, and when the owner leaves.
func TestASavedCardEnds(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	ends := map[string]func(projections.PaymentMethod, int64){
		"removed": func(m projections.PaymentMethod, _ int64) {
			w.Must(w.Billing.RemoveMethod(t.Context(), sagastest.Cause(), m.ID))
		},
		"left": func(m projections.PaymentMethod, user int64) {
			_, err := w.Store.Execute(
				t.Context(), sagastest.Cause(),
				account.RevokeMembership{User: user, Tenant: m.Tenant, At: w.Runner.Now()},
			)
			w.Must(err)
		},
		"erased": func(_ projections.PaymentMethod, user int64) {
			w.Must(w.Accounts.Erase(t.Context(), sagastest.Cause(), user))
		},
	}
	for name, end := range ends {
		id, token := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
		m := methods(w, id)[0]
		end(m, w.Provision(id).Job.User)
		w.Eventually(name+": the provider keeps it no more", func() bool {
			w.Pay.Mu.Lock()
			defer w.Pay.Mu.Unlock()
			return w.Pay.Forgot[token] == 1
		})
		w.Eventually(name+": renewals are paid on a page", func() bool { return w.Subscription(id).Method == uuid.Nil })
		w.Equal(name+": saved methods", len(methods(w, id)), 0)
	}
}

// A charge whose time was over before the panel came to it is no refusal.
func TestAChargeThatWasNeverTriedIsMadeAgainAtOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	held := make(chan struct{})
	var first atomic.Bool
	w.Pay.Tell(func(call, _ string) error {
		if call == "open" && first.CompareAndSwap(false, true) {
			<-held // the first charge does not come to the provider
		}
		return nil
	}, nil)
	w.Until(id, "billing.charge_started", 1)
	w.Eventually("the order waits", func() bool { return len(w.Charges(id)) == 1 })
	_, err := w.Store.Execute(t.Context(), sagastest.Cause(), order.Expire{ID: w.Charges(id)[0].ID, At: w.Runner.Now()})
	w.Must(err)
	w.Until(id, "billing.charge_expired", 1)
	close(held)
	w.Until(id, "billing.period_renewed", 1)
	names := happenings(w, id)
	w.Equal("refusals", slices.Contains(names, "charge_failed"), false)
	w.Equal("charges", len(w.Charges(id)), 2)
}

// While the provider does not answer, no charge is lost, and none is made twice.
func TestAProviderThatIsAwayIsChargedWhenItIsBack(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	var away atomic.Bool
	away.Store(true)
	w.Pay.Tell(func(call, _ string) error {
		if away.Load() && (call == "open" || call == "capture") {
			return domain.Fail(domain.Transient, "unreachable", errors.New("away"))
		}
		return nil
	}, nil)
	w.Until(id, "billing.charge_started", 1)
	w.Eventually("the order waits", func() bool { return len(w.Charges(id)) == 1 })
	away.Store(false)
	w.Until(id, "billing.period_renewed", 1)
	made := 0
	for _, o := range w.Charges(id) {
		made += w.Pay.Captures(o.ID)
	}
	w.Equal("charges", made, 1)
}

// again lets the reactions to the last event of a name happen a second time, as after a
// crash.
func again(w *sagastest.Renewals, id uuid.UUID, name string) {
	w.T.Helper()
	repeats(w, billing.Advance{Order: id}.Stream(), name)
}

// repeats lets the panel react once more to the last event of a name of a stream.
func repeats(w *sagastest.Renewals, stream domain.Stream, name string) {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), stream)
	w.Must(err)
	for _, r := range slices.Backward(history) {
		if r.Name == name {
			w.Must(w.Runner.Reactions.React(w.T.Context(), r))
			return
		}
	}
	w.T.Fatal("there is no " + name)
}

// A charge whose bank takes days has not failed because what began it happens again.
func TestAChargeThatSettlesSlowlyIsNoFailure(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Tell(func(call, _ string) error {
		if call == "capture" {
			return domain.Fail(domain.Transient, "busy", errors.New("later"))
		}
		return nil
	}, nil)
	w.Until(id, "billing.charge_started", 1)
	w.Eventually("the charge is under way", func() bool { return len(w.Charges(id)) == 1 && w.Charges(id)[0].SessionID != "" })
	charge := w.Charges(id)[0].ID
	pays := order.Payment{ID: sagastest.SessionOf(charge), State: order.StatePending, Minor: 1210, Currency: "EUR", At: w.Runner.Now()}
	w.Pay.Put(
		order.Fetched{
			Provider: "test", Session: sagastest.SessionOf(charge), Order: charge, State: order.SessionComplete,
			ByCapture: true, Payments: []order.Payment{pays},
		},
	)
	w.Must(w.Payments.Hint(t.Context(), charge, "webhook"))
	w.Eventually("the bank takes its time", func() bool { return w.Order(charge).Settling })
	again(w, id, "billing.charge_started")
	w.Equal("a charge is under way", w.Subscription(id).Pending, true)
	pays.State = order.StatePaid
	w.Pay.Put(
		order.Fetched{
			Provider: "test", Session: sagastest.SessionOf(charge), Order: charge, State: order.SessionComplete,
			ByCapture: true, Payments: []order.Payment{pays},
		},
	)
	w.Must(w.Payments.Hint(t.Context(), charge, "webhook"))
	w.Eventually("it is renewed", func() bool { return w.Subscription(id).Period == 1 })
	w.Equal("orders that charge", len(w.Charges(id)), 1)
}
