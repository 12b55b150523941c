package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A Message is what an endpoint is told: that something of some type has
// happened to a record of the tenant's. It holds no personal data and no
// secrets, since the receiver reads the record by the API.
type Message struct {
	ID     string          `json:"id"`   // of the event: the same for each endpoint and each attempt (webhook-id)
	Type   string          `json:"type"` // one of [Types]
	At     time.Time       `json:"at"`   // of the event
	Tenant int64           `json:"tenant"`
	Data   json.RawMessage `json:"data"` // a JSON object
}

// Body is what is sent and signed: the same bytes each time.
func (m Message) Body() []byte {
	b, err := json.Marshal(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{m.Type, m.At.UTC().Format(time.RFC3339Nano), m.Data})
	if err != nil {
		panic("webhook: the data of a message is no JSON: " + err.Error()) // Request has looked
	}
	return b
}

// A Thing is the record that a message is about, which the receiver reads by
// the API.
type Thing struct {
	Kind    string `json:"kind"`
	ID      int64  `json:"id,omitempty"`
	OrderID string `json:"order_id,omitempty"`
	Number  string `json:"number,omitempty"` // of an invoice or a credit note
	Tenant  int64  `json:"tenant"`
	URL     string `json:"url"` // path of the record in the API
}

// Data is what the message says of the thing.
func (t Thing) Data() json.RawMessage {
	data, err := json.Marshal(t)
	if err != nil {
		panic("webhook: a thing is no JSON: " + err.Error()) // texts and numbers are
	}
	return data
}

// A Status says how far a delivery is.
type Status string

const (
	Pending   Status = "pending"   // to be tried, or tried again
	Succeeded Status = "delivered" // the endpoint has accepted it
	Failed    Status = "failed"    // it will not be tried any more
)

// Statuses are all of them, in their order.
var Statuses = []Status{Pending, Succeeded, Failed}

// A Delivery is one message on its way to one endpoint, as its history has it.
type Delivery struct {
	Endpoint int64   `json:"endpoint"`
	Tenant   int64   `json:"tenant"`
	Message  Message `json:"message"`
	Status   Status  `json:"status"`
	Attempts int     `json:"attempts"`
	Round    int     `json:"round"` // 1; one more for each redelivery
}

// TenantID is the tenant whose endpoint it goes to.
func (d Delivery) TenantID() int64 { return d.Tenant }

// DeliveryStream is the history of a delivery.
func DeliveryStream(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: DeliveryCategory, ID: id.String()}
}

// Deliveries is the behaviour of the streams of deliveries.
var Deliveries = domain.Decider[Delivery, DeliveryCommand, DeliveryEvent]{
	Decide: func(d Delivery, c DeliveryCommand) ([]DeliveryEvent, error) { return c.decide(d) },
	Evolve: func(d Delivery, e DeliveryEvent) Delivery { return e.evolve(d) },
}

type (
	// A DeliveryCommand asks for a change of a delivery.
	DeliveryCommand interface {
		domain.Command
		decide(Delivery) ([]DeliveryEvent, error)
	}
	// A DeliveryEvent belongs to the stream of a delivery.
	DeliveryEvent interface {
		domain.Event
		evolve(Delivery) Delivery
	}
)

// What may be asked of a delivery. What comes when it is over changes nothing,
// apart from a receipt, which is good news however late.
type (
	// Request has a message delivered. The id follows from the event and the
	// endpoint, so nothing is delivered twice; a repeat changes nothing.
	Request struct {
		ID               uuid.UUID
		Endpoint, Tenant int64
		Message          Message
	}
	// Attempted records an attempt that came to nothing.
	Attempted struct {
		ID     uuid.UUID
		Status int           // of the answer; 0: there was none
		Code   string        // short and stable, such as "status_500" or "timeout"
		Took   time.Duration // until then
		At     time.Time
		NextAt time.Time // when it is tried again; zero: that is not known
	}
	// Confirm records that the endpoint has taken the message.
	Confirm struct {
		ID     uuid.UUID
		Status int // of the answer: 2xx
		At     time.Time
	}
	// Fail ends a delivery that came to nothing.
	Fail struct {
		ID   uuid.UUID
		Code string // "gave_up", "endpoint_inactive", "address_refused", "gone"
		At   time.Time
	}
	// Redeliver has a message delivered again that was delivered or given up.
	Redeliver struct {
		ID uuid.UUID
		By int64 // user
	}
)

func (c Request) decide(d Delivery) ([]DeliveryEvent, error) {
	switch {
	case d.Status != "":
		return nil, nil
	case c.Endpoint < 1 || c.Tenant < 1 || c.Message.ID == "" || !IsType(c.Message.Type) || !json.Valid(c.Message.Data):
		return nil, fmt.Errorf("webhook: %q for endpoint %d is no message", c.Message.Type, c.Endpoint)
	}
	return []DeliveryEvent{DeliveryRequested{Endpoint: c.Endpoint, Tenant: c.Tenant, Message: c.Message}}, nil
}

func (c Attempted) decide(d Delivery) ([]DeliveryEvent, error) {
	return d.unless(d.Status != Pending, DeliveryAttempted{
		Status: c.Status, Code: c.Code, Took: c.Took.Milliseconds(), At: c.At, NextAt: c.NextAt,
	})
}

func (c Confirm) decide(d Delivery) ([]DeliveryEvent, error) {
	return d.unless(d.Status == Succeeded, Delivered{Status: c.Status, At: c.At})
}

func (c Fail) decide(d Delivery) ([]DeliveryEvent, error) {
	return d.unless(d.Status != Pending, DeliveryFailed{Code: c.Code, At: c.At})
}

func (c Redeliver) decide(d Delivery) ([]DeliveryEvent, error) {
	if d.Status == Pending {
		return nil, &domain.Error{Code: domain.Conflict, Reason: "delivery_pending", Message: "The delivery is still being attempted."}
	}
	return d.unless(false, RedeliveryRequested{Round: d.Round + 1, By: c.By})
}

// unless answers with the event if it is not so already.
func (d Delivery) unless(already bool, fact DeliveryEvent) ([]DeliveryEvent, error) {
	switch {
	case d.Status == "":
		return nil, domain.Refuse(domain.NotFound, "No WebhookDelivery matches the given query.")
	case already:
		return nil, nil
	}
	return []DeliveryEvent{fact}, nil
}

func (c Request) Stream() domain.Stream   { return DeliveryStream(c.ID) }
func (c Attempted) Stream() domain.Stream { return DeliveryStream(c.ID) }
func (c Confirm) Stream() domain.Stream   { return DeliveryStream(c.ID) }
func (c Fail) Stream() domain.Stream      { return DeliveryStream(c.ID) }
func (c Redeliver) Stream() domain.Stream { return DeliveryStream(c.ID) }

type (
	// DeliveryRequested: a message is to be sent to an endpoint.
	DeliveryRequested struct {
		Endpoint int64   `json:"endpoint"`
		Tenant   int64   `json:"tenant"`
		Message  Message `json:"message"`
	}
	// DeliveryAttempted: the endpoint has not accepted an attempt. Status is that of
	// its answer; 0: there was none. The next attempt is at NextAt; zero: there is none.
	DeliveryAttempted struct {
		Status int       `json:"status,omitempty"`
		Code   string    `json:"code"`
		Took   int64     `json:"took_ms"`
		At     time.Time `json:"at"`
		NextAt time.Time `json:"next_at,omitzero"`
	}
	// Delivered: the endpoint has accepted the message.
	Delivered struct {
		Status int       `json:"status"`
		At     time.Time `json:"at"`
	}
	// DeliveryFailed: the message will not be sent any more; Code says why.
	DeliveryFailed struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
	}
	// RedeliveryRequested: a user has asked for the message once more.
	RedeliveryRequested struct {
		Round int   `json:"round"` // 2 for the first time
		By    int64 `json:"by"`
	}
)

func (DeliveryRequested) EventName() string   { return "webhook.delivery_requested" }
func (DeliveryAttempted) EventName() string   { return "webhook.delivery_attempted" }
func (Delivered) EventName() string           { return "webhook.delivered" }
func (DeliveryFailed) EventName() string      { return "webhook.delivery_failed" }
func (RedeliveryRequested) EventName() string { return "webhook.redelivery_requested" }

func (e DeliveryRequested) Says() string {
	return fmt.Sprintf("%s for endpoint %d", e.Message.Type, e.Endpoint)
}

func (e DeliveryAttempted) Says() string {
	return fmt.Sprintf("not delivered: %s, after %d ms", wording.Spaced(e.Code), e.Took)
}

func (e Delivered) Says() string      { return fmt.Sprintf("delivered, answered with %d", e.Status) }
func (e DeliveryFailed) Says() string { return "given up: " + wording.Spaced(e.Code) }

func (e RedeliveryRequested) Says() string {
	return fmt.Sprintf("to be delivered again, round %d", e.Round)
}

func (e DeliveryRequested) evolve(Delivery) Delivery {
	return Delivery{Endpoint: e.Endpoint, Tenant: e.Tenant, Message: e.Message, Status: Pending, Round: 1}
}

func (DeliveryAttempted) evolve(d Delivery) Delivery { d.Attempts++; return d }

func (Delivered) evolve(d Delivery) Delivery {
	d.Status = Succeeded
	d.Attempts++
	return d
}

func (DeliveryFailed) evolve(d Delivery) Delivery { d.Status = Failed; return d }

func (e RedeliveryRequested) evolve(d Delivery) Delivery {
	d.Status, d.Round = Pending, e.Round
	return d
}
