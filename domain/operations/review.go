package operations

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// Requests of operators that change nothing by themselves are kept in journals:
// one per order, one for the inbox, and one for runs (docs/operations.md).

// ReviewCategory is that of the journals "review-<order>", "review-inbox" and
// "review-runs".
const ReviewCategory = "review"

// ReviewStream is the journal of an order, or with uuid.Nil that of the inbox.
func ReviewStream(order uuid.UUID) domain.Stream {
	if order == uuid.Nil {
		return domain.Stream{Category: ReviewCategory, ID: "inbox"}
	}
	return domain.Stream{Category: ReviewCategory, ID: order.String()}
}

// ReviewEventTypes lists every event of these journals.
var ReviewEventTypes = []domain.EventType{
	domain.Register[RecheckRequested](), domain.Register[WebhookReplayed](), domain.Register[WebhooksReplayed](),
	domain.Register[RunsRebuilt](),
}

type (
	// RecheckRequested: the provider is to be asked once more.
	RecheckRequested struct {
		Reason string    `json:"reason,omitempty"`
		At     time.Time `json:"at"`
	}
	// WebhookReplayed: a webhook is worked on anew. Before is its state until
	// then.
	WebhookReplayed struct {
		Webhook  int64     `json:"webhook"`
		Provider string    `json:"provider"`
		Event    string    `json:"event"`
		Type     string    `json:"type"`
		Before   string    `json:"before"`
		Reason   string    `json:"reason,omitempty"`
		At       time.Time `json:"at"`
	}
	// WebhooksReplayed: all webhooks that a filter leaves are worked on anew.
	WebhooksReplayed struct {
		Filter map[string]string `json:"filter"`
		Count  int64             `json:"count"`
		Reason string            `json:"reason,omitempty"`
		At     time.Time         `json:"at"`
	}
	// RunsRebuilt: the work rows of runs were compared with the log, and so many
	// were written anew.
	RunsRebuilt struct {
		Count  int64     `json:"count"`
		Reason string    `json:"reason"`
		At     time.Time `json:"at"`
	}
)

func (RecheckRequested) EventName() string { return "operations.recheck_requested" }
func (WebhookReplayed) EventName() string  { return "operations.webhook_replayed" }
func (WebhooksReplayed) EventName() string { return "operations.webhooks_replayed" }

func (RunsRebuilt) EventName() string { return "operations.runs_rebuilt" }

func (e RunsRebuilt) Says() string {
	return "rebuilt from the log: " + wording.Count(e.Count, "run") + wording.Around(" (", e.Reason, ")")
}

func (e RecheckRequested) Says() string {
	return "the payment provider is to be asked again" + wording.Around(" (", e.Reason, ")")
}

func (e WebhookReplayed) Says() string {
	return fmt.Sprintf(
		"webhook %d of %s (%s), which was %s, is acted on again%s", e.Webhook, e.Provider, e.Type, e.Before,
		wording.Around(" (", e.Reason, ")"),
	)
}

func (e WebhooksReplayed) Says() string {
	return "acted on again: " + wording.Count(e.Count, "webhook") + wording.Around(" (", e.Reason, ")")
}

// NoteReview writes an event into the journal of an order, or with uuid.Nil
// into that of the inbox or of runs.
type NoteReview struct {
	Order uuid.UUID
	Event domain.Event
}

// Stream is the journal.
func (n NoteReview) Stream() domain.Stream {
	if _, is := n.Event.(RunsRebuilt); is {
		return domain.Stream{Category: ReviewCategory, ID: "runs"}
	}
	return ReviewStream(n.Order)
}

// Reviews is the behaviour of the journals. They have no state: each event
// stands by itself.
var Reviews = domain.Decider[struct{}, NoteReview, domain.Event]{
	Decide: func(_ struct{}, n NoteReview) ([]domain.Event, error) { return []domain.Event{n.Event}, nil },
	Evolve: func(s struct{}, _ domain.Event) struct{} { return s },
}
