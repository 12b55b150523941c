package eventstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/masking"
)

// A RecordedEvent is an event of the log. Position and RecordedAt are zero as long
// as it is only about to be added.
type RecordedEvent struct {
	Position   int64
	Stream     domain.Stream
	Version    int
	ID         uuid.UUID
	Tenant     int64           // 0: belongs to no tenant
	Metadata   domain.Metadata // without its ID and key, which are not kept
	RecordedAt time.Time
	Hash       []byte // see docs/log.md, "Tamper evidence"
	Name       string
	Event      domain.Event
	Subjects   []uuid.UUID // the people whose data the stored event holds, sealed
	Erased     []string    // JSON pointers of the sealed texts that are blank because their keys were destroyed
}

// Cause is the event as the cause of what follows from it.
func (r RecordedEvent) Cause() domain.Cause { return domain.EventCause(r.Stream, r.Version) }

// Masked tells what happened, in words, and the event as JSON; both without secrets.
func (r RecordedEvent) Masked() (text string, data json.RawMessage, err error) {
	data, err = json.Marshal(r.Event)
	if err != nil {
		return "", nil, fmt.Errorf("show event %d: %w", r.Position, err)
	}
	return masking.Mask(r.Event.Says()), masking.JSON(data), nil
}

// Follow returns a context of work that follows from the event.
func (r RecordedEvent) Follow(ctx context.Context) context.Context {
	return domain.Origin{Cause: r.Cause(), Correlation: r.Metadata.Correlation}.With(ctx)
}

// meta is what is kept beside the columns of their own: what the client says
// of its request.
type meta struct {
	Request     string `json:"request,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`
}

// metaOf is the meta of an event. An id of a request that the panel has given
// itself stands in the cause already.
func metaOf(m domain.Metadata) meta {
	if m.Cause.Kind() == domain.CausedByRequest && m.Cause.Of() == m.Request {
		m.Request = ""
	}
	return meta{m.Request, m.Traceparent}
}

// recorded decodes a row of the log in today's shape.
func (r *Reader) recorded(e *row) (RecordedEvent, error) {
	if r.wanted != nil && !r.wanted(e.name) {
		return e.envelope()
	}
	event, err := r.catalogue.Decode(e.name, int(e.schema), e.data)
	if err != nil {
		return RecordedEvent{}, fmt.Errorf("event %d: %w", e.position, err)
	}
	recorded, err := e.envelope()
	recorded.Event = event
	return recorded, err
}

// envelope decodes a row without its event.
func (e *row) envelope() (RecordedEvent, error) {
	var m meta
	if len(e.meta) > len(`{}`) {
		if err := json.Unmarshal(e.meta, &m); err != nil {
			return RecordedEvent{}, fmt.Errorf("meta of event %d: %w", e.position, err)
		}
	}
	cause, err := parseCause(e.causation)
	if err != nil {
		return RecordedEvent{}, fmt.Errorf("event %d: %w", e.position, err)
	}
	if m.Request == "" && cause.Kind() == domain.CausedByRequest {
		m.Request = cause.Of()
	}
	return RecordedEvent{
		Position: e.position, Stream: domain.StreamNamed(e.stream), Version: int(e.version), ID: e.id, Tenant: value(e.tenant),
		Metadata: domain.Metadata{
			Actor: e.actor, Correlation: e.correlation, Cause: cause, Saga: e.saga, Request: m.Request, Traceparent: m.Traceparent,
		},
		RecordedAt: e.recordedAt.UTC(), Hash: e.hash, Name: e.name, Subjects: e.subjects, Erased: e.erased,
	}, nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func parseCause(text *string) (domain.Cause, error) {
	if text == nil {
		return domain.Cause{}, nil
	}
	return domain.ParseCause(*text)
}
