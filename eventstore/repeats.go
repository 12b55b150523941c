package eventstore

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// A mark is a part of an event's id. With the marks of all its events a stream need not
// be read to find whether it has an event of a request: without the mark it has none,
// and the place of the mark is the version of the event to compare with.
type mark uint32

const markSize = 4

// markOf takes the last bytes, which are random in ids that are hashes.
func markOf(id uuid.UUID) mark { return mark(binary.BigEndian.Uint32(id[len(id)-markSize:])) }

func readMarks(stored []byte) []mark {
	marks := make([]mark, len(stored)/markSize)
	for i := range marks {
		marks[i] = mark(binary.BigEndian.Uint32(stored[i*markSize:]))
	}
	return marks
}

func storedMarks(marks []mark) []byte {
	stored := make([]byte, 0, len(marks)*markSize)
	for _, m := range marks {
		stored = binary.BigEndian.AppendUint32(stored, uint32(m))
	}
	return stored
}

// eventID is the id of the n-th event that a request adds to a stream. It is
// deterministic, so that a repeated request is recognised.
func eventID(cause uuid.UUID, stream domain.Stream, n int) uuid.UUID {
	return uuid.NewSHA1(cause, binary.BigEndian.AppendUint32([]byte(stream.String()), uint32(n)))
}

// repeats tells whether an earlier attempt of the same request has added events to the
// stream, and the position of the last of them. Of a cached stream it tells whether that
// may be so: the decision is then made again from the log.
func (r *stateReader) repeats(ctx context.Context, b *streamState, cause uuid.UUID) (position int64, repeated bool, err error) {
	wanted, first := markOf(eventID(cause, b.stream, 1)), b.before.version-len(b.before.ids)+1
	for i, m := range b.before.ids {
		if m != wanted {
			continue
		}
		if b.recalled {
			return 0, true, nil
		}
		if position, err = r.lastOf(ctx, b.stream, first+i, cause); err != nil || position > 0 {
			return position, position > 0, err
		}
	}
	return 0, false, nil
}

// requestPage is the number of events in which the end of a request is looked for.
const requestPage = 100

// lastOf returns the position of the last event that a request added to a stream from a
// version on; zero: the event there is of another request.
func (r *stateReader) lastOf(ctx context.Context, stream domain.Stream, version int, cause uuid.UUID) (position int64, err error) {
	for n := 1; ; {
		rows, _ := r.pool.Query(ctx, `select position, id from events where stream = $1 and version >= $2 order by version limit $3`,
			stream.String(), version+n-1, requestPage)
		type found struct {
			Position int64
			ID       uuid.UUID
		}
		events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
		if err != nil {
			return 0, fmt.Errorf("look for the events of a request: %w", Unavailable(err))
		}
		for _, e := range events {
			if e.ID != eventID(cause, stream, n) {
				return position, nil
			}
			position, n = e.Position, n+1
		}
		if len(events) < requestPage {
			return position, nil
		}
	}
}
