// Package order is the life of a storefront order, from the order form to a
// running service (docs/orders.md).
//
// A payment provider's word is taken only as a whole and only from its own
// API: everything it may mean, payments, refunds and disputes, is one command,
// [Observe].
package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Category is that of the streams "order-<uuid>".
const Category = "order"

// Stream is the history of one order.
func Stream(id uuid.UUID) domain.Stream { return domain.Stream{Category: Category, ID: id.String()} }

// An Order is what its history amounts to: just enough to decide what may
// happen next. What the API shows of an order is a read table.
type Order struct {
	Status          Status    `json:"status"`
	Holds           []Hold    `json:"holds,omitempty"`
	Warnings        []Warning `json:"warnings,omitempty"`
	CancelRequested bool      `json:"cancel_requested,omitempty"`
	Compensating    bool      `json:"compensating,omitempty"` // the run takes back what it made
	Compensated     bool      `json:"compensated,omitempty"`  // it has
	Stuck           bool      `json:"stuck,omitempty"`        // it cannot

	ID       uuid.UUID `json:"id"`
	Number   string    `json:"number"`
	Provider string    `json:"provider"`
	Minor    int64     `json:"minor"`
	Currency string    `json:"currency"`
	Decimals int32     `json:"decimals,omitempty"` // places that the provider allows in amounts
	Test     bool      `json:"test,omitempty"`     // no real money
	PlacedAt time.Time `json:"placed_at"`
	Invoice  uuid.UUID `json:"invoice,omitzero"`     // that it pays; zero: it buys a service
	Joins    int64     `json:"joins,omitempty"`      // the tenant that its service joins; 0: a new one
	Chosen   bool      `json:"chosen,omitempty"`     // by the customer, by a link; no user has ordered for it
	KeepFor  uuid.UUID `json:"keep_for,omitzero"`    // who agreed that the payment method is kept
	Kept     bool      `json:"kept,omitempty"`       // it is
	Charge   uuid.UUID `json:"kept_method,omitzero"` // that is charged; zero: the customer pays on a page
	Refused  string    `json:"refused,omitempty"`    // why the last try to pay came to nothing

	Session   string          `json:"session,omitempty"` // the one that we opened
	ExpiresAt time.Time       `json:"expires_at,omitzero"`
	Payee     string          `json:"payee,omitempty"` // whom the session is to pay; empty: not compared
	Approved  bool            `json:"approved,omitempty"`
	Settling  bool            `json:"settling,omitempty"`  // the customer is done, the bank is not
	Payments  map[string]Seen `json:"payments,omitempty"`  // what is known of each, by the provider's id
	Confirmed string          `json:"confirmed,omitempty"` // id of the payment that the order runs on
	Surplus   []string        `json:"surplus,omitempty"`   // payments that go back by themselves
	Unlike    bool            `json:"unlike,omitempty"`    // what the customer agreed to is not what was ordered
	Unserved  bool            `json:"unserved,omitempty"`  // its service has ended, and no operator has decided about the money

	Asked    []Ask                  `json:"asked,omitempty"`    // every decision to give money back
	Refunds  map[string]SeenRefund  `json:"refunds,omitempty"`  // what is known of each, by the provider's id
	Disputes map[string]SeenDispute `json:"disputes,omitempty"` // likewise
	Reported bool                   `json:"reported,omitempty"` // a dispute that an operator has to confirm

	Place *compute.Size `json:"place,omitempty"` // of its machine, as reserved last; nil: none was

	CancelledAt time.Time       `json:"cancelled_at,omitzero"`
	Cause       CancelReason    `json:"cancel_reason,omitempty"`
	Step        string          `json:"step,omitempty"` // at which provisioning is parked
	Mail        MailState       `json:"mail,omitempty"`
	Ignored     map[string]bool `json:"ignored,omitempty"` // old news that is on record already
}

// Decider is the behaviour of the streams "order-<uuid>".
var Decider = domain.Decider[Order, Command, Event]{
	Decide: func(o Order, c Command) ([]Event, error) { return c.decide(o) },
	Evolve: func(o Order, e Event) Order { return e.evolve(o) },
}

// A Command asks an order for a change; its decide method is the rule.
type Command interface {
	domain.Command
	decide(Order) ([]Event, error)
}

// PaysInvoice tells whether the order pays an invoice. It has no service of its own.
func (o Order) PaysInvoice() bool { return o.Invoice != uuid.Nil }

// Charges tells whether the order charges a kept payment method. It has no page to pay on.
func (o Order) Charges() bool { return o.Charge != uuid.Nil }

// OnHold tells whether a person has to look at the order.
func (o Order) OnHold() bool { return len(o.Holds) > 0 }
