package eventstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// A Recorded event stands in the log. Position and RecordedAt are zero as long
// as it is only about to be added.
type Recorded struct {
	Position   int64
	Stream     domain.Stream
	Version    int
	ID         uuid.UUID
	Tenant     int64        // 0: belongs to no tenant
	Cause      domain.Cause // without its ID and key, which are not kept
	RecordedAt time.Time
	Hash       []byte // see docs/log.md, "Tamper evidence"
	Name       string
	Event      domain.Event
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
	causation   *uuid.UUID
	saga        string
	data, meta  []byte
	recordedAt  time.Time
	hash        []byte
}

const columns = `position, stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, recorded_at, hash`

func scanRow(r pgx.CollectableRow) (e row, err error) {
	err = r.Scan(&e.position, &e.stream, &e.version, &e.id, &e.name, &e.schema, &e.tenant, &e.actor, &e.correlation,
		&e.causation, &e.saga, &e.data, &e.meta, &e.recordedAt, &e.hash)
	return e, err
}

// chain is the event's hash: SHA-256 over the hash before it in its stream and
// every column but those that only the writers' lock gives. Lengths stand
// before texts, so that no two rows hash the same bytes.
func (e *row) chain(before []byte) []byte {
	h := sha256.New()
	h.Write(before)
	hashText(h, e.stream)
	hashNumber(h, uint64(e.version))
	h.Write(e.id[:])
	hashText(h, e.name)
	hashNumber(h, uint64(e.schema))
	hashNumber(h, uint64(value(e.tenant)))
	hashText(h, e.actor)
	h.Write(e.correlation[:])
	causation := value(e.causation)
	h.Write(causation[:])
	hashText(h, e.saga)
	hashText(h, string(e.data))
	hashText(h, string(e.meta))
	return h.Sum(nil)
}

func hashText(h hash.Hash, s string) { hashNumber(h, uint64(len(s))); h.Write([]byte(s)) }
func hashNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

// meta is what is kept beside the columns of their own.
type meta struct {
	Request string `json:"request,omitempty"`
}

// recorded reads a row of the log in today's shape. Personal texts are still
// sealed.
func (s *Store) recorded(e row) (Recorded, error) {
	event, err := s.catalogue.Decode(e.name, int(e.schema), e.data)
	if err != nil {
		return Recorded{}, fmt.Errorf("event %d: %w", e.position, err)
	}
	var m meta
	if len(e.meta) > len(`{}`) {
		if err := json.Unmarshal(e.meta, &m); err != nil {
			return Recorded{}, fmt.Errorf("meta of event %d: %w", e.position, err)
		}
	}
	return Recorded{
		Position: e.position, Stream: parseStream(e.stream), Version: int(e.version), ID: e.id, Tenant: value(e.tenant),
		Cause: domain.Cause{
			Actor: e.actor, Correlation: e.correlation, Causation: value(e.causation), Saga: e.saga, Request: m.Request,
		},
		RecordedAt: e.recordedAt.UTC(), Hash: e.hash, Name: e.name, Event: event,
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
