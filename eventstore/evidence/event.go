package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Columns are what the bytes of an event say (docs/log.md, "A row").
type Columns struct {
	Previous    [sha256.Size]byte // hash of the event before it in the stream; zero: it is the first one
	Stream      string
	Version     int
	ID          uuid.UUID
	Name        string
	Schema      int
	Tenant      int64 // 0: none
	Actor       string
	Correlation uuid.UUID
	Causation   string
	Saga        string
	Data, Meta  []byte // JSON
}

// ErrBytes means that bytes are not those of an event.
var ErrBytes = errors.New("not the bytes of an event")

// HashLabel names the way in which events are hashed. It is the first part of what is
// hashed (docs/log.md, "Tamper evidence").
const HashLabel = "hostpanel event v1"

// PlaceKind is the kind of place of texts that stand in an event.
const PlaceKind = "event"

// Parse reads the bytes of an event.
func Parse(b []byte) (c Columns, err error) {
	p := parts{left: b}
	if label := p.next(-1); string(label) != HashLabel {
		return c, fmt.Errorf("%w: the label is %.40q", ErrBytes, label)
	}
	copy(c.Previous[:], p.next(sha256.Size))
	c.Stream = string(p.next(-1))
	c.Version = int(p.number(4)) //nolint:gosec // four bytes
	copy(c.ID[:], p.next(16))
	c.Name = string(p.next(-1))
	c.Schema = int(p.number(2))   //nolint:gosec // two bytes
	c.Tenant = int64(p.number(8)) //nolint:gosec // as it was written
	c.Actor = string(p.next(-1))
	copy(c.Correlation[:], p.next(16))
	c.Causation = string(p.next(-1))
	c.Saga = string(p.next(-1))
	c.Data, c.Meta = p.next(-1), p.next(-1)
	if p.wrong || len(p.left) > 0 {
		return c, ErrBytes
	}
	return c, nil
}

// parts reads values, each after its length in four bytes.
type parts struct {
	left  []byte
	wrong bool
}

const null = 1<<32 - 1

// next is the next value; nil: it is NULL. Any length is allowed if it is below zero.
func (p *parts) next(length int64) []byte {
	if len(p.left) < 4 {
		p.wrong = true
		return nil
	}
	n := int64(binary.BigEndian.Uint32(p.left))
	p.left = p.left[4:]
	if n == null {
		return nil
	}
	if n > int64(len(p.left)) || length >= 0 && n != length {
		p.wrong = true
		return nil
	}
	value := p.left[:n]
	p.left = p.left[n:]
	return value
}

// number reads a whole number of so many bytes; NULL is 0.
func (p *parts) number(bytes int64) (n uint64) {
	for _, b := range p.next(bytes) {
		n = n<<8 | uint64(b)
	}
	return n
}
