package eventstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/sealing"
)

// OnlyOf is a reader that opens the texts of these subjects alone, and looks at each
// key anew. Texts of others are blank to it, as if they had been erased.
func (r *Reader) OnlyOf(subjects ...uuid.UUID) *Reader {
	own := r.Afresh()
	own.only = map[uuid.UUID]bool{}
	for _, subject := range subjects {
		own.only[subject] = true
	}
	return own
}

// withhold takes the keys of subjects whose texts the reader does not open.
func (r *Reader) withhold(keys map[subjectKey][]byte) {
	for k := range keys {
		if r.only != nil && !r.only[k.subject] {
			keys[k] = nil
		}
	}
}

// About returns all events about people, in the order of the log: those of the named
// streams, those of streams that hold a text of one of the subjects, and what the actors
// did. It reads the whole log; of each event only texts of the subjects are opened.
func (r *Reader) About(
	ctx context.Context, actors []string, streams []domain.Stream, subjects ...uuid.UUID,
) (all []RecordedEvent, err error) {
	names, held := make([]string, len(streams)), make([]string, len(subjects))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	for i, subject := range subjects {
		held[i] = "%" + sealing.Of(subject) + "%"
	}
	rows, err := r.pool.Query(ctx, `select position from events where stream = any($1) or actor = any($2)
		or stream in (select stream from events where data::text like any($3)) order by position`, names, actors, held)
	if err != nil {
		return nil, fmt.Errorf("look for events about subjects: %w", Unavailable(err))
	}
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("look for events about subjects: %w", Unavailable(err))
	}
	own := r.OnlyOf(subjects...)
	for part := range slices.Chunk(positions, page) {
		events, err := own.read(ctx, `select `+columns+` from events where position = any($1) order by position`, part)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

// A Selection is a part of the log. What is zero does not count.
type Selection struct {
	Stream   domain.Stream
	Tenant   int64
	From, To time.Time // when events were recorded, both inclusive
}

// Selected returns up to limit events of a part of the log behind a position, in the
// order of the log.
func (r *Reader) Selected(ctx context.Context, s Selection, after int64, limit int) ([]RecordedEvent, error) {
	stream := ""
	if s.Stream != (domain.Stream{}) {
		stream = s.Stream.String()
	}
	return r.read(ctx, `
		select `+columns+` from events where position > $1 and ($2 = '' or stream = $2) and ($3 = 0 or tenant = $3)
			and ($4::timestamptz is null or recorded_at >= $4) and ($5::timestamptz is null or recorded_at <= $5)
			order by position limit $6`,
		after, stream, s.Tenant, domain.OrNull(s.From), domain.OrNull(s.To), limit)
}
