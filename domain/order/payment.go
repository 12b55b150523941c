package order

import (
	"cmp"
	"slices"
)

// payments are in the order in which they were made, whatever order the
// provider lists them in.
func (c Observe) payments() []Payment {
	list := slices.Clone(c.Fetched.Payments)
	slices.SortStableFunc(list, func(a, b Payment) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return list
}

func (c Observe) seen(p Payment) Seen {
	return Seen{
		Session: c.Fetched.Session, ID: cmp.Or(p.ID, c.Fetched.Session), State: p.State,
		Minor: p.Minor, Currency: p.Currency, Payee: p.Payee, Code: p.Code, At: p.At,
	}
}

// payment decides what one payment means. Nothing new about it means nothing;
// what was not paid in our own session means nothing either.
func (c Observe) payment(o Order, p Seen) []Event {
	switch {
	case rank[p.State] <= rank[o.Payments[p.ID].State]:
		return nil
	case p.State == StatePaid:
		return c.paid(o, p)
	case p.Session != o.Session:
		return nil
	}
	switch p.State {
	case StatePending:
		return c.pending(o, p)
	case StateDeclined, StateFailed:
		return c.declined(o, p)
	default:
		return c.approved(o, p)
	}
}

// paid books a payment once, and says what it is: the order's own, a further
// one, one for an order that was given up, or a surplus one.
func (c Observe) paid(o Order, p Seen) []Event {
	differs := c.differs(o, p)
	switch {
	case o.Status == StatusCancelled:
		return c.late(o, p, differs)
	case len(differs) > 0:
		return []Event{PaymentMismatchFound{Payment: p, Differs: differs, At: c.At}}
	case o.Status == StatusPaymentProcessing:
		e := PaymentConfirmed{Payment: p, At: c.At}
		e.Holds = o.changedHolds(e)
		return []Event{e}
	}
	return []Event{DuplicatePaymentFound{Payment: p, At: c.At}}
}

// payee is our account at the provider, as we know it or as the session that
// we opened has it.
func (c Observe) payee(o Order) string { return cmp.Or(c.Payee, o.Payee) }

func (c Observe) pending(o Order, p Seen) []Event {
	if o.Status != StatusPaymentProcessing {
		return c.ignore(o, "payment_pending", p.ID)
	}
	return []Event{AwaitingSettlement{Payment: p, At: c.At}}
}

func (c Observe) declined(o Order, p Seen) []Event {
	if o.Status != StatusPaymentProcessing {
		return c.ignore(o, "payment_"+string(p.State), p.ID)
	}
	return []Event{PaymentDeclined{Payment: p, At: c.At}}
}

// approved is the customer's word that the money may be taken, which is not
// yet money.
func (c Observe) approved(o Order, p Seen) []Event {
	if c.Fetched.State != SessionApproved || o.Status != StatusPaymentProcessing {
		return nil
	}
	if differs := c.differs(o, p); len(differs) > 0 {
		return []Event{PaymentMismatchFound{Payment: p, Differs: differs, At: c.At}}
	}
	return []Event{PaymentApproved{Payment: p, At: c.At}}
}
