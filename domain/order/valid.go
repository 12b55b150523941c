package order

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// differs names everything in which a payment is not the one that the order
// asked for. Amounts are compared as integers, without any tolerance.
func (c Observe) differs(o Order, p Seen) (names []string) {
	for _, check := range []struct {
		name  string
		holds bool
	}{
		{"provider", c.Fetched.Provider == o.Provider},
		{"reference", c.Fetched.Order == o.ID},
		{"session", p.Session == o.Session && o.Session != ""},
		{"amount", p.Minor == o.Minor},
		{"currency", strings.EqualFold(p.Currency, o.Currency)},
		{"payee", c.payee(o) == "" || p.Payee == c.payee(o)},
		{"mode", c.Fetched.Live != o.Test},
	} {
		if !check.holds {
			names = append(names, check.name)
		}
	}
	return names
}

// payee is our account at the provider, as we know it or as the session that
// we opened has it.
func (c Observe) payee(o Order) string { return cmp.Or(c.Payee, o.Payee) }

// late decides about money for a cancelled order: it either reopens the order
// or has to go back.
func (c Observe) late(o Order, p Seen, differs []string) []Event {
	refund := append(differs, c.closed(o, p)...)
	found := LatePaymentFound{Payment: p, Refund: refund, At: c.At}
	if len(refund) > 0 {
		return []Event{found}
	}
	return []Event{found, Reopened{Payment: p.ID, At: c.At}}
}

// certain are the reasons to send late money back that leave no doubt that it
// was meant for the order and is ours to give.
var certain = []string{"reason", "too_late", "plan", "names", "amount", "currency"}

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
