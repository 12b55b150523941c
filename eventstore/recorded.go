package eventstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// A RecordedEvent event stands in the log. Position and RecordedAt are zero as long
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
}

// row is an event as its table keeps it.
type row struct {
	position    int64
	stream      string
	version     int32
	id          uuid.UUID
	name        string
	schema      int16
	tenant      *int64
	actor       string
	correlation uuid.UUID
	causation   *string
	saga        string
	data, meta  []byte
	recordedAt  time.Time
	hash        []byte

	subjects []uuid.UUID // of the sealed texts in data
}

const columns = `position, stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, recorded_at, hash`

func scanRow(r pgx.CollectableRow) (e row, err error) {
	err = r.Scan(&e.position, &e.stream, &e.version, &e.id, &e.name, &e.schema, &e.tenant, &e.actor, &e.correlation,
		&e.causation, &e.saga, &e.data, &e.meta, &e.recordedAt, &e.hash)
	return e, err
}

// meta is what is kept beside the columns of their own.
type meta struct {
	Request string `json:"request,omitempty"`
}

// recorded decodes a row of the log in today's shape.
func (r *Reader) recorded(e row) (RecordedEvent, error) {
	event, err := r.catalogue.Decode(e.name, int(e.schema), e.data)
	if err != nil {
		return RecordedEvent{}, fmt.Errorf("event %d: %w", e.position, err)
	}
	var m meta
	if len(e.meta) > len(`{}`) {
		if err := json.Unmarshal(e.meta, &m); err != nil {
			return RecordedEvent{}, fmt.Errorf("meta of event %d: %w", e.position, err)
		}
	}
	return RecordedEvent{
		Position: e.position, Stream: parseStream(e.stream), Version: int(e.version), ID: e.id, Tenant: value(e.tenant),
		Metadata: domain.Metadata{
			Actor: e.actor, Correlation: e.correlation, Causation: parseCause(e.causation), Saga: e.saga, Request: m.Request,
		},
		RecordedAt: e.recordedAt.UTC(), Hash: e.hash, Name: e.name, Event: event, Subjects: e.subjects,
	}, nil
}

func parseStream(name string) domain.Stream {
	category, id, _ := strings.Cut(name, "-")
	return domain.Stream{Category: category, ID: id}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// pointer is the opposite of value: the zero value is absent.
func pointer[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func formatCause(id uuid.UUID) *string {
	if id == uuid.Nil {
		return nil
	}
	return pointer(id.String())
}

func parseCause(text *string) uuid.UUID {
	id, _ := uuid.Parse(value(text))
	return id
}
