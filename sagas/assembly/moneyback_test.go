package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// The provider's side of captures and refunds: it counts what moves money, and
// answers a key that it has stored a failure under with that failure for ever.

func (p *fakePayments) under(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key)
	return p.stored[key]
}

// stores makes the provider answer a key with a mistake of its own for ever.
func (p *fakePayments) stores(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored[key] = domain.Fail(domain.Unknown, "server_error", errLie)
}

func (p *fakePayments) came(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.keys, key)
}

// approve makes it so that the customer has agreed to pay.
func (p *fakePayments) approve(id uuid.UUID, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[sessionOf(id)] = order.Fetched{
		Provider: "test", Session: sessionOf(id), Order: id, State: order.SessionApproved, ByCapture: true,
		Payments: []order.Payment{{ID: sessionOf(id), State: order.StateCreated, Minor: 1210, Currency: "EUR", At: at}},
	}
}

func (p *fakePayments) Capture(_ context.Context, c order.CaptureCall) error {
	if err := p.ask(false, "capture", c.Session); err != nil {
		return err
	}
	if err := p.under(c.Key); err != nil {
		return err
	}
	p.mu.Lock()
	f := p.sessions[c.Session]
	minor := int64(1210)
	if c.Saved != nil {
		minor = f.Payments[0].Minor
	}
	if refusal := p.refuses(c); refusal != "" && f.State == order.SessionApproved {
		f.State = order.SessionComplete
		f.Payments = []order.Payment{{ID: sessionOf(c.Order), State: order.StateFailed, Minor: minor, Currency: "EUR", Code: refusal, At: time.Now()}}
		p.sessions[c.Session] = f
		p.mu.Unlock()
		return domain.Fail(domain.Permanent, refusal, errors.New("the card was not charged"))
	}
	if f.State == order.SessionApproved {
		f.State = order.SessionComplete
		f.Payments = append(slices.Clone(f.Payments), order.Payment{ID: "cap_" + c.Order.String(), State: order.StatePaid, Minor: minor, Currency: "EUR", At: time.Now()})
		p.sessions[c.Session] = f
		p.captured[c.Session]++
	}
	p.mu.Unlock()
	return p.ask(true, "capture", c.Session)
}

func (p *fakePayments) Refund(_ context.Context, c order.RefundCall) (order.Refund, error) {
	if err := p.ask(false, "refund", c.Reference); err != nil {
		return order.Refund{}, err
	}
	if err := p.under(c.Key); err != nil {
		return order.Refund{}, err
	}
	r, err := p.giveBack(c)
	if err != nil {
		return order.Refund{}, err
	}
	return r, p.ask(true, "refund", c.Reference)
}

func (p *fakePayments) giveBack(c order.RefundCall) (order.Refund, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := order.Refund{
		ID: "re_" + c.Key, State: order.RefundSucceeded, Minor: c.Minor, Currency: c.Currency, Reference: c.Reference, At: time.Now(),
	}
	if _, made := p.answers[c.Key]; made {
		return r, nil
	}
	f := p.sessions[c.Session]
	i := slices.IndexFunc(f.Payments, func(pay order.Payment) bool { return pay.ID == c.Payment && pay.State == order.StatePaid })
	if i < 0 {
		return r, domain.Fail(domain.Permanent, "no_such_payment", errors.New("nothing was paid like this"))
	}
	left := f.Payments[i].Minor
	for _, before := range f.Payments[i].Refunds {
		if before.State != order.RefundStopped {
			left -= before.Minor
		}
	}
	if c.Minor > left {
		return r, domain.Fail(domain.Permanent, "amount_too_large", fmt.Errorf("%d are left", left))
	}
	p.answers[c.Key] = r.ID
	p.refunded[c.Reference]++
	p.sessions[c.Session] = withPayment(f, i, func(pay *order.Payment) { pay.Refunds = append(pay.Refunds, r) })
	return r, nil
}

// withPayment is a copy of what a session is, with one payment changed.
func withPayment(f order.Fetched, i int, change func(*order.Payment)) order.Fetched {
	f.Payments = slices.Clone(f.Payments)
	f.Payments[i].Refunds, f.Payments[i].Disputes = slices.Clone(f.Payments[i].Refunds), slices.Clone(f.Payments[i].Disputes)
	change(&f.Payments[i])
	return f
}

// change makes the truth about an order's first payment another one.
func (p *fakePayments) change(id uuid.UUID, change func(*order.Payment)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[sessionOf(id)] = withPayment(p.sessions[sessionOf(id)], 0, change)
}

// refunds counts how often money was given back under one reference.
func (p *fakePayments) refunds(reference string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refunded[reference]
}

func (p *fakePayments) captures(id uuid.UUID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.captured[sessionOf(id)]
}
