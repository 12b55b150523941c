package eventstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"hostpanel/eventstore/evidence"
)

// noHash stands in for the previous hash of a stream's first event.
var noHash [sha256.Size]byte

// chain returns the hash of an event: SHA-256 over [row.hashed].
func (e *row) chain(previous []byte) []byte {
	sum := sha256.Sum256(e.hashed(previous))
	return sum[:]
}

// hashed are the label, the previous hash of the stream, and every column except
// position and recorded_at. Each part has the form of PostgreSQL's binary COPY: a
// length of four bytes, then the value.
func (e *row) hashed(previous []byte) []byte {
	return e.appendHashed(make(parts, 0, 400+len(e.data)+len(e.meta)), previous)
}

// follows tells whether the event has the hash that it gets behind another one of its
// stream. The buffer is used again.
func (e *row) follows(previous []byte, buffer *parts) bool {
	*buffer = e.appendHashed((*buffer)[:0], previous)
	hash := sha256.Sum256(*buffer)
	return bytes.Equal(e.hash, hash[:])
}

func (e *row) appendHashed(b parts, previous []byte) parts {
	if len(previous) == 0 {
		previous = noHash[:]
	}
	b.text(evidence.HashLabel)
	b.bytes(previous)
	b.text(e.stream)
	b.number(4, uint64(e.version))
	b.bytes(e.id[:])
	b.text(e.name)
	b.number(2, uint64(e.schema))
	if e.tenant == nil {
		b.null()
	} else {
		b.number(8, uint64(*e.tenant))
	}
	b.text(e.actor)
	b.bytes(e.correlation[:])
	if e.causation == nil {
		b.null()
	} else {
		b.text(*e.causation)
	}
	b.text(e.saga)
	b.bytes(e.data)
	b.bytes(e.meta)
	return b
}

// parts is a list of values in which no two different lists look the same.
type parts []byte

func (b *parts) length(n uint32) { *b = binary.BigEndian.AppendUint32(*b, n) }
func (b *parts) bytes(v []byte)  { b.length(uint32(len(v))); *b = append(*b, v...) }
func (b *parts) text(v string)   { b.length(uint32(len(v))); *b = append(*b, v...) }
func (b *parts) null()           { b.length(1<<32 - 1) }

// number adds the lowest bytes of a whole number, the highest of them first.
func (b *parts) number(bytes uint32, v uint64) {
	b.length(bytes)
	all := binary.BigEndian.AppendUint64(make([]byte, 0, 8), v)
	*b = append(*b, all[8-bytes:]...)
}
