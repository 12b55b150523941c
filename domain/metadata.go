package domain

import "github.com/google/uuid"

// A Metadata says who asked for a change, what led to it and what it belongs
// to. It stands with every event that came of it. The ID is never derived from
// the cause: what two causes ask for is one command.
type Metadata struct {
	ID               uuid.UUID       // of the command; a repeat carries the same one and answers as the first did
	Actor            string          // "user:12", "api_key:ab12CD34", "system:provision", "provider:<name>", "operator:1"
	Cause            Cause           // what led to the command; zero: the context's [Origin] tells
	Correlation      uuid.UUID       // what belongs together; zero: as the context's [Origin] tells, or else the ID
	Saga             string          // key of the run on whose behalf, such as "provision:6f1c…"
	Request          string          // X-Request-ID
	Traceparent      string          // of the request, as W3C Trace Context has it; kept with the first event
	ExpectedVersions Versions        // what the caller has looked at before; nil: nothing that matters
	IdempotencyKey   *IdempotencyKey // stands or falls with the events; nil: the request has none
}

// Versions tells which version of some streams a caller has seen. If one of
// them has gone on since, the request is refused with [Stale].
type Versions map[Stream]int

// An IdempotencyKey is the client's promise that two requests with it are the same
// request (header Idempotency-Key).
type IdempotencyKey struct {
	Principal    string // user or API key
	Tenant       int64  // in whose name it is done; 0: none
	Method       string
	Path         string
	Key          string
	Fingerprints [][]byte // of the request, under each secret key, the newest first; another request under the same key is refused
	Status       int      // of the answer
	Location     string   // of the record that the answer shows
	Keep         Keep
}

// Keep says how long a [IdempotencyKey] is remembered.
type Keep string

const (
	KeepDay  Keep = "24 hours" // everything else
	KeepWeek Keep = "7 days"   // creation of orders
)

// A Receipt tells where in the log the events of a request stand.
type Receipt struct {
	Position int64          // of the last event; 0: nothing was to be done
	Versions map[Stream]int // of the streams that the request was decided on, after it
}
