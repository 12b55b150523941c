package order

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// MatchWebhook tells an order that an operator holds a webhook for one about it which
// matched no order. What the payment provider's books say against it refuses it. It books
// nothing: the provider is asked afterwards, and [Observe] decides (docs/orders.md,
// "Money is decided in one place").
type MatchWebhook struct {
	ID      uuid.UUID
	Webhook int64  // its number in the inbox
	News    string // the provider's id of it
	Type    string // in the provider's words
	Payment string // that it names; "": none
	Fetched Fetched
	Reason  string // the operator's, in words
	At      time.Time
}

// WebhookMatched is a webhook of the order that an operator has matched with it.
type WebhookMatched struct {
	Webhook  int64     `json:"webhook"`
	Provider string    `json:"provider"`
	News     string    `json:"news"`
	Type     string    `json:"type"`
	Session  string    `json:"session,omitempty"`
	Payment  string    `json:"payment,omitempty"`
	Reason   string    `json:"reason"`
	At       time.Time `json:"at"`
}

// EventName is the name in the log.
func (WebhookMatched) EventName() string { return "order.webhook_matched" }

// Says is the sentence of a history.
func (e WebhookMatched) Says() string {
	return "a webhook that matched no order (" + e.Type + ") is taken for one about this order" + wording.Around(": ", e.Reason, "")
}

func (c MatchWebhook) decide(o Order) ([]Event, error) {
	switch {
	case o.Status == "":
		return nil, o.forbids("")
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	}
	if why := c.foreign(o); why != "" {
		return nil, domain.RefuseField("order", "The webhook cannot be about this order: "+why)
	}
	return []Event{WebhookMatched{
		Webhook: c.Webhook, Provider: c.Fetched.Provider, News: c.News, Type: c.Type, Session: c.Fetched.Session,
		Payment: c.Payment, Reason: c.Reason, At: c.At,
	}}, nil
}

// foreign names what keeps the webhook from being about the order; "": nothing does.
func (c MatchWebhook) foreign(o Order) string {
	f := c.Fetched
	switch {
	case f.Provider != o.Provider:
		return "it is of another payment provider."
	case f.Session == "" && !o.knows(c.Payment), f.Session != "" && len(f.Payments) == 0 && f.Order != o.ID:
		return "it names no payment that could be compared."
	case f.Session == "":
		return ""
	case f.Order != uuid.Nil && f.Order != o.ID:
		return "its session is that of another order."
	case f.Live == o.Test:
		return "one of them is a test and the other is not."
	}
	for _, p := range f.Payments {
		switch {
		case !strings.EqualFold(p.Currency, o.Currency):
			return "its currency differs."
		case p.Minor != o.Minor:
			return "its amount differs."
		}
	}
	return ""
}

// knows tells whether a payment is one of the order's.
func (o Order) knows(payment string) bool {
	_, known := o.Payments[payment]
	return known
}

func (WebhookMatched) evolve(o Order) Order { return o }

// Stream is the history of the order.
func (c MatchWebhook) Stream() domain.Stream { return Stream(c.ID) }
