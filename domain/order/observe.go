package order

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Observe tells an order what its payment provider holds for true. It decides
// everything that this may mean: confirmed, declined, settling, not as
// ordered, paid twice, paid too late, come to nothing. The same truths lead to
// the same end in whatever order and however often they are told.
type Observe struct {
	ID      uuid.UUID
	Fetched Fetched
	Payee   string // our account at the provider; empty: not compared
	At      time.Time

	// TimeUp says that the order's own time to be paid has passed. The session
	// is expired at the provider first, then fetched, then told.
	TimeUp bool

	// What a late payment needs to reopen a cancelled order.
	PlanStillOffered bool // and at the same price
	NamesFree        bool // those that the order had claimed
	NeedsPlace       bool // it has bought a virtual server, and the panel keeps stock
	Placement        *compute.Placement
	ReopenWithin     time.Duration // of the cancellation; zero is [LateWindow], negative is never
}

func (c Observe) decide(o Order) ([]Event, error) {
	if o.Status == "" {
		return nil, o.forbids("")
	}
	after, facts := c.money(o)
	return slices.Concat(facts, c.kept(after), c.session(after)), nil
}

// money looks at every payment in the light of those before it, then at what
// has gone back of them, and returns how the order stands then.
func (c Observe) money(o Order) (after Order, facts []Event) {
	payments := c.payments()
	for _, p := range payments {
		for _, e := range c.payment(o, c.seen(p)) {
			o, facts = e.evolve(o), append(facts, e)
		}
	}
	for _, p := range payments {
		var refunds, disputes []Event
		id := c.seen(p).ID
		o, refunds = c.refunds(o, c.seenRefunds(id, p.Refunds))
		o, disputes = c.disputes(o, id, p.Disputes)
		facts = slices.Concat(facts, refunds, disputes)
	}
	return c.surplus(o, facts)
}

// surplus sends back what was paid more than once or too late, once.
func (c Observe) surplus(o Order, facts []Event) (Order, []Event) {
	for _, p := range o.returnable() {
		asked := slices.ContainsFunc(o.Asked, func(a Ask) bool { return a.Payment == p.ID })
		if left := o.Left(p.ID); o.isSurplus(p) && left > 0 && !asked {
			why := RefundOfDuplicate
			if o.Status == StatusCancelled {
				why = RefundOfLate
			}
			o, facts = o.ask(facts, Ask{Payment: p.ID, Minor: left, Currency: p.Currency}, why, "", c.At)
		}
	}
	return o, facts
}

// session decides what the session itself means once its payments are known.
func (c Observe) session(o Order) []Event {
	if c.Fetched.Session != o.Session {
		return nil
	}
	reason := c.over(o)
	switch {
	case reason == "" && c.settles(o):
		return []Event{AwaitingSettlement{Payment: Seen{Session: c.Fetched.Session}, At: c.At}}
	case reason == "", o.Status == StatusCancelled:
		return nil
	case o.Status != StatusPaymentProcessing:
		return c.ignore(o, "session_"+string(reason), "")
	case o.OnHold():
		return nil // a person decides
	}
	return []Event{o.cancelled(reason, "", c.At)}
}

// settles tells whether the customer is done and the bank is not.
func (c Observe) settles(o Order) bool {
	return o.Status == StatusPaymentProcessing && !o.Settling &&
		c.Fetched.State == SessionComplete && !o.any(StatePaid)
}

// over tells why this session will not be paid any more; empty: it may be, or
// was.
func (c Observe) over(o Order) CancelReason {
	state := c.Fetched.State
	switch {
	case state == SessionOpen && !c.lapses(), o.any(StatePending) && !c.TimeUp:
		return ""
	case state == SessionExpired && o.Approved:
		return ApprovalReversed
	case state == SessionExpired:
		return Expired
	case o.any(StatePaid):
		return ""
	case state == SessionApproved && c.TimeUp:
		return CaptureDeadline
	case c.TimeUp:
		return Expired
	case state == SessionComplete && o.any(StateFailed):
		return PaymentFailed
	}
	return ""
}

// lapses tells whether a session that is open is over all the same: the time is
// up, and an approval that still comes is not captured.
func (c Observe) lapses() bool { return c.TimeUp && c.Fetched.ByCapture }

// any tells whether some payment stands at this state.
func (o Order) any(state PaymentState) bool {
	for _, p := range o.Payments {
		if p.State == state {
			return true
		}
	}
	return false
}

// ignore puts news on record that asks for a move which the order cannot
// make; once, however often it is told.
func (c Observe) ignore(o Order, news, payment string) []Event {
	e := ProviderEventIgnored{News: news, Session: c.Fetched.Session, Payment: payment, Status: o.Status, At: c.At}
	if o.Ignored[e.key()] {
		return nil
	}
	return []Event{e}
}

func (e ProviderEventIgnored) key() string { return e.News + " " + e.Session + " " + e.Payment }

// Stream is the history of the order.
func (c Observe) Stream() domain.Stream { return Stream(c.ID) }
