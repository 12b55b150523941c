// Package operations holds what operators read to solve a problem: runs and their
// attempts, the ledger of effects, received webhooks, and orders whose payment and
// service disagree (docs/operations.md).
//
// It decides incidents, the problems that belong to no order, run or record
// (docs/operations.md, "Incidents"). The commands on runs and orders are decided in
// their own packages.
package operations

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// RunCategory is the category of the streams of runs, "saga-<uuid>".
const RunCategory = "saga"

// A StepRef is one step in a run's frozen list, and the queue in which it waits
// its turn.
type StepRef struct {
	Name  string `json:"name"`
	Queue string `json:"queue"`
}

// A Run is one execution of a saga.
type Run struct {
	ID        uuid.UUID
	Key       string // "provision:<order>"
	Def       string // "provision/1"
	Kind      string // "provision"
	Steps     []StepRef
	Order     *uuid.UUID
	About     string // stream of the hosting resource that it works for: "site-42"
	Direction string // do, undo
	Status    string // ready, running, waiting, parked, paused, done, undone
	Step      int    // index of the one at which it stands
	Attempt   int    // at this step
	RunAt     time.Time
	Worker    *string // the worker
	Version   int64   // of its stream
	Token     int64   // of its lease: rises with each claim
	CreatedAt time.Time
	UpdatedAt time.Time // of its last event
	LastError string    // of a task; a run has it with its attempts

	Attempts []Attempt `db:"-"`
	Effects  []Effect  `db:"-"`
}

// Stream is the run's history.
func (r Run) Stream() domain.Stream { return domain.Stream{Category: RunCategory, ID: r.ID.String()} }

// At is the name of the run's present or last step.
func (r Run) At() string {
	if len(r.Steps) == 0 {
		return ""
	}
	return r.Steps[min(max(r.Step, 0), len(r.Steps)-1)].Name
}

// Over tells whether the run has ended.
func (r Run) Over() bool { return r.Status == "done" || r.Status == "undone" }

// TaskDefinition is that of tasks: work that comes due by itself, which is listed like a run of
// one step.
const TaskDefinition = "task"

// IsTask reports whether the run is a task, which has no stream.
func (r Run) IsTask() bool { return r.Def == TaskDefinition }

// An Attempt is one attempt at one step.
type Attempt struct {
	Run        uuid.UUID
	Step       int // index in the run's list
	Token      int64
	StartedAt  time.Time
	FinishedAt *time.Time
	Outcome    string // completed, retry, wait, released, …; "": it is being made, or its worker is lost
	ErrorClass string // transient, unknown, permanent, wait; "": none
	Error      string // for operators, without secrets and personal data
	NextRunAt  *time.Time
}

// HasFailed tells whether the attempt failed.
func (a Attempt) HasFailed() bool {
	return a.ErrorClass != "" && a.ErrorClass != "wait" && a.ErrorClass != "cancelled"
}

// An Effect is a row of the ledger: an outside call that was made, or may have been.
type Effect struct {
	Run        uuid.UUID
	Key        string // "o/<order>/site"
	Step       string
	State      string // intended, unknown, absent, confirmed, deferred, skipped, undoing, undone
	ExternalID string
	Sends      int // that were done or may have been
	UpdatedAt  time.Time
}

// A Webhook is a message of a payment provider in the inbox.
type Webhook struct {
	ID         int64
	Provider   string
	EventID    string
	Type       string // in the provider's words
	State      string // stored, done, ignored, unmatched, parked
	Order      *uuid.UUID
	Attempts   int
	Error      string
	ReceivedAt time.Time
	Headers    json.RawMessage // without the values of signatures
	Body       []byte          // as it came; nil: it is no longer kept
}

// Tag changes with every change of the webhook.
func (w Webhook) Tag() string {
	return w.State + strconv.Itoa(w.Attempts) + w.Error + strconv.FormatBool(w.Body == nil)
}

// WebhookStates are those of a webhook.
var WebhookStates = []string{"stored", "done", "ignored", "unmatched", "parked"}

// Fields are the webhook in a list.
func (w *Webhook) Fields() field.Set {
	attempts := int64(w.Attempts)
	return field.Set{
		field.Int("id", &w.ID).ReadOnly(),
		field.Text("provider", &w.Provider).ReadOnly().Labelled("about_provider"),
		field.Text("event_id", &w.EventID).ReadOnly().Labelled("entry_event"),
		field.Text("type", &w.Type).ReadOnly().Labelled("entry_type"),
		field.Text("state", &w.State).Among(WebhookStates...).ReadOnly().Worded("inbox_is_"),
		field.NullUUID("order", &w.Order).ReadOnly(),
		field.Int("attempts", &attempts).ReadOnly().Headed("tries").Labelled("entry_attempts"),
		field.Text("error", &w.Error).ReadOnly().Fault(),
		field.Time("received_at", &w.ReceivedAt).ReadOnly().Headed("received").Labelled("entry_came"),
	}
}

// A WebhookPick selects webhooks. The zero value of a field sets no condition.
type WebhookPick struct {
	IDs      []int64
	Provider string
	State    string
	Type     string
	EventID  string
	Order    uuid.UUID
	From, To time.Time // of the receipt; To is not included
	Limit    int       // of a list; 0: 100
}

// An OrderDetail holds the runs of an order with their attempts and effects, its
// webhooks, and the events of the order and its runs.
type OrderDetail struct {
	User     int64 // the customer's account; 0: there is none yet
	Runs     []Run
	Webhooks []Webhook
	Events   []RecordedEvent
}

// A Setting is one of the program's settings as the process runs with it.
type Setting struct {
	Name     string // of its environment variable
	About    string // what it is for
	Value    string // "": none, or a secret
	IsSecret bool
	IsSet    bool // it was given; otherwise the value is the default
}

// What became of a mail.
const (
	MailSent    = "sent"     // a mail server has accepted it
	MailWaits   = "waiting"  // it is still to be sent
	MailFailed  = "failed"   // it was certainly not sent
	MailGivenUp = "given_up" // it will not be sent any more
)

// A SentMail is a mail to the customer of an order, without the secrets of its links.
type SentMail struct {
	Template  string // such as "first_order"
	MessageID string
	To        string
	Subject   string
	Text      string
	State     string
	At        time.Time // of the last change of its state
}

// Fields are the mail.
func (m *SentMail) Fields() field.Set {
	return field.Set{
		field.Text("template", &m.Template).ReadOnly(),
		field.Text("state", &m.State).Among(MailSent, MailWaits, MailFailed, MailGivenUp).ReadOnly(),
		field.Time("at", &m.At).ReadOnly().Doc("Of the last change of its state."),
		field.Text("message_id", &m.MessageID).ReadOnly(),
		field.Text("to", &m.To).ReadOnly(),
		field.Text("subject", &m.Subject).ReadOnly(),
		field.Text("text", &m.Text).ReadOnly(),
	}
}

// A RecordedEvent is an event in the log, with its metadata for operators.
type RecordedEvent struct {
	Position   int64
	Stream     domain.Stream
	RecordedAt time.Time
	Name       string // "order.placed"
	Actor      string
	Event      domain.Event
}

// Data is the event as the log has it; nil: it cannot be written.
func (e RecordedEvent) Data() json.RawMessage {
	data, err := json.Marshal(e.Event)
	if err != nil {
		return nil
	}
	return data
}

// A StepFact is what the events about a step of a run have in common.
type StepFact struct {
	Step  int    `json:"step"` // index in the run's list
	Name  string `json:"name"`
	Found bool   `json:"found"` // by look-up, instead of being made
}

// StepFact is what the event records of a step; zero: nothing.
func (e RecordedEvent) StepFact() (f StepFact) {
	_ = json.Unmarshal(e.Data(), &f) // an event that is written can be read
	return f
}

// A Finding is an order whose payment and service disagree.
type Finding struct {
	Order       uuid.UUID
	OrderNumber string
	Status      string
	Since       time.Time
	Action      string // what repairs it, by its name in the API: "retry", "refund"
}

// A Reconciliation holds all findings at a time (rule J-4).
type Reconciliation struct {
	At                  time.Time
	PaidNotProvisioned  []Finding
	ProvisionedNotPaid  []Finding
	CapturedAfterCancel []Finding
	RefundedStillLive   []Finding
	RefundsOpen         []Finding
}

// A Category is one type of findings, with its name in the API.
type Category struct {
	Name     string
	Findings []Finding
}

// Categories returns the findings by type, in the order of the API.
func (r *Reconciliation) Categories() []Category {
	return []Category{
		{"paid_not_provisioned", r.PaidNotProvisioned},
		{"provisioned_not_paid", r.ProvisionedNotPaid},
		{"captured_after_cancel", r.CapturedAfterCancel},
		{"refunded_still_live", r.RefundedStillLive},
		{"refunds_open", r.RefundsOpen},
	}
}
