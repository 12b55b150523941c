package program

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/route"
	"hostpanel/sagas"
)

// liveEvents let the API follow what happens to notifications, orders and
// their runs.
type liveEvents struct{ feed *eventstore.Feed }

func liveEventsOf(s *eventstore.Store) liveEvents {
	return liveEvents{eventstore.NewFeed(s, notice.Heard, notice.EventTypes, order.EventTypes, sagas.EventTypes)}
}

// Listen tells everything about the topics behind a position, and then what
// happens.
func (h liveEvents) Listen(ctx context.Context, after int64, topics ...domain.Stream) (route.LiveEvents, error) {
	l, err := h.feed.Listen(ctx, after, topics...)
	if err != nil {
		return nil, err
	}
	return l, nil
}
