package eventstore

import (
	"context"
	"fmt"

	"hostpanel/domain"
)

// Chain returns an event and what led to it, back to the event whose cause is a
// root (docs/log.md, "Causes").
func (r *Reader) Chain(ctx context.Context, e RecordedEvent) ([]RecordedEvent, error) {
	chain := []RecordedEvent{e}
	for e.Metadata.Cause.Kind() == domain.CausedByEvent {
		stream, version, _ := e.Metadata.Cause.Event()
		found, err := r.At(ctx, stream, version)
		if err != nil {
			return nil, err
		}
		if found.Position == 0 || found.Position >= e.Position {
			return nil, fmt.Errorf(
				"event %d says that it follows from %s/%d, which is not before it in the log", e.Position, stream,
				version,
			)
		}
		e = found
		chain = append(chain, e)
	}
	return chain, nil
}

// At is the event at a version of a stream. Position 0: there is none.
func (r *Reader) At(ctx context.Context, stream domain.Stream, version int) (RecordedEvent, error) {
	found, err := r.read(ctx, `select `+columns+` from events where stream = $1 and version = $2`, stream.String(), version)
	if err != nil || len(found) == 0 {
		return RecordedEvent{}, err
	}
	return found[0], nil
}
