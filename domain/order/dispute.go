package order

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/money"
	"hostpanel/domain/wording"
)

// A dispute is a payment that the customer's bank claims back. While it is
// open, the service is suspended; if it is lost, the money is gone
// (docs/orders.md, "Disputes").
type (
	// ReportDispute records news of a dispute that only an operator can
	// confirm, because they may be forged.
	ReportDispute struct {
		ID uuid.UUID
		At time.Time
	}
	// DecideDispute is an operator's word on a dispute, where the provider
	// cannot be asked.
	DecideDispute struct {
		ID      uuid.UUID
		Outcome DisputeState
		Reason  string
		At      time.Time
	}
)

// SeenDispute is a dispute as its provider shows it.
type SeenDispute struct {
	ID       string       `json:"id"`
	Payment  string       `json:"payment"`
	State    DisputeState `json:"state"`
	Minor    int64        `json:"minor"`
	Currency string       `json:"currency"`
	At       time.Time    `json:"at,omitzero"`
}

type (
	// DisputeReported: the provider names a dispute that it has not shown yet.
	DisputeReported struct {
		At time.Time `json:"at"`
	}
	// DisputeOpened: the customer's bank claims the payment back.
	DisputeOpened struct {
		Dispute SeenDispute `json:"dispute"`
		Note    string      `json:"note,omitempty"` // an operator's reason
		At      time.Time   `json:"at"`
	}
	// DisputeClosed ends a dispute. Chargeback says that nothing is left of
	// the money: the order is refunded. Returned is how much of the payment has
	// gone back by then, in minor units.
	DisputeClosed struct {
		Dispute    SeenDispute `json:"dispute"`
		Returned   int64       `json:"returned"`
		Chargeback bool        `json:"chargeback"`
		Before     Status      `json:"before"`
		Note       string      `json:"note,omitempty"`
		Holds      []Hold      `json:"holds"`
		At         time.Time   `json:"at"`
	}
)

func (DisputeReported) EventName() string { return "order.dispute_reported" }
func (DisputeOpened) EventName() string   { return "order.dispute_opened" }
func (DisputeClosed) EventName() string   { return "order.dispute_closed" }

func (DisputeReported) Says() string {
	return "the provider reports a dispute: an operator must confirm it"
}

func (e DisputeOpened) Says() string {
	return "the customer's bank claims " + money.Format(e.Dispute.Minor, e.Dispute.Currency) + " back" + wording.Around(": ", e.Note, "")
}

func (e DisputeClosed) Says() string {
	return "the dispute over " + money.Format(e.Dispute.Minor, e.Dispute.Currency) + " was " + string(e.Dispute.State) +
		wording.Around(": ", e.Note, "")
}

// disputeRank orders what is known of one dispute. Nothing reopens a closed
// one.
var disputeRank = map[DisputeState]int{DisputeOpen: 1, DisputeWon: 2, DisputeLost: 2}

// disputes tells what is new about the disputes of a payment.
func (c Observe) disputes(o Order, payment string, list []Dispute) (Order, []Event) {
	var facts []Event
	for _, d := range list {
		if disputeRank[d.State] <= disputeRank[o.Disputes[d.ID].State] || o.Payments[payment].State != StatePaid {
			continue
		}
		e := o.dispute(SeenDispute{d.ID, payment, d.State, d.Minor, d.Currency, d.At}, "", c.At)
		o, facts = e.evolve(o), append(facts, e)
	}
	return o, facts
}

func (o Order) dispute(d SeenDispute, note string, at time.Time) Event {
	if d.State == DisputeOpen {
		return DisputeOpened{Dispute: d, Note: note, At: at}
	}
	e := DisputeClosed{Dispute: d, Returned: o.knowDispute(d).Returned(d.Payment), Before: o.Status, Note: note, At: at}
	if d.State == DisputeLost {
		e.Chargeback = o.endsWith(e)
	}
	e.Holds = o.holdsAfter(e)
	return e
}

func (c ReportDispute) decide(o Order) ([]Event, error) {
	switch {
	case o.Status == "":
		return nil, o.forbids("")
	case o.Reported, o.isDisputed(), o.Confirmed == "":
		return nil, nil
	}
	return []Event{DisputeReported{At: c.At}}, nil
}

func (c DecideDispute) decide(o Order) ([]Event, error) {
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case !o.Reported && !o.isDisputed() && (o.Confirmed == "" || o.Status == StatusRefunded):
		return nil, o.forbids("has no payment that could be disputed")
	case disputeRank[c.Outcome] == 0:
		return nil, domain.RefuseField("outcome", `"`+string(c.Outcome)+`" is not a valid choice.`)
	}
	d, known := o.openDispute()
	switch {
	case known && c.Outcome == DisputeOpen:
		return nil, nil
	case !known:
		p := o.Payments[o.Confirmed]
		d = SeenDispute{ID: c.name(o), Payment: p.ID, Minor: cmp.Or(p.Minor-o.Returned(p.ID), p.Minor), Currency: p.Currency, At: c.At}
	}
	d.State = c.Outcome
	return []Event{o.dispute(d, c.Reason, c.At)}, nil
}

// byOperator begins the ids of disputes that the provider does not name.
const byOperator = "operator/"

// ByOperator tells whether an operator has entered the dispute, not the provider.
func (d SeenDispute) ByOperator() bool { return strings.HasPrefix(d.ID, byOperator) }

// name is that of a dispute whose name at the provider is unknown.
func (c DecideDispute) name(o Order) string {
	name := byOperator + c.ID.String()
	for range o.Disputes {
		name += "+" // there was one before
	}
	return name
}

func (o Order) openDispute() (SeenDispute, bool) {
	for _, d := range o.Claimed() {
		if d.State == DisputeOpen {
			return d, true
		}
	}
	return SeenDispute{}, false
}

// claims tells whether the customer's bank claims money of a payment back.
func (o Order) claims(payment string) bool {
	return slices.ContainsFunc(o.Claimed(), func(d SeenDispute) bool { return d.Payment == payment && d.State == DisputeOpen })
}

// isDisputed tells whether the customer's bank claims money back.
func (o Order) isDisputed() bool {
	_, open := o.openDispute()
	return open
}

func (DisputeReported) evolve(o Order) Order {
	o.Reported = true
	return o.hold(DisputeHold)
}

func (e DisputeOpened) evolve(o Order) Order {
	o.Reported = false
	return o.knowDispute(e.Dispute).hold(DisputeHold)
}

func (e DisputeClosed) evolve(o Order) Order {
	o = o.knowDispute(e.Dispute)
	o.Reported, o.Holds = false, e.Holds
	if e.Chargeback {
		o.Status, o.Settling = StatusRefunded, false
	}
	return o
}

// knowDispute keeps what is known of a dispute; a rank is never lowered.
func (o Order) knowDispute(d SeenDispute) Order {
	o.Disputes = learn(o.Disputes, d.ID, d, disputeRank[d.State] > disputeRank[o.Disputes[d.ID].State])
	return o
}

func (c ReportDispute) Stream() domain.Stream { return Stream(c.ID) }
func (c DecideDispute) Stream() domain.Stream { return Stream(c.ID) }
