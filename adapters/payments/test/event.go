package test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// The types of events that mean something.
const (
	completed     = "checkout.session.completed"
	expired       = "checkout.session.expired"
	refunded      = "refund.created"
	refundUpdated = "refund.updated"
	disputeOpened = "charge.dispute.created"
	disputeClosed = "charge.dispute.closed"
)

// states are those that an object may be said to be in, by the type of its
// event; none has to be said where one of them is meant otherwise.
var states = map[string][]string{
	completed: {""}, expired: {""}, disputeOpened: {""},
	refunded: {"", "pending", "succeeded", "failed"}, refundUpdated: {"pending", "succeeded", "failed"},
	disputeClosed: {"won", "lost"},
}

// An event is the body of a webhook.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Live bool   `json:"livemode"`
	Data struct {
		Object object `json:"object"`
	} `json:"data"`
}

// An object is the session that an event is about, with the payment, the refund
// or the dispute that is meant. Amounts are in minor units.
type object struct {
	Session   string `json:"id"`
	Reference string `json:"client_reference_id"`
	Amount    *int64 `json:"amount_total"`
	Currency  string `json:"currency"`       // lower case
	Status    string `json:"payment_status"` // paid, unpaid
	Payment   string `json:"payment_id,omitempty"`
	Refund    string `json:"refund_id,omitempty"`  // empty: the event's id
	Dispute   string `json:"dispute_id,omitempty"` // likewise
	State     string `json:"status,omitempty"`     // of the refund or dispute
}

var (
	eventID  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	currency = regexp.MustCompile(`^[A-Za-z]{3}$`)
	objectID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

// read takes one event and nothing after it. Of types that we do not know
// only the id and the type have to make sense.
func read(raw []byte) (event, error) {
	var e event
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("read an event: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return e, fmt.Errorf("read an event: something follows it")
	}
	if !eventID.MatchString(e.ID) || e.Type == "" || len(e.Type) > 128 {
		return e, fmt.Errorf("read an event: no id or type")
	}
	if e.handled() && !e.Data.Object.complete(e.Type) {
		return e, fmt.Errorf("read an event: incomplete")
	}
	return e, nil
}

func (e event) handled() bool { return states[e.Type] != nil }

func (o object) complete(kind string) bool {
	money := o.Amount != nil && *o.Amount >= 0 && currency.MatchString(o.Currency)
	status := o.Status == "paid" || o.Status == "unpaid"
	return objectID.MatchString(o.Session) && named(o.Payment) && named(o.Refund) && named(o.Dispute) &&
		(money || kind == expired) && (status || kind != completed) && slices.Contains(states[kind], o.State)
}

func named(id string) bool { return id == "" || objectID.MatchString(id) }

// news are the references in a verified event.
func news(raw []byte, by string) (order.News, error) {
	e, err := read(raw)
	if err != nil {
		return order.News{}, domain.Refuse(domain.Invalid, "Invalid event.")
	}
	o := e.Data.Object
	n := order.News{
		EventID: e.ID, Type: e.Type, ObjectRef: o.Session, Payment: o.Payment, VerifiedBy: by, Live: e.Live,
		Handled: e.handled(),
	}
	n.Order, _ = uuid.Parse(o.Reference) // not an order's id: unknown
	return n, nil
}

// happened is the body of the webhook that tells what has become of a session.
func happened(kind string, s row, amount int64, in, status string) string {
	e := happening(kind, s, amount, in, status)
	if kind == completed {
		e.Data.Object.Payment = s.paymentID
	}
	return e.text()
}

func happening(kind string, s row, amount int64, in, status string) event {
	e := event{ID: "evt_test_" + base62(random()), Type: kind}
	e.Data.Object = object{Session: s.ID, Reference: s.Order.String(), Amount: &amount, Currency: strings.ToLower(in), Status: status}
	return e
}

func (e event) text() string {
	body, _ := json.Marshal(e) // texts and numbers alone
	return string(body)
}

func random() []byte {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return b
}
