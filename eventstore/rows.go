package eventstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

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
	erased   []string    // pointers of those that cannot be opened any more
}

const columns = `position, stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, recorded_at, hash`

// scanRow reads the columns from what Postgres has sent, without the scanners of the
// driver: numbers, ids and times are binary, texts and JSON are as they are stored.
// What the row keeps is copied at once: the texts together, and the bytes together.
func scanRow(r pgx.CollectableRow) (e row, err error) {
	sent := r.RawValues()
	if form := r.FieldDescriptions()[0].Format; form != pgx.BinaryFormatCode {
		return e, fmt.Errorf("the log came in form %d", form)
	}
	e.position, e.version, e.schema = int64(number(sent[0])), int32(number(sent[2])),
		int16(number(sent[5])) //nolint:gosec // they have these sizes
	e.recordedAt = time.UnixMicro(postgresEpoch + int64(number(sent[13]))) //nolint:gosec // the sign is kept as a bit
	copy(e.id[:], sent[3])
	copy(e.correlation[:], sent[8])
	if sent[6] != nil {
		tenant := int64(number(sent[6])) //nolint:gosec // it has this size
		e.tenant = &tenant
	}
	texts := together(sent[1], sent[4], sent[7], sent[9], sent[10])
	e.stream, texts = cut(texts, sent[1])
	e.name, texts = cut(texts, sent[4])
	e.actor, texts = cut(texts, sent[7])
	if sent[9] != nil {
		var causation string
		causation, texts = cut(texts, sent[9])
		e.causation = &causation
	}
	e.saga = texts
	bytes := make([]byte, 0, len(sent[11])+len(sent[12])+len(sent[14]))
	bytes = append(append(append(bytes, sent[11]...), sent[12]...), sent[14]...)
	data, meta := len(sent[11]), len(sent[11])+len(sent[12])
	e.data, e.meta, e.hash = bytes[:data:data], bytes[data:meta:meta], bytes[meta:]
	return e, nil
}

// postgresEpoch is 2000-01-01, where the binary form of a timestamptz begins, in
// microseconds since 1970.
const postgresEpoch = 946_684_800_000_000

// number is a whole number in its binary form, with its sign.
func number(sent []byte) uint64 {
	switch len(sent) {
	case 2:
		return uint64(int16(binary.BigEndian.Uint16(sent))) //nolint:gosec // the sign is kept
	case 4:
		return uint64(int32(binary.BigEndian.Uint32(sent))) //nolint:gosec // the sign is kept
	case 8:
		return binary.BigEndian.Uint64(sent)
	}
	return 0
}

// together is one text of several, in one allocation.
func together(parts ...[]byte) string {
	joined := make([]byte, 0, 512)
	for _, part := range parts {
		joined = append(joined, part...)
	}
	return string(joined)
}

func cut(texts string, part []byte) (first, rest string) { return texts[:len(part)], texts[len(part):] }

// An outcome is the result of the work on a part.
type outcome[R any] struct {
	result R
	err    error
}

// inOrder passes the parts of a sequence to do, in their order. While the next one is
// read, earlier ones are worked on, as many at a time as there are processors.
func inOrder[P, R any](
	ctx context.Context, read func(context.Context) (part P, more bool, err error),
	work func(context.Context, P) (R, error), do func(R) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := make(chan chan outcome[R], runtime.GOMAXPROCS(0))
	go func() {
		defer close(parts)
		for {
			p, more, err := read(ctx)
			if err == nil && !more {
				return
			}
			part := make(chan outcome[R], 1)
			select {
			case parts <- part:
			case <-ctx.Done():
				return
			}
			if err != nil {
				part <- outcome[R]{err: err}
				return
			}
			go func() {
				result, err := work(ctx, p)
				part <- outcome[R]{result, err}
			}()
		}
	}()
	for part := range parts {
		w := <-part
		if w.err != nil {
			return w.err
		}
		if err := do(w.result); err != nil {
			return err
		}
	}
	return ctx.Err()
}
