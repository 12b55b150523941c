package eventstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/tlog"
)

// A link is the end of a stream's chain.
type link struct {
	version int32
	hash    [32]byte
}

// A chainEvent is held against the end of its stream before it.
type chainEvent struct {
	*row
	before link
	fits   bool      // the hash is the one of the event and the link
	leaf   tlog.Hash // of the event in the tree
}

// links are the ends of the streams that were read last. They are bounded: the end of
// another stream is read from the log again. There are two generations: a full one
// becomes the older one, which is dropped.
type links struct {
	most       int // in one generation
	young, old map[string]link
}

const mostLinks = 1 << 15

// chain adds the events of a page to their streams. What is stored counts, so that one
// broken event is one finding.
func (l *links) chain(ctx context.Context, r *Reader, rows []row) ([]chainEvent, error) {
	events := make([]chainEvent, len(rows))
	missing := map[int64]*chainEvent{}
	for i := range rows {
		e := &events[i]
		var known bool
		if e.row = &rows[i]; e.version > 1 {
			if e.before, known = l.of(e.stream); !known {
				missing[e.position] = e
			}
		}
		l.note(e.stream, link{e.version, hashOf(e.hash)})
	}
	return events, r.endsBefore(ctx, missing)
}

func (l *links) of(stream string) (end link, known bool) {
	if end, known = l.young[stream]; !known {
		end, known = l.old[stream]
	}
	return end, known
}

func (l *links) note(stream string, end link) {
	if l.young == nil || len(l.young) == l.most {
		l.young, l.old = make(map[string]link, l.most), l.young
	}
	l.young[stream] = end
}

// hashOf is a stored hash. One of another length is cut or filled, and fits nothing.
func hashOf(stored []byte) (hash [32]byte) {
	copy(hash[:], stored)
	return hash
}

// endsBefore reads the events before others in their streams, as far as they stand
// before them in the log.
func (r *Reader) endsBefore(ctx context.Context, events map[int64]*chainEvent) error {
	if len(events) == 0 {
		return nil
	}
	positions := make([]int64, 0, len(events))
	for position := range events {
		positions = append(positions, position)
	}
	rows, _ := r.pool.Query(ctx, `
		with e as materialized (select position, stream, version - 1 as before from events where position = any($1))
		select e.position, b.version, b.hash from e join events b on b.stream = e.stream and b.version = e.before
			and b.position < e.position`, positions)
	var position int64
	var version int32
	var hash []byte
	_, err := pgx.ForEachRow(rows, []any{&position, &version, &hash}, func() error {
		events[position].before = link{version, hashOf(hash)}
		return nil
	})
	return Unavailable(err)
}

// hashAnew computes the hashes of events and of their leaves.
func hashAnew(_ context.Context, events []chainEvent) ([]chainEvent, error) {
	var bytes parts
	for i := range events {
		e := &events[i]
		e.fits = e.follows(e.before.hash[:], &bytes)
		leaf, _ := tlog.LeafOf(e.recordedAt, e.hash)
		e.leaf = leaf.Hash()
	}
	return events, nil
}
