package eventstore

import (
	"context"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// Read returns a stream's history, oldest event first, and lets the next commands on it
// begin with it. A new stream is empty.
func (s *Store) Read(ctx context.Context, stream domain.Stream) ([]RecordedEvent, error) {
	began := clock.Now()
	history, err := s.reader.Read(ctx, stream)
	if err == nil {
		s.states.noteHistory(stream, history, began)
	}
	return history, err
}

// ReadEach returns the histories of several streams in one statement, and lets the next
// commands on them begin with these. A new stream is empty.
func (s *Store) ReadEach(ctx context.Context, streams ...domain.Stream) ([][]RecordedEvent, error) {
	began, names := clock.Now(), make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	events, err := s.reader.read(ctx, `select `+columns+` from events where stream = any($1) order by stream, version`, names)
	if err != nil {
		return nil, err
	}
	of := make(map[domain.Stream][]RecordedEvent, len(streams))
	for _, r := range events {
		of[r.Stream] = append(of[r.Stream], r)
	}
	histories := make([][]RecordedEvent, len(streams))
	for i, stream := range streams {
		histories[i] = of[stream]
		s.states.noteHistory(stream, histories[i], began)
	}
	return histories, nil
}

// noteHistory caches the state that a history leads to, which the next command may need.
func (r *stateReader) noteHistory(stream domain.Stream, history []RecordedEvent, began time.Time) {
	served, known := r.categories[stream.Category]
	if !known || served.last {
		return
	}
	f := foldedState{state: served.zero, ids: make([]mark, 0, len(history)), asOf: began}
	for i := range history {
		f.apply(served, &history[i])
	}
	r.cache.note(stream, f)
}
