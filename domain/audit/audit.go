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
