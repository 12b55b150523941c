package order

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SeenRefund is a refund as its provider shows it. N is the decision that it
// came of; 0: a refund made at the provider itself.
type SeenRefund struct {
	ID       string      `json:"id"`
	Payment  string      `json:"payment"`
	N        int         `json:"n,omitempty"`
	State    RefundState `json:"state"`
	Minor    int64       `json:"minor"`
	Currency string      `json:"currency"`
	At       time.Time   `json:"at,omitzero"`
}

// refunds tells what is new about the refunds of a payment.
func (c Observe) refunds(o Order, list []SeenRefund) (Order, []Event) {
	var facts []Event
	for _, r := range list {
		if refundRank[r.State] <= refundRank[o.Refunds[r.ID].State] || o.Payments[r.Payment].State != StatePaid {
			continue
		}
		e := c.refund(o, r)
		o, facts = e.evolve(o), append(facts, e)
	}
	return o, facts
}

func (c Observe) refund(o Order, r SeenRefund) Event {
	switch r.State {
	case RefundStopped:
		e := RefundFailed{N: r.N, ID: r.ID, Payment: r.Payment, Code: "returned", At: c.At}
		e.Returned, e.Holds = e.evolve(o).Returned(r.Payment), o.holdsAfter(e)
		return e
	case RefundSucceeded:
		back := o.knowRefund(r).Returned(r.Payment)
		done := RefundCompleted{Refund: r, Returned: back, Before: o.Status, At: c.At}
		if o.endsWith(done) {
			done.Holds = o.holdsAfter(done)
			return done
		}
		part := PartiallyRefunded{Refund: r, Returned: back, At: c.At}
		part.Holds = o.holdsAfter(part)
		return part
	default:
		return RefundStarted{Refund: r, At: c.At}
	}
}

// seenRefunds are the refunds of a payment, oldest first, each with the
// decision that it came of.
func (c Observe) seenRefunds(payment string, list []Refund) (seen []SeenRefund) {
	for _, r := range list {
		seen = append(seen, SeenRefund{
			ID: r.ID, Payment: payment, N: c.decisionOf(r.Reference), State: r.State, Minor: r.Minor, Currency: r.Currency, At: r.At,
		})
	}
	slices.SortFunc(seen, func(a, b SeenRefund) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return seen
}

// decisionOf reads the number out of our reference; 0: it is not ours.
func (c Observe) decisionOf(reference string) int {
	number, ours := strings.CutPrefix(reference, references(c.ID))
	if n, err := strconv.Atoi(number); ours && err == nil {
		return n
	}
	return 0
}
