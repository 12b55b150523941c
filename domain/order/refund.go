package order

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/money"
	"hostpanel/domain/wording"
)

// How money goes back. That it shall is decided once, as RefundRequested; that
// it has gone only the provider can tell, through [Observe] (docs/orders.md,
// "Money back").
type (
	// RequestRefund asks for money back to the customer: an amount in the
	// order's currency, or all that is left.
	RequestRefund struct {
		ID     uuid.UUID
		Amount *decimal.Decimal // nil: all that is left
		Reason string           // the operator's, in words
		Why    RefundReason     // "": an operator asks for it
		At     time.Time
	}
	// FailRefund records that a refund that was asked for will not be tried
	// any more.
	FailRefund struct {
		ID   uuid.UUID
		N    int    // which
		Code string // short and stable, such as "refused"
		At   time.Time
	}
)

// An Ask is the decision to give money back. N numbers the decisions of an
// order, never the tries.
type Ask struct {
	N        int    `json:"n"`
	Payment  string `json:"payment"`
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
	Failed   bool   `json:"failed,omitempty"`
}

// Reference is what the refund is found by at the provider, and the key of
// its effect: "order/<id>/refund/<n>".
func (a Ask) Reference(order uuid.UUID) string { return references(order) + strconv.Itoa(a.N) }

func references(order uuid.UUID) string { return "order/" + order.String() + "/refund/" }

// A RefundReason says why money goes back.
type RefundReason string

const (
	RefundByOperator  RefundReason = "operator"  // an operator asked for it
	RefundOfDuplicate RefundReason = "duplicate" // the order was paid more than once
	RefundOfLate      RefundReason = "late"      // the money came after the order was given up
	RefundOfCancelled RefundReason = "cancelled" // everything that was set up has been taken back
	RefundOfUnused    RefundReason = "unused"    // the service ended before the time that was paid for
)

// The events of money back. Holds are those that stand after the event.
// Returned is how much of the payment has gone back by then, in minor units
// (see [Order.Returned]).
type (
	RefundRequested struct {
		Refund Ask          `json:"refund"`
		Reason RefundReason `json:"reason"`
		Note   string       `json:"note,omitempty"` // an operator's reason
		Holds  []Hold       `json:"holds"`
		At     time.Time    `json:"at"`
	}
	// RefundStarted is a refund that the provider has taken on.
	RefundStarted struct {
		Refund SeenRefund `json:"refund"`
		At     time.Time  `json:"at"`
	}
	// PartiallyRefunded is money gone back that does not end the order.
	PartiallyRefunded struct {
		Refund   SeenRefund `json:"refund"`
		Returned int64      `json:"returned"`
		Holds    []Hold     `json:"holds"`
		At       time.Time  `json:"at"`
	}
	// RefundCompleted is money gone back after which nothing is left: the
	// order is refunded.
	RefundCompleted struct {
		Refund   SeenRefund `json:"refund"`
		Returned int64      `json:"returned"`
		Before   Status     `json:"before"`
		Holds    []Hold     `json:"holds"`
		At       time.Time  `json:"at"`
	}
	// RefundFailed is a refund that has not reached the customer. N is 0 for
	// one that was made at the provider itself; ID is empty for one that the
	// provider never had.
	RefundFailed struct {
		N        int       `json:"n,omitempty"`
		ID       string    `json:"id,omitempty"`
		Payment  string    `json:"payment"`
		Returned int64     `json:"returned"`
		Code     string    `json:"code"`
		Holds    []Hold    `json:"holds"`
		At       time.Time `json:"at"`
	}
)

func (RefundRequested) EventName() string   { return "order.refund_requested" }
func (RefundStarted) EventName() string     { return "order.refund_started" }
func (PartiallyRefunded) EventName() string { return "order.partially_refunded" }
func (RefundCompleted) EventName() string   { return "order.refund_completed" }
func (RefundFailed) EventName() string      { return "order.refund_failed" }

func (e RefundRequested) Says() string {
	why := map[RefundReason]string{
		RefundByOperator: e.Note, RefundOfDuplicate: "the order was paid more than once",
		RefundOfLate: "it came too late", RefundOfCancelled: "the order was cancelled",
	}[e.Reason]
	return fmt.Sprintf(
		"refund %d: %s is to go back%s", e.Refund.N, money.Format(e.Refund.Minor, e.Refund.Currency),
		wording.Around(": ", why, ""),
	)
}

func (e RefundStarted) Says() string     { return returned(e.Refund) + " is on its way back" }
func (e PartiallyRefunded) Says() string { return returned(e.Refund) + " went back" }

func (e RefundCompleted) Says() string {
	return returned(e.Refund) + " went back; nothing is left: refunded"
}

func (e RefundFailed) Says() string {
	return "a refund of payment " + e.Payment + " failed: " + wording.Spaced(e.Code) + wording.Around(", ", e.ID, "")
}

// refundRank orders what is known of one refund.
var refundRank = map[RefundState]int{RefundPending: 1, RefundSucceeded: 2, RefundStopped: 3}

func (c RequestRefund) decide(o Order) ([]Event, error) {
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case o.Status == "":
		return nil, o.forbids("")
	}
	asks, err := c.asks(o)
	if err != nil {
		return nil, err
	}
	var facts []Event
	for _, a := range asks {
		o, facts = o.ask(facts, a, cmp.Or(c.Why, RefundByOperator), c.Reason, c.At)
	}
	return facts, nil
}

// asks spread the amount over what is left of the payments: first over those
// that the order does not run on.
func (c RequestRefund) asks(o Order) (asks []Ask, err error) {
	rest, all := int64(0), c.Amount == nil
	if !all {
		if rest, err = o.refundable(*c.Amount); err != nil {
			return nil, err
		}
	}
	for _, p := range o.returnable() {
		part := o.Left(p.ID)
		if !all {
			if !strings.EqualFold(p.Currency, o.Currency) {
				continue
			}
			if rest > 0 && rest < part && o.claims(p.ID) {
				return nil, errDisputedPart
			}
			part = min(part, rest)
			rest -= part
		}
		if part > 0 {
			asks = append(asks, Ask{Payment: p.ID, Minor: part, Currency: p.Currency})
		}
	}
	if len(asks) == 0 {
		return nil, o.forbids("has nothing to be refunded")
	}
	return asks, nil
}

// errDisputedPart refuses what providers refuse: during a dispute a payment goes back as a whole,
// if at all.
var errDisputedPart = domain.RefuseField(
	"amount", "The payment is disputed. Refund all that is left of it, or wait for the outcome of the dispute.",
)

// refundable is an amount in minor units, if that much is left.
func (o Order) refundable(amount decimal.Decimal) (int64, error) {
	left := int64(0)
	for _, p := range o.returnable() {
		if strings.EqualFold(p.Currency, o.Currency) {
			left += o.Left(p.ID)
		}
	}
	units := amount.Shift(o.Decimals)
	switch {
	case left == 0:
		return 0, o.forbids("has nothing to be refunded")
	case !units.IsInteger():
		return 0, domain.RefuseField("amount", fmt.Sprintf("Ensure that there are no more than %d decimal places.", o.Decimals))
	case !units.IsPositive():
		return 0, domain.RefuseField(
			"amount",
			fmt.Sprintf("Ensure this value is greater than or equal to %s.", decimal.New(1, -o.Decimals).StringFixed(o.Decimals)),
		)
	case amount.GreaterThan(money.Major(left, o.Currency)):
		return 0, domain.RefuseField(
			"amount",
			fmt.Sprintf("Ensure this value is less than or equal to %s.", money.Major(left, o.Currency).StringFixed(o.Decimals)),
		)
	}
	minor, _ := money.Minor(amount, o.Currency)
	return minor, nil
}

// returnable are the payments of which something could go back; the one that
// the order runs on is the last.
func (o Order) returnable() []Seen {
	var list []Seen
	for _, p := range o.Payments {
		if p.State == StatePaid {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Seen) int {
		return cmp.Or(flag(a.ID == o.Confirmed)-flag(b.ID == o.Confirmed), a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ask adds the next decision to give money back.
func (o Order) ask(facts []Event, a Ask, why RefundReason, note string, at time.Time) (Order, []Event) {
	a.N = len(o.Asked) + 1
	e := RefundRequested{Refund: a, Reason: why, Note: note, At: at}
	e.Holds = o.holdsAfter(e)
	return e.evolve(o), append(facts, e)
}

func (c FailRefund) decide(o Order) ([]Event, error) {
	if c.N < 1 || c.N > len(o.Asked) {
		return nil, o.forbids("has no such refund")
	}
	a := o.Asked[c.N-1]
	if !o.isOpen(a) {
		return nil, nil // it came through, or is not needed any more
	}
	e := RefundFailed{N: c.N, Payment: a.Payment, Returned: o.Returned(a.Payment), Code: c.Code, At: c.At}
	e.Holds = o.holdsAfter(e)
	return []Event{e}, nil
}

func (e RefundRequested) evolve(o Order) Order {
	o.Asked = append(slices.Clone(o.Asked), e.Refund)
	o.Holds = e.Holds
	return o
}

func (e RefundStarted) evolve(o Order) Order { return o.knowRefund(e.Refund) }

func (e PartiallyRefunded) evolve(o Order) Order {
	o = o.knowRefund(e.Refund)
	o.Holds = e.Holds
	return o
}

func (e RefundCompleted) evolve(o Order) Order {
	o = o.knowRefund(e.Refund)
	o.Status, o.Settling, o.Holds = StatusRefunded, false, e.Holds
	return o
}

func (e RefundFailed) evolve(o Order) Order {
	if known, seen := o.Refunds[e.ID]; e.ID != "" && seen {
		known.State = RefundStopped
		o = o.knowRefund(known)
	} else if e.ID != "" {
		o = o.knowRefund(SeenRefund{ID: e.ID, Payment: e.Payment, N: e.N, State: RefundStopped})
	}
	if e.N > 0 && e.N <= len(o.Asked) {
		o.Asked = slices.Clone(o.Asked)
		o.Asked[e.N-1].Failed = true
	}
	o.Holds = e.Holds
	return o
}

// knowRefund keeps what is known of a refund; a rank is never lowered.
func (o Order) knowRefund(r SeenRefund) Order {
	o.Refunds = learn(o.Refunds, r.ID, r, refundRank[r.State] > refundRank[o.Refunds[r.ID].State])
	return o
}

func (c RequestRefund) Stream() domain.Stream { return Stream(c.ID) }
func (c FailRefund) Stream() domain.Stream    { return Stream(c.ID) }

func returned(r SeenRefund) string { return money.Format(r.Minor, r.Currency) }
