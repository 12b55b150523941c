package route

import (
	"context"

	"hostpanel/domain"
)

// A LiveFeed tells of events as they are recorded (docs/log.md, "Listening").
type LiveFeed interface {
	// Listen tells all events of the topics after a position, and then those
	// that follow. The position may be [FromNow]. A position ahead of the log
	// is refused with domain.Invalid.
	Listen(ctx context.Context, after int64, topics ...domain.Stream) (LiveEvents, error)
}

// LiveEvents are the events of some topics of a [LiveFeed].
type LiveEvents interface {
	// Ready receives a value when there are events to take.
	Ready() <-chan struct{}
	// Take returns the events since the last call, and the position up to
	// which they are complete.
	Take(context.Context) ([]domain.LiveEvent, int64, error)
	// Lost reports that the position was too far back to tell all events.
	Lost() bool
	Close()
}
