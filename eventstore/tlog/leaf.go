// Package tlog has the formats of the transparency log of all events: leaves, tiles,
// checkpoints, cosignatures, policies and proofs, as C2SP describes them
// (docs/log.md, "Transparency log"). The arithmetic of the tree is that of
// golang.org/x/mod/sumdb/tlog. The package needs no database.
package tlog

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A Hash is a hash of the tree: of a leaf, of a node, or the root.
type Hash = tlog.Hash

// LeafSize is the length of a leaf in bytes.
const LeafSize = 8 + sha256.Size

// A Leaf is what the tree holds of an event: the microseconds since 1970 (UTC) of its
// time as eight bytes, the highest one first, and then the hash of the event. The
// event at position p is the leaf with the index p-1.
type Leaf [LeafSize]byte

// LeafOf is the leaf of an event. False: the hash does not have 32 bytes.
func LeafOf(recordedAt time.Time, hash []byte) (l Leaf, ok bool) {
	binary.BigEndian.PutUint64(l[:], uint64(recordedAt.UnixMicro())) //nolint:gosec // the sign is kept as a bit
	return l, copy(l[8:], hash) == sha256.Size && len(hash) == sha256.Size
}

// Hash is the hash of the leaf in the tree (RFC 6962).
func (l Leaf) Hash() Hash { return tlog.RecordHash(l[:]) }

// RecordedAt is the time of the event.
func (l Leaf) RecordedAt() time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(l[:]))).UTC() //nolint:gosec // the sign is kept as a bit
}

// AppendEntry adds the leaf to an entry bundle: its length in two bytes, then its
// bytes.
func (l Leaf) AppendEntry(bundle []byte) []byte {
	return append(binary.BigEndian.AppendUint16(bundle, LeafSize), l[:]...)
}
