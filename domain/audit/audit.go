// Package audit describes what a look back at the log shows: events with their
// actors and causes, the states that they led to, and what followed from them
// (docs/audit.md).
package audit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
)

// An Event is an event of the log as it is shown. What the reader may not know is
// blank: of another tenant's streams there are no ids.
type Event struct {
	Position    int64
	Stream      string
	Version     int
	Type        string
	Tenant      int64 // 0: it belongs to none
	Actor       Actor
	Correlation uuid.UUID
	Cause       string // "event:site-12/3", "request:…"; blank: not shown
	Request     string // X-Request-ID
	RecordedAt  time.Time
	Text        string          // what happened, in English words
	Data        json.RawMessage // without secrets
	Erased      []string        // JSON pointers of texts in Data that were erased
	PrevHash    []byte          // of the event before it in the stream; nil: the first one, or not shown
	Hash        []byte
}

// An Actor is who did something.
type Actor struct {
	Type  string // user, api_key, system, provider, operator
	ID    string
	Label string // a name; blank: none, erased, or not for this reader
}

// ActorNamed reads an actor's stored text: "user:12".
func ActorNamed(stored string) Actor {
	kind, id, _ := strings.Cut(stored, ":")
	return Actor{Type: kind, ID: id}
}

// Events are a part of a stream or of the log.
type Events struct {
	Count  int64 // of the whole
	Events []Event
}

// A Filter selects events. What is zero does not count.
type Filter struct {
	Type, Stream string
	Tenant       int64
	Actor        string // "user:12"
	Correlation  uuid.UUID
	From, To     time.Time // when they were recorded, both inclusive
	Before       int64     // only events before this position
	Limit        int
}

// Found are the events that a filter lets through, the newest first.
type Found struct {
	Until  int64 // the position up to which events are found
	Next   int64 // the next page begins before it; 0: there is none
	Events []Event
}

// A Root is where a chain of causes begins.
type Root struct {
	Kind string // request, webhook, deadline, operator
	ID   string // blank: not for this reader
}

// A Why is what led to an event, and what came of it.
type Why struct {
	Root    Root
	Chain   []Event // the event, what led to it, and so on; of foreign ones only the time
	Effects []Event // what followed, in the order of the log
	IsCut   bool    // more followed: Effects are the first ones, and Calls those of their runs
	Calls   []Call  // to systems outside, of the runs among the effects
	Until   int64   // the position up to which effects are known
}

// A Call is one to a system outside, as the ledger of effects has it.
type Call struct {
	Run        uuid.UUID
	Key        string // "o/<order>/site"
	Step       string
	State      string // intended, unknown, absent, confirmed, deferred, skipped, undoing, undone
	ExternalID string
	UpdatedAt  time.Time
}

// A Verdict is what the check of the log in the background has found.
type Verdict struct {
	Broken       int64 // position of the first event that is not as it was written; 0: none
	Checked      int64 // events; of a tenant its own
	HeadPosition int64 // 0: not for this reader
	HeadHash     []byte
	VerifiedAt   *time.Time // when the check came to the end of the log; nil: never yet
}

// A Moment is a version of a stream or a time; neither is the present.
type Moment struct {
	Version int
	Time    time.Time
}

// A State is a record as of a moment.
type State struct {
	Stream     string
	Version    int
	AsOf       time.Time // the moment that was asked for; of a version: when it was recorded
	RecordedAt time.Time // of the last event in it
	Record     json.RawMessage
	Erased     []string // fields whose texts were erased
}

// A Change is a field that differs between two moments, and the event that has
// changed it last. From or To is null where the record has no such field.
type Change struct {
	Field      string // "status", "payments.pay_1.status"
	From, To   json.RawMessage
	Position   int64
	Version    int
	Actor      Actor
	RecordedAt time.Time
}

// A Seal tells by which checkpoint an event is proven.
type Seal struct {
	Size         int64 // events below the checkpoint; 0: the event is not sealed yet
	At           time.Time
	HasWitnesses bool // checkpoints of the log are to be cosigned
	IsWitnessed  bool // a quorum of witnesses has cosigned this one
}
