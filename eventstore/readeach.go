package eventstore

import (
	"context"

	"hostpanel/domain"
)

// ReadEach returns the histories of several streams in one statement, and lets the next
// commands on them begin with these. A new stream is empty.
func (s *Store) ReadEach(ctx context.Context, streams ...domain.Stream) ([][]RecordedEvent, error) {
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	events, err := s.read(ctx, `select `+columns+` from events where stream = any($1) order by stream, version`, names)
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
		s.note(stream, histories[i])
	}
	return histories, nil
}
