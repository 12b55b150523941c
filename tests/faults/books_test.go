//go:build system

package faults_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// What has to be so in the end, whatever has happened (docs/orders.md, V1 to
// V10).

// addsUp holds an order against the books of its bank, its run and its invoice.
func (m *market) addsUp(l *life) {
	m.T.Helper()
	before := m.T.Failed()
	o := m.Order(l.id)
	m.agreesWithTheBank(l, o)
	m.nothingTwice(l, o)
	m.statusFitsMoney(l, o)
	m.isCredited(l, o)
	if m.T.Failed() && !before {
		m.tellOf(l, o)
	}
}

func (m *market) tellOf(l *life, o order.Order) {
	m.T.Helper()
	history, err := m.Store.Read(m.T.Context(), order.Stream(l.id))
	m.Must(err)
	var facts []string
	for _, r := range history {
		facts = append(facts, fmt.Sprintf("%s%+v", r.Name, r.Event))
	}
	m.T.Logf("order %s at %s: %s; it is %s, held for %v\n\t%s", l.id, o.Provider, strings.Join(l.deeds, ", "), o.Status, o.Holds,
		strings.Join(facts, "\n\t"))
}

func (m *market) same(l *life, what string, got, want any) {
	m.T.Helper()
	m.Equal("order "+l.id.String()+": "+what, got, want)
}

// agreesWithTheBank: what the order says of its money is what the bank says (V6).
func (m *market) agreesWithTheBank(l *life, o order.Order) {
	m.T.Helper()
	books := map[string]int64{}
	if o.Session != "" {
		truth, err := l.bank.Fetch(m.T.Context(), o.Session)
		m.Must(err)
		for _, p := range truth.Payments {
			if p.State == order.StatePaid {
				books[p.Currency] += left(p)
			}
			m.refundsWereAsked(l, o, p)
		}
	}
	m.same(l, "what is left of the money", o.Net(), books)
}

// refundsWereAsked: each of our refunds was made once, as it was decided (V9).
func (m *market) refundsWereAsked(l *life, o order.Order, p order.Payment) {
	m.T.Helper()
	made := map[string]int{}
	for _, r := range p.Refunds {
		if r.Reference != "" && r.State != order.RefundStopped {
			made[r.Reference]++
			m.same(l, r.Reference+" is the money that was asked for", r.Minor, m.asked(o, r.Reference).Minor)
		}
	}
	for reference, n := range made {
		m.same(l, reference+" was made", n, 1)
	}
}

func (m *market) asked(o order.Order, reference string) order.Ask {
	for _, a := range o.Asked {
		if a.Reference(o.ID) == reference {
			return a
		}
	}
	return order.Ask{}
}

// nothingTwice: one run for an order that was paid, none for another; one
// payment that it runs on (V1, V9).
func (m *market) nothingTwice(l *life, o order.Order) {
	m.T.Helper()
	stream := order.Stream(l.id)
	started := m.Often(stream, "order.payment_confirmed") + m.Often(stream, "order.reopened")
	if started > 1 {
		m.T.Errorf("order %s was started %d times", l.id, started)
	}
	m.same(l, "runs", m.Count(`select count(*) from saga_run where key = 'provision:' || $1::text`, l.id.String()), started)
	m.same(l, "sessions opened", m.Often(stream, "order.payment_session_opened") <= 1, true)
	seen := map[string]int{}
	for _, p := range o.Payments {
		seen[p.ID]++
	}
	for id, n := range seen {
		m.same(l, "payment "+id, n, 1)
	}
	for _, p := range o.Payments {
		if p.State != order.StatePaid {
			continue
		}
		m.same(l, "bookings of "+p.ID, m.Count(`select count(*) from payment_object where provider = $1
			and object_id = $2 and order_id = $3`, o.Provider, p.ID, l.id), 1)
	}
}

// statusFitsMoney: V2, V3, V4.
func (m *market) statusFitsMoney(l *life, o order.Order) {
	m.T.Helper()
	var net int64
	for _, minor := range o.Net() {
		net += minor
	}
	kept := net > 0
	switch o.Status {
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed, order.StatusActive:
		m.same(l, string(o.Status)+" has money", kept, true)
	case order.StatusRefunded:
		m.same(l, "refunded has money", kept, false)
	case order.StatusCancelled:
		m.same(l, "cancelled keeps money", kept && o.Cause != order.Ended && len(o.Open()) == 0 && !o.OnHold(), false)
	case order.StatusPending, order.StatusPaymentProcessing:
		m.same(l, "it waits for a person", o.OnHold(), true)
	}
	if o.Status == order.StatusRefunded || o.Status == order.StatusCancelled {
		live, err := m.Orders.LiveEffects(m.T.Context(), l.id)
		m.Must(err)
		m.same(l, "left outside", len(live), 0)
	}
	if o.Status == order.StatusActive {
		m.same(l, "its run", m.Provision(l.id).Status, sagas.StatusDone)
	}
}

// isCredited: what has gone back of an invoice stands in its credit notes (M-9).
func (m *market) isCredited(l *life, o order.Order) {
	m.T.Helper()
	invoice, _, err := eventstore.Fold(
		m.T.Context(), m.Store, billing.Invoices, domain.Stream{Category: billing.InvoiceCategory, ID: l.id.String()},
	)
	m.Must(err)
	paid := o.Payments[o.Confirmed]
	back := decimal.Min(decimal.New(o.Returned(paid.ID), -2), invoice.Total)
	if o.Confirmed != "" && o.Returned(paid.ID) == paid.Minor {
		back = invoice.Total
	}
	m.same(l, "credited", invoice.Credited.Total.StringFixed(2), back.StringFixed(2))
}

// nothingIsLeftLying: V10, and what operators are shown every night.
func (m *market) nothingIsLeftLying() {
	m.T.Helper()
	unheard, err := m.Payments.LatestWebhooks(m.T.Context(), operations.WebhookPick{})
	m.Must(err)
	for _, r := range unheard {
		if r.State != "done" && r.State != "ignored" {
			m.T.Errorf("webhook %s of %s about order %s is %s: %s", r.Type, r.Provider, r.Order, r.State, r.Error)
		}
	}
	for _, l := range m.lives {
		o := m.Order(l.id)
		stuck := m.Count(`select count(*) from saga_run
			where order_id = $1 and status in ('parked', 'paused') and not starts_with(key, 'refund:')`, l.id) // see [order.Order.Open]
		if stuck > 0 && !o.OnHold() && o.Status != order.StatusFailed {
			m.T.Errorf("%d runs of order %s wait for a person, and the order does not say so", stuck, l.id)
			m.tellOf(l, o)
		}
	}
	m.Equal("orders without a further check", m.Count(`
		select count(*) from orders o left join payment_watch w on w.order_id = o.id
		where o.status in ('pending', 'payment_processing', 'paid', 'provisioning') and o.holds = '{}'
			and coalesce(w.next_at, 'infinity') = 'infinity'`), 0)
	m.Equal("gaps in the numbers of invoices and credit notes", m.Count(`
		select count(*) from (select max((data ->> 'sequence')::int) - count(*) as gap from events
			where name in ('billing.invoice_issued', 'billing.credit_note_issued') group by data ->> 'series') l where gap <> 0`), 0)
	m.Equal("captures", m.banks[1].(*atPayPal).there.Done("capture", "") <= len(m.lives), true)
	found, err := m.Payments.Reconcile(m.T.Context())
	m.Must(err)
	for _, sort := range found.Categories() {
		for _, f := range sort.Findings {
			if o := m.Order(f.Order); !o.OnHold() && o.Status != order.StatusFailed {
				m.T.Errorf("%s: order %s is %s", sort.Name, f.Order, o.Status)
				m.tellOf(m.lifeOf(f.Order), o)
			}
		}
	}
}

func (m *market) lifeOf(id uuid.UUID) *life {
	return m.lives[slices.IndexFunc(m.lives, func(l *life) bool { return l.id == id })]
}

// tells what the trial was worth.
func (m *market) tells() {
	m.T.Helper()
	ends := map[string]int{}
	for _, l := range m.lives {
		o := m.Order(l.id)
		end := string(o.Status)
		if o.Status == order.StatusCancelled {
			end += ": " + string(o.Cause)
		}
		if o.OnHold() {
			end += fmt.Sprint(" ", o.Holds)
		}
		ends[end]++
	}
	p := m.post
	m.T.Logf("%d orders: %v; webhooks: %d carried, %d lost, %d copied, %d kept back, %d without an answer, %d tampered with",
		len(m.lives), ends, p.carried.Load(), p.lost.Load(), p.copied.Load(), p.kept.Load(), p.unanswered.Load(), p.tampered.Load())
	if paid := m.Count(`select count(distinct order_id) from payment_object where kind = 'payment'`); paid < len(m.lives)/3 {
		m.T.Errorf("%d payments for %d orders are no trial", paid, len(m.lives))
	}
}
