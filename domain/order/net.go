package order

import (
	"maps"
	"slices"
)

// What stands of the money of an order, and what a person has to look at.

// Received is the money that was taken for the order, in minor units by
// currency, whether it was due or not.
func (o Order) Received() map[string]int64 {
	return o.sum(func(p Seen) int64 { return p.Minor })
}

// Net is what we still have of the money that was taken: without what has gone
// back, and without disputes that were lost.
func (o Order) Net() map[string]int64 {
	return o.sum(func(p Seen) int64 { return p.Minor - o.Returned(p.ID) })
}

func (o Order) sum(of func(Seen) int64) map[string]int64 {
	sum := map[string]int64{}
	for _, p := range o.Payments {
		if p.State == StatePaid {
			sum[p.Currency] += of(p)
		}
	}
	return sum
}

// Returned is how much of a payment has gone back, or was claimed back by the
// customer's bank.
func (o Order) Returned(payment string) int64 {
	sum := int64(0)
	for _, r := range o.Refunds {
		if r.Payment == payment && r.State == RefundSucceeded {
			sum += r.Minor
		}
	}
	for _, d := range o.Disputes {
		if d.Payment == payment && d.State == DisputeLost {
			sum += d.Minor
		}
	}
	return min(sum, o.Payments[payment].Minor)
}

// Left is how much of a payment could still be given back: what has not gone
// back and is not on its way.
func (o Order) Left(payment string) int64 {
	p := o.Payments[payment]
	if p.State != StatePaid {
		return 0
	}
	left := p.Minor - o.Returned(payment)
	for _, r := range o.Refunds {
		if r.Payment == payment && r.State == RefundPending {
			left -= r.Minor
		}
	}
	for _, a := range o.Asked {
		if a.Payment == payment && !a.Failed && !o.hasSeen(a) {
			left -= a.Minor
		}
	}
	return max(left, 0)
}

// Open are the refunds that were decided on and have not come to an end.
func (o Order) Open() (open []Ask) {
	for _, a := range o.Asked {
		if o.isOpen(a) {
			open = append(open, a)
		}
	}
	return open
}

// IsDue tells whether a refund that was decided on is still to be sent.
func (o Order) IsDue(a Ask) bool { return o.isOpen(a) }

// IsNeedless tells whether nothing is left to do for a refund that was decided on: it
// has gone back, nothing is left of its payment, or it failed and was decided anew.
func (o Order) IsNeedless(a Ask) bool {
	anew := slices.ContainsFunc(o.Asked, func(b Ask) bool { return b.N > a.N && b.Payment == a.Payment })
	return o.hasCompleted(a) || o.Returned(a.Payment) >= o.Payments[a.Payment].Minor || a.Failed && anew
}

// isOpen tells whether a refund is still to come. One of a payment of which
// nothing is left is not needed any more.
func (o Order) isOpen(a Ask) bool {
	return !a.Failed && !o.hasCompleted(a) && o.Returned(a.Payment) < o.Payments[a.Payment].Minor
}

func (o Order) hasSeen(a Ask) bool {
	return o.refundOf(a).State != ""
}

func (o Order) hasCompleted(a Ask) bool { return o.refundOf(a).State == RefundSucceeded }

func (o Order) refundOf(a Ask) SeenRefund {
	for _, r := range o.Refunds {
		if r.N == a.N {
			return r
		}
	}
	return SeenRefund{}
}

// endsWith tells whether nothing is left of the money after e, so that the
// order is refunded.
func (o Order) endsWith(e Event) bool {
	if !slices.Contains(next[o.Status], StatusRefunded) {
		return false
	}
	after := e.evolve(o)
	for _, net := range after.Net() {
		if net > 0 {
			return false
		}
	}
	return true
}

// holdsAfter are the holds that stand after e.
func (o Order) holdsAfter(e Event) []Hold {
	after := e.evolve(o)
	holds := []Hold{}
	for _, h := range []struct {
		hold   Hold
		stands bool
	}{
		{DisputeHold, after.Reported || after.isDisputed()},
		{DuplicateHold, after.Status != StatusCancelled && after.keeps(after.isSurplus)},
		{
			OperatorHold,
			after.Stuck || after.Status == StatusCancelled && after.keeps(after.isStray) ||
				after.Unserved && after.Returned(after.Confirmed) < after.Payments[after.Confirmed].Minor,
		},
		{
			MismatchHold,
			after.Status != StatusCancelled && after.keeps(after.isStray) || after.Unlike && after.Status == StatusPaymentProcessing,
		},
		{RefundHold, after.refundFailed()},
	} {
		if h.stands {
			holds = append(holds, h.hold)
		}
	}
	return holds
}

// changedHolds are the holds that stand after e; nil: the same as before it.
func (o Order) changedHolds(e Event) []Hold {
	if after := o.holdsAfter(e); !slices.Equal(after, o.Holds) {
		return after
	}
	return nil
}

// keeps tells whether we have money of such payments.
func (o Order) keeps(such func(Seen) bool) bool {
	for _, p := range o.Payments {
		if p.State == StatePaid && such(p) && o.Returned(p.ID) < p.Minor {
			return true
		}
	}
	return false
}

// isSurplus tells whether a payment goes back by itself.
func (o Order) isSurplus(p Seen) bool { return slices.Contains(o.Surplus, p.ID) }

// isStray tells whether only a person can say what becomes of a payment.
func (o Order) isStray(p Seen) bool { return p.ID != o.Confirmed && !o.isSurplus(p) }

// refundFailed tells whether money that should have gone back has not, and
// nothing has been decided about it since.
func (o Order) refundFailed() bool {
	for _, p := range o.Payments {
		if p.State != StatePaid || o.Left(p.ID) == 0 {
			continue
		}
		last := Ask{}
		for _, a := range o.Asked {
			if a.Payment == p.ID {
				last = a
			}
		}
		if last.Failed && !o.hasCompleted(last) || last.N == 0 && o.cameBack(p.ID) {
			return true
		}
	}
	return false
}

// cameBack tells whether a refund that was made at the provider itself failed.
func (o Order) cameBack(payment string) bool {
	for _, r := range o.Refunds {
		if r.Payment == payment && r.State == RefundStopped {
			return true
		}
	}
	return false
}

// MoneyBack is what has gone back or is to, as far as it has come: what was
// made at the provider itself, which has no number, and then what was asked
// for.
func (o Order) MoneyBack() (all []SeenRefund) {
	for _, id := range slices.Sorted(maps.Keys(o.Refunds)) {
		if r := o.Refunds[id]; r.N == 0 {
			all = append(all, r)
		}
	}
	for _, a := range o.Asked {
		r := o.refundOf(a)
		if r.ID == "" {
			r = SeenRefund{Payment: a.Payment, N: a.N, State: RefundAwaited, Minor: a.Minor, Currency: a.Currency}
			if a.Failed {
				r.State = RefundStopped
			}
		}
		all = append(all, r)
	}
	return all
}

// Claimed are the disputes of the order's payments, by their ids.
func (o Order) Claimed() []SeenDispute {
	all := make([]SeenDispute, 0, len(o.Disputes))
	for _, id := range slices.Sorted(maps.Keys(o.Disputes)) {
		all = append(all, o.Disputes[id])
	}
	return all
}
