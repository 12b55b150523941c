package order

import (
	"slices"
	"time"
)

// LateWindow is how long after its cancellation an order that only expired is
// reopened by a payment.
const LateWindow = 72 * time.Hour

// late decides about money for a cancelled order: it either reopens the order
// or has to go back.
func (c Observe) late(o Order, p Seen, differs []string) []Event {
	refund := append(differs, c.closed(o, p)...)
	found := LatePaymentFound{Payment: p, Refund: refund, At: c.At}
	if len(refund) > 0 {
		return []Event{found}
	}
	return []Event{found, Reopened{Payment: p.ID, Placement: c.Placement, At: c.At}}
}

// certain are the reasons to send late money back that leave no doubt that it
// was meant for the order and is ours to give.
var certain = []string{"reason", "too_late", "plan", "names", "place", "amount", "currency"}

// GoesBack tells whether the money goes back by itself.
func (e LatePaymentFound) GoesBack() bool {
	return len(e.Refund) > 0 && !slices.ContainsFunc(e.Refund, func(why string) bool { return !slices.Contains(certain, why) })
}

// closed names everything that keeps a cancelled order from being reopened.
func (c Observe) closed(o Order, p Seen) (names []string) {
	for _, check := range []struct {
		name  string
		holds bool
	}{
		{"reason", o.Cause == Expired},
		{"too_late", c.ReopenWithin >= 0 && !p.At.After(o.CancelledAt.Add(c.window()))},
		{"plan", c.PlanStillOffered},
		{"names", c.NamesFree},
		{"place", !c.NeedsPlace || c.Placement != nil},
	} {
		if !check.holds {
			names = append(names, check.name)
		}
	}
	return names
}

func (c Observe) window() time.Duration {
	if c.ReopenWithin == 0 {
		return LateWindow
	}
	return c.ReopenWithin
}
