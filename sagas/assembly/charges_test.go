package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/projections"
)

// openCharge opens a session that charges a kept card, without a page.
func (p *fakePayments) openCharge(c order.Checkout) (order.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, kept := p.cards[c.Saved.Token]; !kept {
		return order.Session{}, domain.Fail(domain.Permanent, order.MethodGone, errors.New("no such card"))
	}
	id := sessionOf(c.Order)
	if _, open := p.sessions[id]; !open {
		p.sessions[id] = order.Fetched{
			Provider: "test", Session: id, Order: c.Order, State: order.SessionApproved, ByCapture: true, ExpiresAt: c.ExpiresAt,
			Payments: []order.Payment{{ID: id, State: order.StateCreated, Minor: c.Minor, Currency: c.Currency, At: time.Now()}},
		}
		p.opened[id]++
	}
	return order.Session{ID: id, ExpiresAt: c.ExpiresAt}, nil
}

// refuses is why a kept card is not charged; "": it is.
func (p *fakePayments) refuses(c order.CaptureCall) string {
	if c.Saved == nil {
		return ""
	}
	refusal, kept := p.cards[c.Saved.Token]
	if !kept {
		return order.MethodGone
	}
	return refusal
}

func (p *fakePayments) Forget(_ context.Context, m order.SavedMethod) error {
	if err := p.ask(false, "forget", m.Token); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.cards, m.Token)
	p.forgot[m.Token]++
	return nil
}

// will says what a kept card does when it is charged; order.MethodGone: it disappears.
func (p *fakePayments) will(token, refusal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if refusal == order.MethodGone {
		delete(p.cards, token)
		return
	}
	p.cards[token] = refusal
}

// servesWithCard sells a service whose customer has agreed that the card is kept.
func (w *renewing) servesWithCard(o ordering) (id uuid.UUID, token string) {
	w.t.Helper()
	o.keeps = true
	id = w.serves(o)
	w.eventually("the card is saved", func() bool { return w.subscription(id).Method != uuid.Nil })
	return id, "pm_" + id.String()
}

func (w *renewing) methods(id uuid.UUID) []projections.PaymentMethod {
	w.t.Helper()
	all, err := w.tables.For(projections.System).PaymentMethods(w.t.Context(), projections.Listing{Limit: 100, Filters: []projections.Filter{{Field: "order", Op: "=", Value: id}}})
	w.must(err)
	return all.Rows
}

// happenings are the names of the events of a subscription.
func (w *renewing) happenings(id uuid.UUID) (names []string) {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), billing.Advance{Order: id}.Stream())
	w.must(err)
	for _, r := range history {
		names = append(names, strings.TrimPrefix(r.Name, "billing."))
	}
	return names
}

// charges are the orders that charged the renewals of a subscription.
func (w *renewing) charges(id uuid.UUID) (all []projections.Order) {
	w.t.Helper()
	for _, i := range w.invoices(id) {
		paying, err := w.tables.For(projections.System).OrdersPaying(w.t.Context(), i.ID)
		w.must(err)
		all = append(all, paying...)
	}
	return all
}

func TestRenewalsAreChargedByTheSavedCard(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, _ := w.servesWithCard(ordering{kind: "saas"})
	m := w.methods(id)
	w.equal("saved", fmt.Sprint(m[0].Kind, " ", m[0].Brand, " ", m[0].Last4, " ", m[0].Expires, " ", m[0].Provider), "card visa 4242 2099-03 test")
	for n := 1; n <= 2; n++ {
		w.until(id, "billing.period_renewed", n)
	}
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10, paid 12.10")
	for _, o := range w.charges(id) {
		w.equal("charges", w.pay.captures(o.ID), 1)
		w.equal("order", o.Status, order.StatusActive)
	}
	w.equal("orders that charge", len(w.charges(id)), 2)
	for _, name := range w.happenings(id) {
		if name == "payment_reminded" || name == "payment_overdue" {
			t.Errorf("A customer whose card is charged gets %s.", name)
		}
	}
}

// The answer to a charge is lost, and the process that waits for it dies.
func TestAChargeWithoutAnAnswerIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, _ := w.servesWithCard(ordering{kind: "saas"})
	var lost atomic.Int32
	w.pay.tell(nil, func(call, _ string) error {
		if (call == "capture" || call == "open") && lost.Add(1) <= 3 {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	})
	w.until(id, "billing.period_renewed", 1)
	for _, o := range w.charges(id) {
		w.equal("charges", w.pay.captures(o.ID), 1)
		w.equal("sessions", w.pay.openings(o.ID), 1)
	}
	w.equal("kept by the provider", w.pay.kept(w.charges(id)[0].ID), int64(1210))
}

func TestADeclinedCardIsTriedAgainAndThenTheServiceRests(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, token := w.servesWithCard(ordering{kind: "saas"})
	w.pay.will(token, "insufficient_funds")
	w.until(id, "billing.charge_failed", 2)
	w.equal("status", w.subscription(id).Status, billing.PastDue)
	w.until(id, "billing.subscription_suspended", 1)
	w.equal("charges", len(w.charges(id)), 1+len(billing.UsualTerms.Retries))
	w.pays(id)
	w.eventually("it goes on", func() bool { return w.subscription(id).Status == billing.Running })
	w.pay.will(token, "")
	w.until(id, "billing.period_renewed", 2)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10, paid 12.10")
}

func TestACardThatNeedsItsOwnerLeadsToAPage(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, token := w.servesWithCard(ordering{kind: "saas"})
	w.pay.will(token, order.NeedsCustomer)
	w.until(id, "billing.charge_failed", 1)
	w.until(id, "billing.payment_reminded", 1)
	w.equal("charges", len(w.charges(id)), 1)
	w.pays(id)
	w.eventually("it goes on", func() bool { return w.subscription(id).Status == billing.Running })
}

func TestACardThatIsGoneAtTheProviderIsChargedNoMore(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, token := w.servesWithCard(ordering{kind: "saas"})
	w.pay.will(token, order.MethodGone)
	w.until(id, "billing.charge_failed", 1)
	w.eventually("the card is taken out", func() bool { return w.subscription(id).Method == uuid.Nil })
	w.equal("saved methods", len(w.methods(id)), 0)
	w.until(id, "billing.payment_reminded", 1)
	w.equal("calls to forget it", w.count(`select count(*) from saga_run where key like 'forget:%'`), 0)
}

// A method ends when it is removed, when its owner is erased, and when the owner leaves.
func TestASavedCardEnds(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	ends := map[string]func(projections.PaymentMethod, int64){
		"removed": func(m projections.PaymentMethod, _ int64) {
			w.must(w.Billing.RemoveMethod(t.Context(), caused(), m.ID))
		},
		"left": func(m projections.PaymentMethod, user int64) {
			_, err := w.store.Execute(t.Context(), caused(), account.RevokeMembership{User: user, Tenant: m.Tenant, At: w.Now()})
			w.must(err)
		},
		"erased": func(_ projections.PaymentMethod, user int64) { w.must(w.Accounts.Erase(t.Context(), caused(), user)) },
	}
	for name, end := range ends {
		id, token := w.servesWithCard(ordering{kind: "saas"})
		m := w.methods(id)[0]
		end(m, w.provision(id).Job.User)
		w.eventually(name+": the provider keeps it no more", func() bool {
			w.pay.mu.Lock()
			defer w.pay.mu.Unlock()
			return w.pay.forgot[token] == 1
		})
		w.eventually(name+": renewals are paid on a page", func() bool { return w.subscription(id).Method == uuid.Nil })
		w.equal(name+": saved methods", len(w.methods(id)), 0)
	}
}

// While the provider does not answer, no charge is lost, and none is made twice.
func TestAProviderThatIsAwayIsChargedWhenItIsBack(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, _ := w.servesWithCard(ordering{kind: "saas"})
	var away atomic.Bool
	away.Store(true)
	w.pay.tell(func(call, _ string) error {
		if away.Load() && (call == "open" || call == "capture") {
			return domain.Fail(domain.Transient, "unreachable", errors.New("away"))
		}
		return nil
	}, nil)
	w.until(id, "billing.charge_started", 1)
	w.eventually("the order waits", func() bool { return len(w.charges(id)) == 1 })
	away.Store(false)
	w.until(id, "billing.period_renewed", 1)
	made := 0
	for _, o := range w.charges(id) {
		made += w.pay.captures(o.ID)
	}
	w.equal("charges", made, 1)
}

// An invoice that is paid by other means while its charge is under way is not paid twice:
// the money of the charge goes back.
func TestAChargeOfAnInvoiceThatIsPaidMeanwhileGoesBack(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, _ := w.servesWithCard(ordering{kind: "saas"})
	marked := make(chan struct{})
	w.pay.tell(func(call, _ string) error {
		if call == "capture" {
			<-marked
		}
		return nil
	}, nil)
	w.until(id, "billing.charge_started", 1)
	invoice := w.subscription(id).Open
	w.eventually("the charge is under way", func() bool {
		return len(w.charges(id)) == 1 && w.charges(id)[0].Status == order.StatusPaymentProcessing
	})
	_, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: invoice})
	w.equal("a page beside the charge", fmt.Sprint(err), "The saved payment method is being charged.")
	w.must(w.Billing.MarkPaid(t.Context(), caused(), invoice, "bank_transfer", "statement 7"))
	close(marked)
	w.becomes(w.charges(id)[0].ID, order.StatusRefunded)
	w.equal("kept by the provider", w.pay.kept(w.charges(id)[0].ID), int64(0))
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10")
	if slices.Contains(w.happenings(id), "charge_failed") {
		t.Error("A charge that was paid by other means has failed.")
	}
}

// again lets the reactions to the last event of a name happen a second time, as after a
// crash.
func (w *renewing) again(id uuid.UUID, name string) {
	w.t.Helper()
	w.repeats(billing.Advance{Order: id}.Stream(), name)
}

// repeats lets the panel react once more to the last event of a name of a stream.
func (w *renewing) repeats(stream domain.Stream, name string) {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), stream)
	w.must(err)
	for _, r := range slices.Backward(history) {
		if r.Name == name {
			w.must(w.React(w.t.Context(), r))
			return
		}
	}
	w.t.Fatal("there is no " + name)
}

// A charge whose bank takes days has not failed because what began it happens again.
func TestAChargeThatSettlesSlowlyIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id, _ := w.servesWithCard(ordering{kind: "saas"})
	w.pay.tell(func(call, _ string) error {
		if call == "capture" {
			return domain.Fail(domain.Transient, "busy", errors.New("later"))
		}
		return nil
	}, nil)
	w.until(id, "billing.charge_started", 1)
	w.eventually("the charge is under way", func() bool { return len(w.charges(id)) == 1 && w.charges(id)[0].SessionID != "" })
	charge := w.charges(id)[0].ID
	pays := order.Payment{ID: sessionOf(charge), State: order.StatePending, Minor: 1210, Currency: "EUR", At: w.Now()}
	w.pay.put(order.Fetched{Provider: "test", Session: sessionOf(charge), Order: charge, State: order.SessionComplete, ByCapture: true, Payments: []order.Payment{pays}})
	w.must(w.Payments.Hint(t.Context(), charge, "webhook"))
	w.eventually("the bank takes its time", func() bool { return w.order(charge).Settling })
	w.again(id, "billing.charge_started")
	w.equal("a charge is under way", w.subscription(id).Pending, true)
	pays.State = order.StatePaid
	w.pay.put(order.Fetched{Provider: "test", Session: sessionOf(charge), Order: charge, State: order.SessionComplete, ByCapture: true, Payments: []order.Payment{pays}})
	w.must(w.Payments.Hint(t.Context(), charge, "webhook"))
	w.eventually("it is renewed", func() bool { return w.subscription(id).Period == 1 })
	w.equal("orders that charge", len(w.charges(id)), 1)
}
