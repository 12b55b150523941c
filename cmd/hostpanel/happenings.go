package main

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/route"
	"hostpanel/sagas"
)

// happenings let the API follow what happens to notifications, orders and
// their runs.
type happenings struct{ *eventstore.Feed }

func happeningsOf(s *eventstore.Store) happenings {
	return happenings{eventstore.NewFeed(s, notice.Heard, notice.EventTypes, order.EventTypes, sagas.EventTypes)}
}

// Listen tells everything about the topics behind a position, and then what
// happens.
func (h happenings) Listen(ctx context.Context, after int64, topics ...domain.Stream) (route.LiveEvents, error) {
	l, err := h.Feed.Listen(ctx, after, topics...)
	if err != nil {
		return nil, err
	}
	return l, nil
}
